"""What became of what was said: who agreed to what, what was turned down, replaced, done, or has to wait."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from efforts.domain.source_text import Part, Source

from .artifact import Section, Status
from .hearing import IMPERATIVE, Heard, hear
from .phrases import words
from .units import Unit, stems_of, units_of

HELLO = r"^(?:(?:oh|ah|well|so|and|no,?|mm-?hmm|hmm|ha|wow|then)[,. ]+)*"
ASSENT = re.compile(
    HELLO + r"(?:yes|yeah|yep|yup|sure|ok(?:ay)?|'?kay|right|al(?:l )?right|fine|good|great|perfect|agreed"
    r"|exactly|deal"
    r"|sounds (?:good|right|fine|great)|fair(?: enough)?|lovely|works for me|cool|absolutely|definitely|same"
    r"|true|please do"
    r"|go ahead|do (?:it|that|so)|makes sense|why not|i agree|that works|both|like that|excellent"
    r"|ja|gut|genau|einverstanden|passt|klar|gern|super|in ordnung|oui|d'accord|parfait|très bien|bon|ça (?:me )?va"
    r"|sí|vale|de acuerdo|perfecto|claro)\b|^(?:はい|いいですね|了解|そうしましょう|賛成|お願いします|それで)"
)
GRANTED = words(
    "(?:is|are|looks?|sounds?|seems?) (?:very |also |just |all )?(?:fine|good|right|ok|okay|great|perfect|better)",
    "(?:agreed|approved|deal)(?=\\W*$)|do that|do it (?:that|this) way|go ahead|let's do (?:that|it)"
    "|i (?:do )?like that|good idea|that works"
    "|works for me",
    "so machen wir|passt|in ordnung|ça passe|ça me va|c'est bon|me parece bien",
)
DENIED = re.compile(
    HELLO + r"(?:no|nope|nah|not|don't|nein|nicht|kein\w*|non|pas|no,|いいえ|いや)\b"
    r"|\b(?:is|are|'s) (?:out|off the table|too \w+)\b|\b(?:i'm|we're) not \w+ing\b|\bforget (?:it|that|about|the)\b"
    r"|\b(?:i'd|we'd) rather not\b|\bwon't (?:do|have|take)\b|\bdon't (?:want|need|like)\b"
    r"|\bn'en (?:veut|veux) p\w+\b"
    r"|, (?:so|also|donc) (?:no|nein|non)\b"
)
CHOSEN = words(
    "(?:we|i)(?:'ll| will)? (?:take|use|go|keep|stay|stick|do|have|pick|want|prefer)|instead|make it|go with|use|take",
    "after all, (?:we|i) \\w+|(?:so|then) (?:we|i) \\w+",
    "wir nehmen|nehmen wir|lieber|sondern|on prend|sera|plutôt|mejor|sino|にします|ではなく",
)
REQUESTED = words(
    "(?:can|could|would|will) (?:you|somebody|someone|anyone|we ask)|please|bitte|s'il (?:te|vous) plaît|por favor"
)
PROPOSED = words(
    "i'd|i would|i suggest|i propose|i recommend|my (?:suggestion|proposal|advice|idea)"
    "|(?:we|i|you) (?:could|can|might)",
    "should (?:we|i|be|it|the)|shall (?:we|i)|do you (?:want|wanna)|would you (?:like|want)|how about|what about",
    "better|why don't (?:we|you)|maybe|perhaps|the (?:remedy|best|simplest|cleanest|easiest|usual)|it would"
    "|would (?:be|keep|give|make|do)",
    "there should|let's|are we (?:all )?(?:happy|going|ok)|(?:is|are) (?:it|that|we) worth|could|or should",
    "mein vorschlag|ich würde|ich schlage|vielleicht|wie wäre|soll ich|sollen wir",
    "je propose|je (?:vous|te) propose|je conseill\\w+|je suggère|on pourrait|voulez-vous",
    "propongo|sugiero|recomiendo|podríamos|提案|おすすめ|てはどう|ましょうか|でしょうか",
)
TURNED = words(
    "so instead|instead|after all|actually|on second thought|scrap (?:that|it)|changed? (?:my|our) minds?"
    "|no longer|rather than|forget",
    "not any ?more|is out|are out|is off|doch lieber|stattdessen|doch nicht|finalement|plutôt|mejor|al final|なく"
    "|やめ|ではなく|やはり",
    "don't have to|take (?:that|it) back|revert|switch(?:ing)? (?:to|back)|replace[sd]?|we take|there is no good",
)
ENDED = words(
    "done|sent|merged|fixed|finished|booked|paid|ordered|bought|submitted|written|deployed|applied|closed"
    "|resolved|added",
    "is (?:there|in|in place|up|green|through|now on)|are there|stands? (?:in|there)|went out|set up"
    "|has been \\w+|have been \\w+",
    "erledigt|eingerichtet|gebucht|gestellt|bezahlt|abgeschickt|fertig|réservé|envoyé|payé|fait|reservado"
    "|enviado|pagado|hecho",
    "完了|済み|しました|送りました|予約しました",
)
GIVEN_UP = words(
    "not going to any ?more|forget (?:the|about|it)|never ?mind|no longer needed|not needed|dropped|give up on"
)
OFFERED = words("i (?:can|could|will)|i'll|i'd|shall i|soll ich|ich kann|je peux|puedo")
UNFINISHED = words(
    "not|n't|never|will|would|should|must|need|needs|to be|until|once|if|when|still|yet|i'll|we'll|can|could"
    "|may|might"
    "|nicht|noch|muss|wenn|bis|pas|encore|doit|aún|todavía|まだ|ない"
)
TROUBLE = words(
    "not here|not available|can't|cannot|won't (?:be|work)|doesn't work|no good|not possible"
    "|too (?:late|early|expensive)"
    "|forget that|scrap that|not going to work|i am away|on holiday|(?:have|it's my) holiday|in another meeting"
)
WAITING = words(
    "wait(?:s|ing)? (?:for|until|till|on)|has to wait|have to wait|blocked|pending|until|once|before that"
    "|before (?:we|i|the)",
    "can't [^,.;]{0,60}(?:until|before)|only when|not before|depends on|(?:still )?isn't here|as soon as",
    "erst (?:wenn|nächste)|vorher|warte[nt]? auf|sobald|dès que|avant le|ne (?:peux|peut) pas|hasta que"
    "|en cuanto|待ち|次第|まで",
)
LIFTED = words(
    "lifted|cleared|no longer (?:applies|holds|needed)|you may (?:now|again)|you can (?:now )?use"
    "|forget (?:that|the) rule",
    "(?:rule|ban|freeze|limit|restriction) (?:\\w+ ){0,4}(?:is|has been) (?:gone|over|off|void|lifted)",
    "aufgehoben|levée|levantad[ao]",
)
CONDITION = words("until|once|if|when|unless|\\w+n't|not|bis|wenn|sobald|jusqu'à|si|hasta|cuando")
# What is said to be out.
DENIES = re.compile(
    r"\b(?:not|no|forget|drop|scrap|skip|instead of|rather than|without|kein\w*|nicht|pas|sin)"
    r" (?:(?:the|a|an|that|with|de|das|die|den) )?([\w-]+(?: [\w-]+)?)"
    r"|([\w-]+(?: [\w-]+)?) (?:is|are) (?:out|off|dead|gone)\b"
)
FIGURE = re.compile(r"\d")
# Units that an answer may be away from what it answers.
NEAR = 4
# Weights: an assent to a proposal, an answer to a question, a plain statement of the person.
ASSENTED, ANSWERED, SAID = 4.0, 1.5, 2.0
POOR = 3
# Weight of what sounds like a rule, and how many of them make a list of rules.
RULE, MANY = 2.0, 4
# Words of an answer that is more than an assent.
LONG = 5
# Sentences that hold a rare word, and how many of them are linked.
RARE, BACKGROUND = 8, 2


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One item to be: `shown` are the units it quotes in its text, `behind` those that only bear it out.

    `ledger` is the id of the entry that it keeps.
    """

    section: Section
    status: Status
    shown: tuple[Unit, ...]
    behind: tuple[Unit, ...] = ()
    weight: float
    by: str
    ledger: str | None = None

    @property
    def unit(self) -> Unit:
        return self.shown[-1]

    @property
    def units(self) -> tuple[Unit, ...]:
        return tuple(dict.fromkeys((*self.shown, *self.behind)))

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(stem for unit in self.shown for stem in unit.stems)


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The units of a source and what each sounds like by itself."""

    source: Source

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        return units_of(self.source)

    @cached_property
    def heard(self) -> tuple[Heard, ...]:
        return tuple(hear(unit) for unit in self.units)

    @cached_property
    def rarity(self) -> dict[str, float]:
        held = Counter(stem for unit in self.units for stem in unit.stems)
        return {stem: math.log(1 + len(self.units) / count) for stem, count in held.items()}

    def shared(self, one: frozenset[str], other: frozenset[str]) -> float:
        return sum(self.rarity.get(stem, 0.0) for stem in one & other)

    @cached_property
    def holders(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for unit in self.units:
            for stem in unit.stems:
                found.setdefault(stem, []).append(unit.order)
        return found

    def background(self, claim: Claim) -> tuple[Unit, ...]:
        """The earlier sentences with most of the rare words of the claim: where its matter came up."""
        scores: Counter[int] = Counter()
        for stem in claim.stems:
            holders = self.holders[stem]
            if len(holders) <= RARE:
                scores.update({order: self.rarity[stem] for order in holders if order < claim.unit.order})
        best = sorted(scores, key=lambda order: (-scores[order], -order))[:BACKGROUND]
        return tuple(self.units[order] for order in best)

    @cached_property
    def latest(self) -> dict[frozenset[str], Unit]:
        """Of sentences that differ in figures only the last one."""
        return {frame_of(unit): unit for unit in self.units if FIGURE.search(unit.plain)}

    def is_outdated(self, unit: Unit) -> bool:
        """Whether the same is said later with other figures."""
        frame = frame_of(unit)
        last = self.latest.get(frame, unit)
        return len(frame) > 1 and last.order > unit.order and last.stems != unit.stems

    @cached_property
    def endings(self) -> frozenset[int]:
        """The sentences that tell that something is done, and not that it will be."""
        return frozenset(unit.order for unit in self.units if tells_an_end(unit))

    @cached_property
    def partings(self) -> frozenset[int]:
        return frozenset(unit.order for unit in self.units if GIVEN_UP.search(unit.plain))

    @cached_property
    def messages(self) -> tuple[tuple[Unit, ...], ...]:
        found: dict[int, list[Unit]] = {}
        for unit in self.units:
            if unit.role != "tool":
                found.setdefault(unit.message, []).append(unit)
        return tuple(tuple(units) for units in found.values())

    @cached_property
    def talk(self) -> bool:
        return all(unit.role == "user" for unit in self.units) and len({unit.speaker for unit in self.units}) > 1

    @cached_property
    def run(self) -> bool:
        """Whether a model works by itself: it says much more than the person."""
        by = Counter(message[0].role for message in self.messages if not message[0].machine)
        return by["assistant"] >= 3 * by["user"] > 0

    @cached_property
    def granted(self) -> frozenset[int]:
        """The messages of a model to which the person said yes."""
        pairs = pairwise(self.messages)
        return frozenset(one[0].message for one, other in pairs if other[0].role == "user" and assents(other[0]))

    @cached_property
    def acted(self) -> frozenset[int]:
        """The turns in which the model called tools: what was asked for there is most often done."""
        return frozenset(part.turn for part in self.source.parts if part.part == Part.CALLS)

    @cached_property
    def last_message(self) -> int:
        return self.messages[-1][0].message if self.messages else 0

    @cached_property
    def instructing(self) -> frozenset[int]:
        """Messages that are mostly a list of rules."""
        told = Counter(unit.message for unit in self.units if self.heard[unit.order].constraint >= RULE)
        return frozenset(message for message, number in told.items() if number >= MANY)

    @cached_property
    def last_turn(self) -> int:
        return self.units[-1].turn if self.units else 0


def lifts(unit: Unit) -> bool:
    return bool(LIFTED.search(unit.plain)) and not CONDITION.search(unit.plain)


def denied_stems(unit: Unit) -> frozenset[str]:
    """The words that it says no to."""
    return frozenset(stem for found in DENIES.finditer(unit.plain) for stem in stems_of(found[1] or found[2] or ""))


def assents(unit: Unit) -> bool:
    """Who begins with okay and goes on at length may say anything."""
    if unit.asks or unit.machine:
        return False
    said = ASSENT.match(unit.plain)
    return bool(GRANTED.search(unit.plain)) or bool(
        said and (said[0].startswith(("y", "j")) or len(unit.stems) <= LONG)
    )


def denies(unit: Unit) -> bool:
    return not unit.asks and bool(DENIED.search(unit.plain))


def frame_of(unit: Unit) -> frozenset[str]:
    return frozenset(stem for stem in unit.stems if not FIGURE.search(stem))


def tells_an_end(unit: Unit) -> bool:
    told = bool(ENDED.search(unit.plain)) and not UNFINISHED.search(unit.plain)
    return told and not unit.asks and not IMPERATIVE.match(unit.plain)


def chooses(unit: Unit) -> bool:
    """Whether it names what is taken, beside what is not."""
    return bool(CHOSEN.search(unit.plain))


def requests(unit: Unit) -> bool:
    return bool(REQUESTED.search(unit.plain)) or bool(IMPERATIVE.match(unit.plain))


def proposes(unit: Unit) -> bool:
    return unit.asks or bool(PROPOSED.search(unit.plain))
