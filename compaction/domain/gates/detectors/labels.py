"""Labels against what they are put on: the status of an item, its actor, and who a claim says it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from efforts.domain.source_text import Source

from ...artifact import Section, Status
from ...ledger import Entry, overlap
from ...polarity import any_of, asserted, clauses_of
from ...wording import content, likeness, recall
from ..entries import covered, lacks, says_the_same, spoken
from ..judging import shortened
from .case import WORK, Case, Claim, Found

# Of the words of an entry so many are in what a claim asserts, where it asserts the entry.
SAID = 0.6
# So many where it quotes just the words by which the entry is known.
RETOLD = 0.3
# Of the words of both together, where the item does not quote what the entry is known by.
MUTUAL = 0.55
# A quotation that has so much of the words by which an entry is known is a quotation of it.
QUOTED = 0.5
FEWEST_IN_HEADLINE, FEWEST_QUOTED = 3, 2
GONE = frozenset({Status.SUPERSEDED, Status.REJECTED, Status.REVOKED, Status.DROPPED})
STANDING = frozenset({Status.ACCEPTED, Status.IN_FORCE})
RULED = frozenset({Section.DECISION, Section.CONSTRAINT})
PUT_DOWN = RULED | {Section.REJECTED}
UNFINISHED = frozenset({Status.OPEN, Status.BLOCKED})
FINISHED = frozenset({Status.DONE, Status.DROPPED})
HISTORY = any_of(
    """first, at first, originally, initially, earlier, formerly, previously, used to, no longer, was to, were to,
    until then, instead of, rather than, in place of, after all, wanted, had, considered, discussed, proposed, zuerst,
    ursprünglich, zunächst, anfangs, statt, d'abord, initialement, au lieu de, al principio, en vez de""",
    "最初|当初|初めは",
)
SAYS_DONE = any_of(
    """done, finished, completed?, fixed, solved, resolved, written, merged, deployed, shipped, implemented, added,
    sent, paid, booked, erledigt, fertig, abgeschlossen, gelöst, terminée?s?, faite?s?, résolue?s?, hecho, resuelto"""
)
SAYS_OPEN = any_of(
    r"""still, open, to be, to do, not, waits?, waiting, remains?, remaining, until, once, will, needs?, must, should,
    next, pending, blocked, yet, has to, have to, is to, are to, noch, offen, wartet, muss, soll, bleibt, reste(?:nt)?,
    attend(?:ent)?, doit, doivent, à faire, encore, pendiente, falta, todavía""",
    "まだ|未",
)
ACTS = """decided|decides|asked|asks|wants|wanted|chose|chooses|said|says|agreed|agrees|confirmed|confirms|prefers
|preferred|approved|insists|insisted|requested|requests|requires|required|ruled|accepted|rejected|proposed|proposes
|suggested|suggests|found|finds|recommended|recommends|explained|explains|promised|promises|offered|offers"""
# As the subject of a clause; what a quoted mail says that a user did is its own matter.
SUBJECT = re.compile(
    rf"^(?:and |but )?the (user|assistant|model) (?:has |had |then )?(?:{ACTS})\b".replace("\n", ""), re.IGNORECASE
)
ROLES = {"user": "user", "assistant": "assistant", "model": "assistant"}
PASSIVE = re.compile(r"\bby the (user|assistant|model)\b", re.IGNORECASE)


def not_current(case: Case) -> Iterator[Found]:
    """What was superseded, rejected or revoked stands as if it held."""
    for claim in case.told:
        if claim.asserts and not tells_history(claim):
            near = case.near[claim.about]
            gone = [entry for entry in near if entry.status in GONE and entry.section in RULED]
            settled = claim.item is not None and claim.item.status in STANDING
            proposed = [entry for entry in near if settled and entry.status == Status.PROPOSED]
            yield from asserted_entries(claim, [*gone, *proposed], case)


