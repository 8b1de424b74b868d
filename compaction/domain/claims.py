"""What a scope seems to have decided, left open and ruled, each with the sentences that bear it out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise, takewhile

from efforts.domain.cues import TO_THE_WRITER, sounds_decided
from efforts.domain.rules import sounds_like_a_rule

from .artifact import Section, Status
from .hearing import ANNOUNCED, IMPERATIVE, NOTHING
from .phrases import words
from .settling import (
    ANSWERED,
    ASSENTED,
    NEAR,
    OFFERED,
    POOR,
    RULE,
    SAID,
    TROUBLE,
    WAITING,
    Claim,
    Scope,
    assents,
    chooses,
    denies,
    lifts,
    proposes,
    requests,
)
from .units import Unit, stems_of

LISTED = re.compile(
    r"^[^:]{0,60}\b(?:remain\w*|left|missing|to[- ]?dos?|to do|still|not yet|next|needs?|open|fehl\w+|offen"
    r"|reste|faire"
    r"|falta|pendientes?)\b[^:]{0,60}:\s+(?=\S)|^you (?:write|do|make|prepare|send|check|add|take)\s+",
    re.IGNORECASE,
)
PARTS = re.compile(
    r"\s*[,;]\s+(?:(?:and|und|et|y)\s+)?|\s+(?:and|und|et|y)\s+(?=(?:the|a|an|to|you|then|also|uh|um)\s)"
)
POINTS_TO_IT = re.compile(r"\b(?:it|that|this|them|those|these|again|so)\b")
POINTS_BACK = re.compile(
    r"(?<!\w)(?:it|that|this|those|them|these|both|him|her|beide|vorher|ihn|ihm|lui|ça|cela|eso|ese)(?!\w)|それ|これ"
)
STRONG_YES = words("yes|yep|do that|do it|go ahead|agreed|exactly|so machen wir|oui|sí|はい")
# Two proposals in one sentence.
TWO = re.compile(r",? (?:and|und|et|y) (?=(?:that )?(?:\w+ ){2})")
# Weight of what sounds like a rule in a list of rules.
IN_LIST, RULE_IN_TALK = 1.5, 2.5
# Weight from which a decision is worth the sentence that it points back to.
SURE = 4.0
# Words of an answer that only names what is taken, and its weight.
NAMES, NAMED = 5, 2.0
# How much less a proposal weighs where the answer says itself what is decided.
SECOND = 1.5
# Weight of an answer with a figure.
VALUED = 2.0
SUBORDINATE = words(
    "otherwise|because|since|which|who|where|but|if|when|as|while|although|weil|sonst|denn|car|sinon|porque"
)
# Words of a sentence that says too little without the one it points back to.
FEW = 5
# What each clause has that leaves something to be done by itself.
OWED = words(
    "(?:i|we|you|he|she|they|\\w+)'?(?:ll| will| have to| has to| need to| needs to| must| should)",
    "(?:you(?:'re| are) )?(?:gonna|going to)|to be \\w+ed|please|until|wait|waits|leave",
    "muss|müssen|dois|doit|faut|tengo|tiene",
)


def claims_of(scope: Scope) -> list[Claim]:
    claims = [*(talk_decisions(scope) if scope.talk else chat_decisions(scope)), *records(scope)]
    return [*claims, *open_work(scope), *rules(scope), *facts(scope)]


# Decisions in a chat


def chat_decisions(scope: Scope) -> Iterator[Claim]:
    for before, message in pairwise(((), *scope.messages)):
        if message[0].role == "assistant":
            yield from announced(scope, message)
        elif not message[0].machine and message[0].message not in scope.instructing:
            offered = before if before and before[0].role == "assistant" else ()
            yield from answered(scope, message, offered)


def announced(scope: Scope, message: Sequence[Unit]) -> Iterator[Claim]:
    """What a model sets itself to do counts for little where a person is there to decide."""
    for unit in message:
        heard = scope.heard[unit.order]
        if sounds_decided(unit.said, role="assistant"):
            yield decided(unit, weight=heard.decision)
        elif ANNOUNCED.search(unit.plain) and (heard.decision > 0 or scope.run):
            weight = max(heard.decision, 0) + 2 if scope.run else heard.decision - 2
            yield with_sentence_before(scope, decided(unit, weight=weight))


def with_sentence_before(scope: Scope, claim: Claim) -> Claim:
    """What points back is shown with the sentence before it in its message."""
    before = scope.units[claim.unit.order - 1] if claim.unit.order else None
    if before and before.message == claim.unit.message and POINTS_TO_IT.search(claim.unit.plain):
        return replace(claim, shown=(before, *claim.shown))
    return claim


def answered(scope: Scope, message: Sequence[Unit], offered: Sequence[Unit]) -> Iterator[Claim]:
    asked = any(proposes(unit) for unit in offered)
    for unit in (unit for unit in message if not unit.machine):
        named = unit.first and len(unit.plain.split()) <= NAMES and bool(offered)
        valued = bool(figures_of(unit)) and bool(offered)
        bonus = SAID * bool(offered) + ANSWERED * (asked and unit.first) + NAMED * named + VALUED * valued
        meant = matches(scope, unit, offered)
        if assents(unit):
            yield from granted(scope, unit, message, offered, meant)
        if assents(unit) and offered and is_poor(unit) and (meant or unit.first):
            continue
        if denies(unit) and meant and not chooses(unit) and not sounds_like_a_rule(unit.said):
            yield turned_down(unit, meant[0])
        elif not unit.asks and (offered or scope.heard[unit.order].decision > 0) and not sounds_like_a_rule(unit.said):
            context = meant or tuple(offered[-1:])
            yield with_context(scope, unit, context, weight=scope.heard[unit.order].decision + bonus)


def turned_down(unit: Unit, proposal: Unit) -> Claim:
    shown = (proposal, unit) if is_poor(unit) else (unit,)
    return Claim(
        section=Section.REJECTED, status=Status.REJECTED, shown=shown, behind=(proposal,), weight=2.0, by=unit.role
    )


def matches(scope: Scope, unit: Unit, offered: Sequence[Unit]) -> tuple[Unit, ...]:
    """What of the reply before the words take up, best first."""
    scored = [(scope.shared(unit.stems, other.stems), other) for other in offered]
    return tuple(other for score, other in sorted(scored, key=lambda one: (-one[0], one[1].order)) if score > 1.0)[:3]


def granted(
    scope: Scope, unit: Unit, message: Sequence[Unit], offered: Sequence[Unit], meant: Sequence[Unit]
) -> Iterator[Claim]:
    """The proposals that an assent takes up: those of its words, or where it has none all of them."""
    proposals = [other for other in offered if proposes(other)]
    if meant:
        targets = list(meant[:2])
    elif proposals:
        targets = [other for other in offered if other.order >= proposals[0].order and not other.asks] or proposals
    else:
        targets = list(offered[-1:]) if STRONG_YES.search(unit.plain) else []
    for target in [target for target in targets if not is_countered(target, message)][:4]:
        bonus = (
            ASSENTED + max(scope.heard[target.order].decision, 0) * 0.3 - (SECOND if meant and not is_poor(unit) else 0)
        )
        claim = replace(decided(unit, weight=bonus), behind=(unit,))
        if (target.asks or " or " in target.plain) and is_poor(unit):
            yield replace(claim, shown=(target, unit))
        else:
            yield from (replace(claim, shown=(part,), behind=(unit, target)) for part in proposals_in(target))


def proposals_in(unit: Unit) -> Iterator[Unit]:
    """The whole, and where it proposes two things also the second."""
    cut = TWO.search(unit.text)
    sides = [(0, cut.start()), (cut.end(), len(unit.text))] if cut else []
    pieces = [replace(unit, start=unit.start + a, end=unit.start + b, text=unit.text[a:b]) for a, b in sides]
    yield unit
    if pieces and all(len(piece.stems) >= POOR - 1 for piece in pieces):
        yield pieces[1]


def is_countered(target: Unit, message: Sequence[Unit]) -> bool:
    """Whether the answer names another value for what was proposed."""
    return any(
        other.stems & target.stems and chooses(other) and figures_of(other) - figures_of(target) for other in message
    )


def figures_of(unit: Unit) -> frozenset[str]:
    return frozenset(re.findall(r"\d[\d.,:]*", unit.plain))


def decided(unit: Unit, *, weight: float, behind: tuple[Unit, ...] = ()) -> Claim:
    return Claim(
        section=Section.DECISION, status=Status.ACCEPTED, shown=(unit,), behind=behind, weight=weight, by=unit.role
    )


def with_context(scope: Scope, unit: Unit, context: Sequence[Unit], *, weight: float) -> Claim:
    """Words that mean little by themselves are shown with what they answer."""
    claim = decided(unit, weight=weight, behind=tuple(context[:2]))
    if is_poor(unit) and context:
        return replace(claim, shown=(context[0], unit))
    return claim


def is_poor(unit: Unit) -> bool:
    return len(unit.stems) < POOR


# Decisions among people


def talk_decisions(scope: Scope) -> Iterator[Claim]:
    for index, unit in enumerate(scope.units):
        heard = scope.heard[unit.order]
        if unit.machine or heard is NOTHING or (is_poor(unit) and assents(unit)):
            continue
        after = [
            other for other in until_asked(scope.units[index + 1 : index + 1 + NEAR]) if other.speaker != unit.speaker
        ]
        before = [other for other in scope.units[max(index - NEAR, 0) : index] if other.speaker != unit.speaker]
        yes = next((other for other in after if assents(other)), None)
        no = next((other for other in after[:2] if denies(other)), None)
        question = next((other for other in reversed(before[-2:]) if other.asks), None)
        weight = heard.decision + talk_bonus(scope, unit, yes, question)
        if no and not yes:
            yield Claim(
                section=Section.REJECTED, status=Status.REJECTED, shown=(unit, no), weight=weight - 2, by=no.role
            )
        elif weight > 0 and (yes or not unit.asks):
            shown = (question, unit) if is_poor(unit) and question else (unit, yes) if unit.asks and yes else (unit,)
            behind = tuple(other for other in (yes, question) if other)
            claim = replace(decided(unit, weight=weight, behind=behind), shown=shown)
            yield with_sentence_before(scope, claim) if weight >= SURE and len(shown) == 1 else claim


def until_asked(units: Sequence[Unit]) -> Iterator[Unit]:
    """What answers the next question does not answer this."""
    return takewhile(lambda unit: not unit.asks, units)


def talk_bonus(scope: Scope, unit: Unit, yes: Unit | None, question: Unit | None) -> float:
    asked = 4.0 if unit.asks and yes and proposes(unit) else 0.0
    answers = 1.0 if question and scope.shared(question.stems, unit.stems) else 0.0
    trouble = 3.0 if TROUBLE.search(unit.plain) else 0.0
    return asked + answers - trouble + (1.5 if yes else 0.0) + 0.1 * min(len(unit.stems), 8)


# What tools returned


def records(scope: Scope) -> Iterator[Claim]:
    """Of a paragraph that tells of a decision each sentence does."""
    returned = [unit for unit in scope.units if unit.machine]
    for _, block in groupby(returned, key=lambda unit: (unit.message, unit.block)):
        units = list(block)
        decision = max(scope.heard[unit.order].decision for unit in units)
        for unit in units:
            if decision and not is_told_off(unit):
                yield decided(unit, weight=decision)
            if scope.heard[unit.order].open_work:
                yield owed(unit, weight=scope.heard[unit.order].open_work)


def is_told_off(unit: Unit) -> bool:
    return bool(TO_THE_WRITER.search(unit.plain))


# Open work


def owed(unit: Unit, *, weight: float, behind: tuple[Unit, ...] = ()) -> Claim:
    status = Status.BLOCKED if WAITING.search(unit.plain) else Status.OPEN
    return Claim(section=Section.OPEN_WORK, status=status, shown=(unit,), behind=behind, weight=weight, by=unit.role)


def open_work(scope: Scope) -> Iterator[Claim]:
    for before, message in pairwise(((), *scope.messages)):
        for unit in message:
            weight = scope.heard[unit.order].open_work + open_bonus(scope, unit, before)
            if weight > 0 and not unit.machine and not answers_no(scope, unit, before):
                context = context_of(scope, unit, message, before)
                claim = owed(unit, weight=weight, behind=context)
                if points_back(unit) and len(unit.stems) <= FEW and context:
                    claim = replace(claim, shown=(context[0], unit))
                yield from each_part(claim)


def open_bonus(scope: Scope, unit: Unit, before: Sequence[Unit]) -> float:
    """A request is done by the reply to it, and what a model says that it does it does at once; but for the last."""
    if unit.order in scope.endings:
        return -3.0
    if scope.talk:
        return 0.1 * min(len(unit.stems), 8)
    if unit.message in scope.instructing:
        return -1.5 if scope.heard[unit.order].constraint >= RULE else 1.0
    late = unit.turn >= scope.last_turn - 1
    if unit.role == "assistant":
        if late:
            return 3.0 if scope.run and unit.message == scope.last_message else 0.5
        if unit.message in scope.granted and unit.turn + 1 not in scope.acted and OFFERED.search(unit.plain):
            return 2.5
        return -2.0 if unit.turn in scope.acted and not WAITING.search(unit.plain) else -0.5
    asked = bool(IMPERATIVE.match(unit.plain)) or unit.plain.startswith("you ")
    if asked and unit.turn in scope.acted:
        return -2.5
    return 1.0 * late - (0.5 if asked and not late else 0.0) + 1.0 * (asked and late)


def context_of(scope: Scope, unit: Unit, message: Sequence[Unit], before: Sequence[Unit]) -> tuple[Unit, ...]:
    """What it may take its matter from, likeliest first: what was asked, what has its words, what was said last."""
    inside = [other for other in message if other.order < unit.order and other.stems]
    asked = [other for other in reversed(before) if (other.asks or requests(other)) and other.stems]
    meant = matches(scope, unit, before)
    last = [other for other in reversed(before) if other.stems]
    return tuple(dict.fromkeys((*inside[-1:], *asked[:1], *meant[:1], *last[:2], *meant[1:])))


def points_back(unit: Unit) -> bool:
    """Whether it can be understood only with what was said before it."""
    return len(unit.stems) < POOR or bool(POINTS_BACK.search(unit.plain))


def each_part(claim: Claim) -> Iterator[Claim]:
    """A list of things to do is as many items, each of which also quotes the whole sentence."""
    parts = list(parts_of(claim.unit))
    whole = len(parts) < 2 or (len(parts) == 2 and ":" not in claim.unit.text)
    if whole:
        yield claim
    for part in parts[1:] if whole else parts:
        yield replace(claim, shown=(part,), behind=(claim.unit, *claim.behind))


def parts_of(unit: Unit) -> Iterator[Unit]:
    """The pieces of a list, or of a sentence the clauses that each leave something to be done; else nothing."""
    head = LISTED.match(unit.text)
    pieces = list(pieces_of(unit, head.end() if head else 0))
    if head or all(OWED.search(piece.plain) for piece in pieces):
        yield from pieces


def pieces_of(unit: Unit, start: int) -> Iterator[Unit]:
    """What hangs on the piece before belongs to it."""
    cuts = [
        cut.span() for cut in PARTS.finditer(unit.text, start) if not SUBORDINATE.match(unit.text[cut.end() :].lower())
    ]
    begin = start
    for stop, following in [*cuts, (len(unit.text), len(unit.text))]:
        piece = unit.text[begin:stop]
        if len(stems_of(piece.casefold())) > 1:
            yield replace(unit, start=unit.start + begin, end=unit.start + stop, text=piece)
            begin = following


# Rules


def rules(scope: Scope) -> Iterator[Claim]:
    for before, message in pairwise(((), *scope.messages)):
        if message[0].role == "user" and not message[0].machine:
            listed = message[0].message in scope.instructing
            own = [unit for unit in message if not unit.machine and not answers_no(scope, unit, before)]
            for run in runs_of(scope, own, listed):
                weight = max(scope.heard[unit.order].constraint for unit in run) + 2 * listed
                yield ruled(run, scope.source.by_place[run[0].message, run[0].part].text, weight=weight)


def answers_no(scope: Scope, unit: Unit, before: Sequence[Unit]) -> bool:
    return denies(unit) and not sounds_like_a_rule(unit.said) and bool(matches(scope, unit, before))


def runs_of(scope: Scope, message: Sequence[Unit], listed: bool) -> Iterator[list[Unit]]:
    """Rules side by side in one paragraph belong together; in a list of rules whatever is told to be done."""
    for _, block in groupby(message, key=lambda unit: unit.block):
        units = list(block)
        places = [index for index, unit in enumerate(units) if is_rule(scope, unit, listed)]
        if listed and places:
            yield units[places[0] : places[-1] + 1]
        else:
            yield from ([units[index]] for index in places)


def is_rule(scope: Scope, unit: Unit, listed: bool) -> bool:
    if lifts(unit):
        return False
    told = listed and bool(IMPERATIVE.match(unit.plain)) and not unit.asks
    return told or scope.heard[unit.order].constraint >= (IN_LIST if listed else RULE_IN_TALK if scope.talk else RULE)


def ruled(run: Sequence[Unit], text: str, *, weight: float) -> Claim:
    """One after the other in one quotation: a rule is kept word for word."""
    start, end = run[0].start, run[-1].end
    whole = replace(run[0], end=end, text=text[start:end])
    return Claim(section=Section.CONSTRAINT, status=Status.IN_FORCE, shown=(whole,), weight=weight, by=run[0].role)


# Facts


def facts(scope: Scope) -> Iterator[Claim]:
    for unit in scope.units:
        weight = scope.heard[unit.order].fact
        if weight > 1.0:
            yield Claim(section=Section.FACT, status=Status.STATED, shown=(unit,), weight=weight, by=unit.role)
