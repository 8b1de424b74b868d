"""A summary made of a log's own sentences: what was asked, what came of it, what is still open. No model is needed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from .sentences import FENCE, sentences, split
from .source_text import Part, Source

Count = Callable[[str], int]

# Tokens.
LONGEST_SUMMARY = 100
# A summary is to be smaller than what it stands for: it takes a third of that, but so much in any case.
SHARE, SMALLEST_SUMMARY = 1 / 3, 40
# Characters that people and model said; with less there is nothing to summarise.
SHORT_EFFORT = 50
BRIEF = "Brief effort: {name} (too short to summarize)"
# Words of the opening request that are kept.
TOPIC_WORDS = 24
# Open work may take this share before what was done is chosen.
OPEN_SHARE = 0.6
# Tokens kept for the number of what is open, where nothing of it fits.
ROOM_FOR_NUMBER = 16
# Letters that words of one kind share. A whole stem that recurs is what the log is about; each counts for a sentence.
STEM, RECURS, THEME, GENERIC = 5, 3, 0.6, 2.5
# Sentences compared with each other.
MOST_CANDIDATES = 60
# Sentences this alike say the same, and the later one says it as it is now.
ALIKE = 0.5


def any_of(phrases: str, more: str = "(?!)") -> re.Pattern[str]:
    """One of the comma-separated phrases as whole words, or `more` anywhere."""
    return re.compile(rf"\b(?:{'|'.join(phrase.strip() for phrase in phrases.split(','))})\b|{more}", re.IGNORECASE)


STRONG = any_of(
    """concluded, fixed, solved, resolved, built, works, working now, pass(?:es|ed), done, finished, completed, decided,
    decision, agreed, settled, chose, chosen, picked, booked, paid, ordered, bought, signed, sent, merged, deployed,
    shipped, released,
    go(?:ing)? with, went with, turned out, root cause, confirmed, ran, gelöst, erledigt, entschieden, gebucht, résolu,
    décidé, réservé, resuelto, decidido, reservado""",
    "直りました|決めました|予約しました|完了",
)
WEAK = any_of(
    """because, caus(?:e|es|ed), found, set to, chang(?:e|es|ed), replac(?:e|es|ed), renamed, switched to, moved, added,
    removed, instead of, now, limit, keep, use[sd]?, costs?, takes?, wrote, measured"""
)
AGAINST = any_of(
    """not, never, no luck, isn't, doesn't, didn't, can't, cannot, still (?:fails?|failing|broken|times? out), if,
    maybe, perhaps, could, should we, might"""
)
OPEN = any_of(
    """still (?:open|to do|needs?|missing|to be|have to|has to), open (?:work|point|item|question)s?, to[- ]?do,
    remain(?:s|ing)?, left to do, not yet, next(?: steps?)?:, next (?:we|I|up|comes?), follow[- ]ups?, must still,
    noch offen, reste à, pendiente""",
    "未完|残っている",
)
# What the program does with the log, not what the log is about.
KEEPING = re.compile(r"\b(?:an|the|this) effort\b", re.IGNORECASE)
# What only announces it: the list has a title of its own.
OPEN_TITLE = re.compile(
    r"^(?:still open|open (?:work|points?|items?)|to[- ]?do|next(?: steps?)?|remaining)\s*:\s*", re.IGNORECASE
)
QUESTION = re.compile(r"[?？؟][\"'”’)\]*_\s]*$")
# Numbers, names as programs write them, paths, quoted words.
CONCRETE = re.compile(r"\d+|\b\w+_\w+\b|\b[a-z]+[A-Z]\w+\b|(?:\w*/){2,}\w*|`[^`]+`|\"[^\"]+\"|“[^”]+”")
MARKUP = re.compile(r"^\s*(?:[-*+•]\s+|\d+[.)]\s+|#{1,6}\s+|>\s*)+|\*\*|__")
ENDED = re.compile(r"[.!?…。！？][\"'”’)\]]*$")
WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, kw_only=True)
class Sentence:
    text: str
    by_user: bool
    order: int
    # From 0 at the beginning of the log to 1 at its end.
    place: float

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(word[:STEM] for word in WORD.findall(self.text.casefold()))

    @property
    def work(self) -> frozenset[str]:
        """Its words, without those that only say that something is open."""
        return replace(self, text=OPEN.sub("", self.text)).stems

    @property
    def is_question(self) -> bool:
        return bool(QUESTION.search(self.text))

    @property
    def is_open(self) -> bool:
        return bool(OPEN.search(self.text)) and not self.is_question

    @property
    def score(self) -> float:
        """How much it says about what was done; at most 0 where it says nothing of it."""
        strong = 3.0 * bool(STRONG.search(self.text))
        said = strong + bool(WEAK.search(self.text)) + 0.75 * min(len(CONCRETE.findall(self.text)), 3)
        if self.is_question or self.is_open or not said or KEEPING.search(self.text):
            return 0.0
        return said - 2.5 * bool(AGAINST.search(self.text)) + self.place + 0.5 * self.by_user


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The parts as they are chosen, and the text they make."""

    topic: str
    outcomes: tuple[Sentence, ...] = ()
    open_work: tuple[Sentence, ...] = ()
    more_open: int = 0

    @property
    def text(self) -> str:
        said = [self.topic, *(sentence.text for sentence in sorted(self.outcomes, key=lambda s: s.order))]
        left = [OPEN_TITLE.sub("", sentence.text).rstrip(".") for sentence in self.open_work]
        left += [f"+{self.more_open} more open"] if self.more_open else []
        closed = [ended(text) for text in said if text]
        return " ".join([*closed, ended(f"Open: {'; '.join(left)}")] if left else closed)