def tells_history(claim: Claim) -> bool:
    return bool(claim.own_words and claim.item is None and HISTORY.search(claim.text))


def asserted_entries(claim: Claim, gone: Iterable[Entry], case: Case) -> Iterator[Found]:
    current = [entry for entry in case.near[claim.about] if entry.status not in GONE | {Status.PROPOSED}]
    best = max((score(claim, entry, case.source) for entry in current), default=0.0)
    for entry in gone:
        said = score(claim, entry, case.source)
        if said > best and (
            (said >= SAID and says_little_else(claim, entry)) or (said >= RETOLD and settles(claim, entry))
        ):
            known = f"the ledger has it as {entry.status}: “{shortened(entry.text)}”"
            text = f"“{shortened(claim.text)}” stands as current; {known}"
            yield Found(rule="not_current", about=claim.about, text=text)


def settles(claim: Claim, entry: Entry) -> bool:
    """It is told as settled, out of the words by which the entry is known and of no other that stands."""
    settled = claim.item is not None and claim.item.status in STANDING
    quoted = bool(entry.spans) and covered(entry.spans[0], claim.links) >= QUOTED
    return settled and quoted and not any(is_at(claim, other) for other in claim.entries)


def says_little_else(claim: Claim, entry: Entry) -> bool:
    """What stands may have the words of what has gone, and more of its own; not so where that itself is quoted."""
    if is_at(claim, entry) or likeness(content(entry.text), content(claim.text)) >= MUTUAL:
        return True
    alike = any(likeness(content(entry.text), clause.words) >= MUTUAL for clause in clauses_of(claim.text))
    return alike and not any(is_at(claim, other) for other in claim.entries)


def is_at(claim: Claim, entry: Entry) -> bool:
    return any(overlap(link, span) for link in claim.links for span in entry.spans[:1])


def score(claim: Claim, entry: Entry, source: Source) -> float:
    """How much of the entry the claim asserts, from 0 to 1; nothing where it lacks what the entry names."""
    if lacks(entry, [claim.text, *claim.quotes], source):
        return 0.0
    words, said = asserted(entry.text), asserted(claim.text)
    if not words:
        words, said = content(entry.text), denied_words(claim.text) if denied_words(entry.text) else content(claim.text)
    # A sentence of the headline tells of much: two words in it are no matter.
    shared = recall(words, said) if claim.item or len(words & said) >= FEWEST_IN_HEADLINE else 0.0
    return max(shared, repeated(claim, entry, source))


def repeated(claim: Claim, entry: Entry, source: Source) -> float:
    """How much of the words by which the entry is known an item has that quotes them."""
    if claim.item is None or not entry.spans or covered(entry.spans[0], claim.shown_links) < QUOTED:
        return 0.0
    words = content(spoken(entry.spans[0], source))
    return recall(words, content(claim.text)) if len(words) >= FEWEST_QUOTED else 0.0


def not_dropped(case: Case) -> Iterator[Found]:
    """What stands is told as superseded or rejected."""
    for claim in case.told:
        if claim.item and claim.item.status in GONE and claim.item.section in PUT_DOWN:
            standing = [entry for entry in case.near[claim.about] if entry.status in STANDING]
            others = [entry for entry in case.near[claim.about] if entry.status not in STANDING]
            best = max((dropped_score(claim, entry, case.source) for entry in others), default=0.0)
            for entry in standing:
                if dropped_score(claim, entry, case.source) > max(best, SAID - 0.001):
                    text = (
                        f"“{shortened(claim.text)}” stands as {claim.item.status}; the ledger has it as {entry.status}"
                    )
                    yield Found(rule="not_dropped", about=claim.about, text=text)


def dropped_score(claim: Claim, entry: Entry, source: Source) -> float:
    """What is told as gone is often told in a denial: all words count. Quoting what an entry is known by is enough."""
    if lacks(entry, [claim.text, *claim.quotes], source):
        return 0.0
    shared = recall(asserted(entry.text) or content(entry.text), content(claim.text))
    quoted = bool(entry.spans) and covered(entry.spans[0], claim.links) >= QUOTED
    return 1.0 if quoted and entry.status in GONE else shared


