"""Which effort a text is about, and what a new one is called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from efforts.domain.effort.resolution import plain_text
from efforts.llm.builtin.cues.efforts import PROJECT
from efforts.llm.builtin.terms import STOPWORDS, terms

# Words that many efforts have in their names.
COMMON = terms(
    "plan bug fix issue problem project question questions list trip letter purchase report help work new guide search"
    " budget application setup party week weekend day diary exam repair service business stuff tuning update paper"
)
COMMON_WEIGHT = 0.5
HEAD_WEIGHT = 2.0
LINKING = re.compile(r"-(?:in|on|at|for|of|with|about|against|to|from|the)-")
NAMED = 0.5
SHORTEST_STEM, LONGEST_ENDING = 5, 5
# Terms of an effort's log that a message has to share with it, and with it alone.
SHARED_TERMS = 2

PLAIN_VERBS = "keep|get|go|do|have|take|bring|use|turn|make sure|stop|deal|come|give|run|hold|think|pay|cover|handle"
ARTICLES = frozenset(("the", "a", "an", "my", "our", "your", "his", "her", "their", "its", "some", "new"))
# What may stand before a noun phrase: verbs and little words first, then articles.
LEADING = re.compile(
    r"^(?:of|for|about|with|to|up|out|on|me|us|through|together|down|off|away|in|at|into|from|over|and|just|really|please"
    rf"|maybe|quickly|{PROJECT}|{PLAIN_VERBS})(?:\s+|$)"
)
ARTICLE = re.compile(rf"^(?:{'|'.join(sorted(ARTICLES))}|this|that|these|those|any|little|all|\d+(?:-word)?)(?:\s+|$)")
NOTHING_NAMED = """
    it this that them they everything something anything things thing stuff one ones why what how who which me us we i
    rid started ready better done sorted half keep record systematically somewhere myself again back out options ideas
    idea advice text answer way ways question read see know plan
    start cause reason list ton hunt cheaper house myself you yourself find found get do make bottom sort lot finally
    few look step steps coming next log work people going up down narrow place
    now others good news accepted somebody first point replacement
"""
NO_TOPIC = frozenset(NOTHING_NAMED.split())
STOP = re.compile(
    r"[.,;:!?\n()\"“”«»…]|\s[-–—]+\s|\b(?:because|since|so|before|after|when|that|which|who|and (?:i|we|it|the"
    r"|that|my|our)|but|by|until"
    r"|with|without|over|under|between|in|on|at|from|to|into|than|if|while|as|is|are|was|were|has|have|had|it|i"
    r"|we|please|pls|now"
    r"|today|tomorrow|tonight|next|this|last|together|where|how|what|about|during|during|due|max|or|every|then"
    r"|keeps?|can|could|like"
    r"|should|would|will|won't|doesn't|don't|isn't|can't|needs?)\b"
)
# What was said before, and nothing that follows names it.
ALREADY_SAID = re.compile(
    r"(?:this|that|these|those|it|them)"
    r"(?= ?$|\W*[.,;:?!]| (?:over|in|on|with|together|properly|by|at|for|up|out"
    r"|step|from|and|to|down"
    r"|lying|again|this|before|so|because|when|myself|first)\b)"
)
# What stands after these is often the matter itself.
THING = re.compile(
    r"\b(?:needs?|wants?|gets?|getting|got|have|has|expecting|in charge of|give|hold|having|had|write|into|for"
    r"|about|of"
    r"|problem with) "
    r"(?=(?:a|an|my|our|new|these|this) )|having (?=\w)"
)
# "Toast at my sister's wedding": one word says little without what it belongs to.
LINK = re.compile(
    r"(?P<by>in|on|at|with|about|against|to) (?:(?:the|a|an|my|our|his|her|their"
    r"|\w+'s) )*(?P<of>[^\W\d_][\w'-]+)"
)
WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
LONGEST_TOPIC = 4
BODY = (
    "back|shoulder|knee|neck|head|tooth|stomach|belly|arm|leg|foot|feet|ankle|hip|wrist|elbow|throat|ear|eye"
    "|eyes|jaw|chest|hand"
    "|finger|thumb|toe|heel|calf|spine"
)
ACHE = re.compile(
    rf"\b(?:my|his|her|our \w+'s|the) (?:\w+ )?(?P<part>{BODY})s?\b[^.?!]{{0,40}}?\b(?:hurt\w*|ach\w*|pain\w*"
    rf"|sore|stiff|kill\w*|swollen"
    r"|acting up|throb\w*|itch\w*|bother\w*)"
)
SUBJECT = re.compile(
    r"(?:^|[.!?:;,\n] ?|\b(?:and|but|that|because|since) )(?:\W|so |and |well |also |hey |hi |ok )*"
    r"(?:(?:since|for|after) [^,.:]{1,30}?(?:, | (?=our |my ))|yesterday'?s? \w+ )?(?:my|our|the|his|her|a|an)? ?"
    r"(?P<topic>(?!(?:i|we|it|you|he|she|they|this|that|there|what|which|can|could|how|help|not)\b)"
    r"[\w'-]+(?: (?!is\b|are\b|has\b|was\b|in\b|on\b|keeps?\b|and\b|of\b)[\w'-]+){0,2}?)"
    r"(?: (?:in|on|of|at|from|for) (?:my |our |the )?(?P<place>[\w'-]+)(?: [\w'-]+)?)? "
    r"(?:keeps?|stays?|is|are|was|were|has|have|won't|doesn't|don't|isn't|can't|hurts?|aches?|died|broke|fails?"
    r"|crash(?:es|ed)?|hangs?|leaks?"
    r"|skips?|drops?|times?|takes?|runs?|stopped|needs?|makes?|lost|loses?|overlap|went|smells?|charges?|got|sent)\b"
)
TIMES_AND_FILLERS = """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
    october november december today tomorrow yesterday moment morning evening night week weeks day days month months
    year years hour hours minute minutes time times around finally really since between first last next two three
    four five six seven eight nine ten about little much many lot well ugh need needs want wants would going getting
    still though anyway also help please hey been being fun totally unrelated different nicer sure maybe every more