def summarise(source: Source, *, name: str, count: Count, limit: int = LONGEST_SUMMARY) -> str:
    """At most `limit` tokens as `count` counts them; empty where the source has no words at all."""
    if source.characters < SHORT_EFFORT:
        return trimmed(BRIEF.format(name=name), count, limit)
    found = list(sentences_of(source))
    topic = opening(found)
    if topic is None:
        return ""
    limit = min(limit, max(int(count(source.text) * SHARE), SMALLEST_SUMMARY))
    fits = partial(within, count=count, limit=limit)
    open_work = still_open(found)
    head = trimmed(first_words(topic.text, TOPIC_WORDS), count, limit - ROOM_FOR_NUMBER)
    summary = with_open(Summary(topic=head), open_work, partial(within, count=count, limit=int(limit * OPEN_SHARE)))
    for sentence in outcomes(found, topic):
        more = replace(summary, outcomes=(*summary.outcomes, sentence))
        summary = more if fits(more) else summary
    return with_open(summary, open_work, fits).text


def within(summary: Summary, *, count: Count, limit: int) -> bool:
    return count(summary.text) <= limit


def with_open(summary: Summary, open_work: Sequence[Sentence], fits: Callable[[Summary], bool]) -> Summary:
    """As much of the open work as fits, newest last; the rest is counted."""
    best = replace(summary, open_work=(), more_open=len(open_work))
    for shown in range(1, len(open_work) + 1):
        more = replace(summary, open_work=tuple(open_work[:shown]), more_open=len(open_work) - shown)
        if not fits(more):
            break
        best = more
    return best


def sentences_of(source: Source) -> Iterator[Sentence]:
    spoken = [part for part in source.parts if part.part == Part.TEXT]
    order = 0
    for index, part in enumerate(spoken):
        for piece in split(part.text):
            text = plain(piece)
            if not FENCE.match(piece) and WORD.search(text):
                order += 1
                place = index / max(len(spoken) - 1, 1)
                yield Sentence(text=text, by_user=part.role == "user", order=order, place=place)


def plain(piece: str) -> str:
    """On one line and without what only formats it."""
    return " ".join(MARKUP.sub("", piece).split())


def opening(found: Sequence[Sentence]) -> Sentence | None:
    """The first thing the user said that says something; a greeting does not."""
    of_user = [sentence for sentence in found if sentence.by_user] or list(found)
    telling = (sentence for sentence in of_user if len(WORD.findall(sentence.text)) > 2)
    return next(telling, next(iter(of_user), None))


def outcomes(found: Sequence[Sentence], topic: Sentence) -> list[Sentence]:
    """Best first; of sentences that say the same the last one."""
    telling = [sentence for sentence in found if sentence.score > 0 and sentence is not topic]
    themes = themes_of(found)
    best = sorted((s for s in telling if rank(s, themes) > 0), key=lambda s: (-rank(s, themes), -s.order))
    best = best[:MOST_CANDIDATES]
    return [s for s in best if not any(alike(s, other) for other in best if other.order > s.order)]


def rank(sentence: Sentence, themes: frozenset[str]) -> float:
    """With what the log is about rather than "that is done", which could be said of anything."""
    about = len(sentence.stems & themes)
    return round(sentence.score + THEME * min(about, 3) - (0 if about else GENERIC), 4)


def themes_of(found: Sequence[Sentence]) -> frozenset[str]:
    """Words that the log comes back to."""
    holders = Counter(stem for sentence in found for stem in sentence.stems if len(stem) == STEM)
    return frozenset(stem for stem, count in holders.items() if count >= RECURS)


def alike(one: Sentence, other: Sentence) -> bool:
    together = one.stems | other.stems
    return bool(together) and len(one.stems & other.stems) / len(together) >= ALIKE


def still_open(found: Sequence[Sentence]) -> list[Sentence]:
    """What was named as open and is not told to be done afterwards; each once, as it was said last."""
    named = [sentence for sentence in found if sentence.is_open][-MOST_CANDIDATES:]
    done = [sentence for sentence in found if STRONG.search(sentence.text) and sentence.score > 0]
    left = [sentence for sentence in named if not any(ends(other, sentence) for other in done)]
    return [s for s in left if not any(holds(other, s) for other in left if other.order > s.order)]


def holds(one: Sentence, other: Sentence) -> bool:
    """Whether all words of one of them, but those that say it is open, are words of the other."""
    mine, others = one.work, other.work
    return mine <= others or others <= mine


def ends(done: Sentence, work: Sentence) -> bool:
    """Whether `done`, said later, tells the end of `work`."""
    shared = done.stems & work.stems
    return done.order > work.order and len(shared) >= 2 and 2 * len(shared) >= min(len(done.stems), len(work.stems))


def first_words(text: str, words: int) -> str:
    parts = text.split()
    return text if len(parts) <= words else " ".join(parts[:words]).rstrip(",;:") + " …"


def trimmed(text: str, count: Count, limit: int) -> str:
    """The whole sentences of `text`, on one line, that fit `limit` tokens; of a first one too long its beginning."""
    kept = ""
    for sentence in sentences(" ".join(text.split())):
        longer = f"{kept} {sentence}".strip()
        if count(longer) > limit:
            return kept or beginning(sentence, count, limit)
        kept = longer
    return kept


def beginning(text: str, count: Count, limit: int) -> str:
    """As many characters as fit, ending with a word where it has any."""
    # No token is longer than a hundred characters that anybody writes.
    low, high = 0, min(len(text), limit * 100)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle] + " …") <= limit else (low, middle - 1)
    cut = text[:low]
    return (cut.rpartition(" ")[0] or cut) + " …" if cut else ""


def ended(text: str) -> str:
    return text if ENDED.search(text) else f"{text}."