def denied_words(text: str) -> frozenset[str]:
    """What a prohibition is about."""
    return frozenset(word for clause in clauses_of(text) if clause.denied for word in clause.words)


def other_state(case: Case) -> Iterator[Found]:
    """Open work told as done, or done work as open."""
    for claim in case.told:
        work = [entry for entry in case.near[claim.about] if entry.section == Section.OPEN_WORK]
        scores = {entry.id: work_score(claim, entry, case.source) for entry in work}
        best = max(scores.values(), default=0.0)
        alike = [entry for entry in work if best >= SAID and scores[entry.id] == best]
        # One sentence of the source may tell of several pieces of work.
        repeats = bool(claim.item and claim.item.verbatim)
        known_by = {entry.spans[:1] for entry in alike if entry.spans and repeats}
        alike += [entry for entry in work if entry not in alike and entry.spans[:1] in known_by]
        if alike and all(is_other_state(claim, entry) for entry in alike):
            shown = f"“{shortened(claim.text)}” is told as {told(claim)}; the ledger has it as {alike[0].status}"
            yield Found(rule="other_state", about=claim.about, text=shown)


def work_score(claim: Claim, entry: Entry, source: Source) -> float:
    """Its label says whether it is open, whatever the words deny."""
    if claim.item is None:
        words, told = content(entry.text), content(claim.text)
        return recall(words, told) if len(words & told) >= FEWEST_IN_HEADLINE else 0.0
    kept = says_the_same(entry, claim.item, source)
    return max(score(claim, entry, source), SAID + kept / 1000 if kept else 0.0)


def is_other_state(claim: Claim, entry: Entry) -> bool:
    states = UNFINISHED if entry.status in UNFINISHED else FINISHED
    told_as = FINISHED if told(claim) == "done" else UNFINISHED if told(claim) == "open" else states
    dropped = bool(claim.item and claim.item.status == Status.DROPPED) != (entry.status == Status.DROPPED)
    return told_as != states or (states == FINISHED and told(claim) != "" and claim.item is not None and dropped)


def told(claim: Claim) -> str:
    """As what the claim tells its work: by its label, or in the headline by its words; empty where by neither."""
    if claim.item:
        if claim.item.section not in WORK:
            return ""
        return "open" if claim.item.status in UNFINISHED else "done" if claim.item.status in FINISHED else ""
    done, open_ = bool(SAYS_DONE.search(claim.text)), bool(SAYS_OPEN.search(claim.text))
    return "" if not claim.own_words or done == open_ else "done" if done else "open"


def other_actor(case: Case) -> Iterator[Found]:
    """An item is put down to somebody who said none of what it quotes."""
    for claim in case.of_items:
        if claim.item and claim.roles and claim.item.actor not in claim.roles:
            who = ", ".join(sorted(claim.roles))
            text = f"“{shortened(claim.text)}” is put down to the {claim.item.actor}; it quotes only: {who}"
            yield Found(rule="other_actor", about=claim.about, text=text)


def other_person(case: Case) -> Iterator[Found]:
    """A claim says who decided, asked or proposed, and quotes nothing of theirs."""
    for claim in case.phrased:
        for role in sorted(named_people(claim.text) - claim.roles):
            if claim.roles:
                text = f"“{shortened(claim.text)}” speaks of the {role}; it quotes nothing that the {role} said"
                yield Found(rule="other_person", about=claim.about, text=text)


def named_people(text: str) -> frozenset[str]:
    told = [clause.text for clause in clauses_of(text) if not clause.denied]
    subjects = [found[1] for clause in told if (found := SUBJECT.match(clause))]
    return frozenset(ROLES[who.casefold()] for who in (*subjects, *PASSIVE.findall(text)))