"""
TIME_WORDS = frozenset(TIMES_AND_FILLERS.split())


def named(text: str, ids: Iterable[str]) -> str:
    """The effort whose name the text holds most of; empty where it holds half of none."""
    found = {id_: share for id_ in ids if (share := name_share(text, id_)) >= NAMED}
    return max(found, key=lambda id_: (found[id_], len(name_terms(id_)))) if found else ""


def name_share(text: str, id_: str) -> float:
    """How much of an effort's name is in the text, from 0 to 1."""
    said = terms(text)
    wanted = sorted(name_terms(id_))
    if not wanted:
        return 0.0
    head = name_terms(LINKING.split(id_)[0])
    weights = {term: COMMON_WEIGHT if term in COMMON else 1.0 for term in wanted}
    # Of "toast-at-wedding" it is the toast that people speak of.
    weights |= {term: HEAD_WEIGHT for term in wanted if term in head} if LINKING.search(id_) else {}
    held = [term for term in wanted if any(alike(term, other) for other in said)]
    return sum(weights[term] for term in held) / sum(weights.values())


def name_terms(id_: str) -> frozenset[str]:
    return terms(id_.replace("-", " ")) or frozenset({id_})


def alike(one: str, other: str) -> bool:
    """Equal, or one the beginning of the other: inherit, inheritance."""
    short, long = sorted((one, other), key=len)
    if one == other:
        return True
    return len(short) >= SHORTEST_STEM and long.startswith(short) and len(long) - len(short) <= LONGEST_ENDING


def closest(text: str, logs: Mapping[str, str], active: str) -> str:
    """The effort, other than the active one, with whose log the text clearly shares more words; else empty."""
    said = terms(text) - COMMON
    vocabulary = {id_: terms(f"{id_.replace('-', ' ')} {log}") for id_, log in logs.items()}
    points = {id_: _points(said, id_, vocabulary) for id_ in vocabulary}
    others = {id_: count for id_, count in points.items() if id_ != active}
    if not others:
        return ""
    best = max(others, key=lambda id_: others[id_])
    return best if others[best] >= SHARED_TERMS and others[best] > points.get(active, 0) else ""


def _points(said: frozenset[str], id_: str, vocabulary: Mapping[str, frozenset[str]]) -> float:
    """Terms it shares with the effort alone; a word of its name counts twice."""
    elsewhere = frozenset().union(*(words for other, words in vocabulary.items() if other != id_))
    own = {term for term in said if any(alike(term, word) for word in vocabulary[id_])}
    alone = {term for term in own if term not in elsewhere}
    return len(alone) + len([term for term in alone if any(alike(term, word) for word in name_terms(id_))])


def topic_of(message: str, *after: int) -> str:
    """One to four words that name what a message begins. `after`: where words that begin it end in `plain_text`."""
    text = plain_text(message)
    if found := ACHE.search(text):
        return f"{found['part']} pain"
    begun = [_phrase(text[end:]) for end in sorted(after, reverse=True)]
    things = [_phrase(text[match.end() :]) for match in THING.finditer(text)]
    candidates = (*begun, _subject(text), *things, _telling_words(text))
    return next((candidate for candidate in candidates if candidate), "")


def _phrase(rest: str) -> str:
    """The noun phrase that stands next: without its determiners, up to the first word that leads elsewhere."""
    rest = rest.strip(" '\"“")
    if ALREADY_SAID.match(rest):
        return ""
    for before in (LEADING, ARTICLE):
        while (shorter := before.sub("", rest)) != rest:
            rest = shorter
    stop = STOP.search(rest)
    kept = _tidy(WORD.findall(rest[: stop.start()] if stop else rest))
    linked = LINK.match(rest[stop.start() :]) if stop and len(kept) == 1 else None
    if linked and linked["of"] not in TIME_WORDS | NO_TOPIC:
        kept += [linked["by"], linked["of"]]
    return " ".join(kept) if kept and kept[0] not in NO_TOPIC and not TIME_WORDS.issuperset(kept) else ""


def _tidy(words: list[str]) -> list[str]:
    kept = [word for word in words if word not in ARTICLES][:LONGEST_TOPIC]
    while kept and kept[-1] in ("for", "of", "and", "a", "the", "or", "not", "all", "again", "properly", "finally"):
        kept.pop()
    return kept


def _subject(text: str) -> str:
    found = SUBJECT.search(text)
    words = _tidy([*WORD.findall(found["topic"]), *WORD.findall(found["place"] or "")]) if found else []
    words = [word for word in words if word not in TIME_WORDS]
    return " ".join(words) if words and words[0] not in NO_TOPIC and words[0] not in STOPWORDS else ""


def _telling_words(text: str) -> str:
    """The first content words, where no phrase can be made out."""
    after_colon = text.split(": ", 1)[-1] if ": " in text[:60] else text
    words = [word for word in WORD.findall(after_colon) if _tells(word)]
    return " ".join(words[:LONGEST_TOPIC])


def _tells(word: str) -> bool:
    return (
        bool(terms(word))
        and word not in STOPWORDS
        and word not in TIME_WORDS
        and word not in NO_TOPIC
        and len(word) > 2
    )
