"""What nothing refers to leaves: the runs of the third and the fourth seed, row by row.

Rows and claims count turns as the seeds do, from their setup on; the thresholds here are the seeds'.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle, islice
from typing import Any

from benchmarks.scenes import Exchange, play
from efforts.context.planning import main_branch
from efforts.domain.effort.policy import ContextMode
from efforts.domain.prompt.budget import SMALLEST_BUDGET
from efforts.domain.prompt.plan import Item
from efforts.models import ContextPointer, EffortState, Event, Session
from efforts.pages.presenters.metrics import branch_metrics

from .measuring import Proof, Shown, next_plan, shown_in
from .scripts import (
    ABOUT_PERF,
    ALL_DONE,
    AMBIENT,
    AUTH_BUG,
    BOTH,
    BY_BOTH,
    COMPARING,
    DETAILS,
    FOLLOWING,
    GREETING,
    GUILD,
    INVOICES,
    MENTION,
    MIGRATION,
    ONCE_MORE,
    PERF_FIX,
    QUIET,
    RECALLING,
    REFACTOR,
    SAILING,
    SEARCH_PAGE,
    TOPIC,
    UNRELATED,
)
from .turns import Taken

DECAY, EVICTION, WINDOW = 3, 20, 10
# What is said in the fourth, in budgets.
BUDGETS = 3
AMBIENT_TURNS = 30
EFFORTS = ("auth-bug", "perf-fix", "sailing-trip", "db-migration", "invoice-rounding")
AUTH, PERF, SAIL, DB, INVOICE = EFFORTS


def slice3(session: Session) -> Proof:
    """An expansion that nothing refers to ends by itself, and can be made again."""
    proof = begun(session, name="slice3", title="Expansions fade")
    play(session, [GREETING, *AUTH_BUG, *PERF_FIX])
    proof.setup = main_branch(session).head
    proof.measure("Setup: two concluded efforts and ambient talk", seed="180")
    decay_row(proof, 1, "auth-bug is expanded", RECALLING, "780", "auth-bug: 0", expand=AUTH)
    decay_row(proof, 2, "It is asked about", FOLLOWING, "860", "auth-bug: 0 (reset)")
    decay_row(proof, 3, "An unrelated question", UNRELATED[0], "940", "auth-bug: 1")
    decay_row(proof, 4, "Another", UNRELATED[1], "1,020", "auth-bug: 2")
    decay_row(proof, 5, "Another", UNRELATED[2], "1,100", "auth-bug: 3 -> AUTO-COLLAPSE")
    prove_freed(proof)
    decay_row(proof, 6, "Going on without it", UNRELATED[3], "580", "none expanded")
    decay_row(proof, 7, "It is asked about again", ONCE_MORE, "1,180", "auth-bug: 0 (re-expanded)", expand=AUTH)
    prove_decay(proof)
    prove_saved(proof)
    prove_again(proof)
    prove_independent(proof)
    prove_open_stays(proof)
    prove_ceiling(proof)
    prove_who_refers(proof)
    return proof


def begun(session: Session, *, name: str, title: str) -> Proof:
    """With the smallest budget. Nothing is recalled by itself: the seeds only mention and search."""
    session.budget, session.context_mode = SMALLEST_BUDGET, ContextMode.OFF
    session.save(update_fields=["budget", "context_mode"])
    return Proof(name=name, title=title, session=session)


def decay_row(
    proof: Proof, number: int, title: str, exchange: Exchange, seed: str, seed_says: str, *, expand: str = ""
) -> None:
    calls = [("expand_effort", {"id": expand})] if expand else []
    taken = proof.turn(exchange, *calls)
    proof.measure(f"Turn {number}: {title}", seed=seed, taken=taken, says=counter(proof, taken), seed_says=seed_says)


def counter(proof: Proof, taken: Taken) -> str:
    """What the turn was sent of the effort, and what its end made of it."""
    if AUTH not in shown_in(taken.plans[-1]).expanded:
        return "none expanded"
    count = f"{AUTH}: {unreferenced(proof, AUTH)}"
    return f"{count} -> auto-collapsed" if AUTH not in shown_in(next_plan(proof.session)).expanded else count


def prove_decay(proof: Proof) -> None:
    counts = [step.says for step in proof.steps[1:6]]
    proof.claim(
        "The count of every row is the seed's",
        seed="0, 0, 1, 2, 3",
        measured=", ".join(counts),
        holds=counts == [f"{AUTH}: {count}" for count in (0, 0, 1, 2)] + [f"{AUTH}: {DECAY} -> auto-collapsed"],
    )
    decayed = happened(proof, "effort.decayed", AUTH)
    said = [(event["turn"], event["turns"]) for event in decayed]
    proof.claim(
        "It collapses at the end of exactly the third turn that does not refer to it",
        seed="turn 5, after 3 turns",
        measured=f"turn {said[0][0]}, after {said[0][1]} turns" if said else "never",
        holds=said == [(5, DECAY)],
    )
    shown = [turn for turn in range(1, 7) if AUTH in sent(proof, turn).expanded]
    proof.claim(
        "It is in the prompts of turns 1 to 5 and not in that of turn 6",
        measured=listed(shown),
        holds=shown == [1, 2, 3, 4, 5],
    )
    notices = [event["notice"] for event in decayed]
    proof.claim(
        "A notice of its own says so",
        measured=" ".join(notices),
        holds=notices == [f"--- Auto-collapsed effort: {AUTH} (inactive for {DECAY} turns) ---"],
    )
    prove_references(proof)


def prove_references(proof: Proof) -> None:
    found = happened(proof, "effort.referenced", AUTH)
    users = [event for event in found if event["by"] == "user"]
    mention = next((event for event in users if event["turn"] == 2), None)
    proof.claim(
        "A reference begins the count anew",
        measured=f"turn 2, by {mention['how']}: {', '.join(mention['words'])}" if mention else "none in turn 2",
        holds=mention is not None and turns_of(proof, "effort.decayed", AUTH) == [2 + DECAY],
    )
    since = sorted({event["turn"] for event in found if event["turn"] > 2})
    proof.claim(
        "One word of its summary alone is no reference: turn 4 says token",
        seed="its prose takes one word, its code and its criteria two; two are the rule",
        measured=f"turns after 2 that refer to it: {listed(since)}",
        holds=not {3, 4, 5, 6} & set(since),
    )


def prove_who_refers(proof: Proof) -> None:
    turn = proof.turn(BY_BOTH).number - proof.setup
    found = {event["by"]: event for event in happened(proof, "effort.referenced", AUTH) if event["turn"] == turn}
    asked, answered = found.get("user"), found.get("assistant")
    proof.claim(
        "Words of its summary refer to it where its name is not said",
        measured=f"turn {turn}: {listed(asked['words'] if asked else ())}",
        holds=asked is not None and asked["how"] == "keywords",
    )
    proof.claim(
        "What the assistant says refers to it too",
        measured=f"turn {turn}: {listed(answered['words'] if answered else ())}",
        holds=answered is not None,
    )


def prove_freed(proof: Proof) -> None:
    """Right after the collapse: two plans over the same inputs."""
    kept, now = next_plan(proof.session, [AUTH]), next_plan(proof.session)
    freed = kept.tokens - now.tokens
    log, notes = kept.sections.get("expanded", 0), kept.sections["turn"] - now.sections["turn"]
    headline = now.sections["summary"] - kept.sections.get("summary", 0)
    decayed = happened(proof, "effort.decayed", AUTH)
    proof.claim(
        "What its log took is free again from the next prompt on",
        seed="the size of its raw log; but its summary comes back, as the seed's own rule has it",
        measured=f"{freed:,} tokens in each later prompt: {log:,} of its log, {notes:,} of the note that says so, less "
        f"{headline:,} of its summary",
        holds=bool(decayed) and 0 < freed == log + notes - headline and AUTH not in shown_in(now).expanded,
    )
    promised = decayed[0]["tokens"] if decayed else 0
    proof.claim(
        "The event says what its expansion had added",
        measured=f"{promised:,} tokens, as expanding it said in turn 1",
        holds=promised == happened(proof, "effort.expanded", AUTH)[0]["tokens"] == freed,
    )


def prove_saved(proof: Proof) -> None:
    """By the metrics that the page shows, after turn 7."""
    figures = branch_metrics(main_branch(proof.session)).figures
    added = happened(proof, "effort.expanded", AUTH)[0]["tokens"]
    saved, collapses = figures["tokens_saved_by_decay"], figures["auto_collapses"]
    proof.claim(
        "The metrics count the collapse and what it saved: turn 6 without what turns 1 to 5 had",
        seed="tokens that would have stayed without decay",
        measured=f"{collapses} auto-collapse, {saved} tokens; false decays: {figures['false_decays']}, as the seed's "
        "own run expands again within 2 turns",
        holds=(collapses, saved, figures["false_decays"]) == (1, added, 1),
    )


def prove_again(proof: Proof) -> None:
    first, again = (log_item(proof.taken[turn]) for turn in (1, 7))
    proof.claim(
        "Expanded again it is readable in that very turn, in the same bytes",
        measured=f"sha256 {first} in turn 1 and {again} in turn 7",
        holds=bool(first) and first == again,
    )


def log_item(taken: Taken) -> str:
    """The hash of what the log renders to."""
    items = [item for item in taken.plans[-1].items if item.section == "expanded" and item.included]
    return " ".join(item.sha256 for item in items)


def prove_independent(proof: Proof) -> None:
    """perf-fix is expanded in turn 8 and mentioned in 9; auth-bug was last in 7."""
    proof.turn(COMPARING, ("expand_effort", {"id": PERF}))
    for exchange in (ABOUT_PERF, *QUIET):
        proof.turn(exchange)
    ended = [turns_of(proof, "effort.decayed", slug)[-1:] for slug in (AUTH, PERF)]
    proof.claim(
        "Several expansions end independently, each by its own count",
        measured=f"{AUTH} at the end of turn {listed(ended[0])}, {PERF} of turn {listed(ended[1])}",
        holds=ended == [[7 + DECAY], [9 + DECAY]],
    )


def prove_open_stays(proof: Proof) -> None:
    play(proof.session, [GUILD, REFACTOR])
    for exchange in (*UNRELATED, *QUIET):
        proof.turn(exchange)
    silent, planned = unreferenced(proof, "guild-feature"), proof.plans[-1]
    shown = [item for item in planned.items if item.section == "open" and item.included]
    proof.claim(
        "An open effort does not fade",
        measured=f"{len(shown)} shown in full after {silent} turns without a reference",
        holds=silent > DECAY and [item.values["effort"] for item in shown] == ["guild-feature"],
    )
    proof.measure(f"After: {len(proof.taken)} more turns", seed="")


def slice4(session: Session) -> Proof:
    """However long the talk: summaries that nothing refers to leave, ten ambient turns stay, search finds the rest."""
    proof = begun(session, name="slice4", title="A bounded working context")
    # The other way round all five would have left before the seed begins to count.
    play(session, islice(cycle(AMBIENT), AMBIENT_TURNS))
    play(session, [*AUTH_BUG, *PERF_FIX, SAILING, MIGRATION, INVOICES, ALL_DONE])
    proof.setup = main_branch(session).head
    memory_row(
        proof,
        "Setup: 30 ambient turns, five concluded efforts",
        "800",
        "5 summaries, 10 ambient",
        note="The seed does not say which came first; 30 turns after the efforts would have evicted all five.",
    )
    memory_row(proof, "Turn 1: auth-bug and perf-fix", "850", "5 summaries, 10 ambient", proof.turn(BOTH))
    for exchange in islice(cycle(AMBIENT), 19):
        proof.turn(exchange)
    unmentioned_row(proof)
    prove_eviction(proof)
    prove_search(proof)
    prove_details(proof)
    prove_mention(proof)
    prove_kept(proof)
    prove_bounded(proof)
    return proof


def memory_row(
    proof: Proof, title: str, seed: str, seed_says: str, taken: Taken | None = None, *, note: str = ""
) -> None:
    planned = taken.plans[-1] if taken else next_plan(proof.session)
    says = standing(shown_in(planned))
    proof.measure(title, seed=seed, taken=taken, says=says, seed_says=seed_says, note=note)


def standing(shown: Shown) -> str:
    names = f" ({', '.join(shown.summaries)})" if shown.summaries else ""
    expanded = f", {', '.join(shown.expanded)} expanded" if shown.expanded else ""
    ending = "y" if len(shown.summaries) == 1 else "ies"
    return f"{len(shown.summaries)} summar{ending}{names}, {shown.ambient} ambient{expanded}"


def unmentioned_row(proof: Proof) -> None:
    taken = proof.turn(AMBIENT[9])
    memory_row(
        proof,
        "Turn 21: 3, 4 and 5 unmentioned for 20",
        "700",
        "2 summaries (1, 2), 10 ambient",
        taken,
        note="The seed keeps 1 and 2 from here on, last referred to in turn 1: but 21 - 1 >= 20. The rule holds: they "
        "are in the prompt of turn 21 and of none after it.",
    )


def prove_eviction(proof: Proof) -> None:
    left = {slug: [(e["turn"], e["turns"]) for e in happened(proof, "effort.evicted", slug)] for slug in EFFORTS}
    proof.claim(
        "Summaries leave after exactly 20 turns without a reference",
        seed="3, 4 and 5 are gone in turn 21",
        measured=", ".join(f"{slug} at the end of turn {told[0][0]}" for slug, told in left.items() if told),
        holds=[left[slug] for slug in (SAIL, DB, INVOICE)] == [[(EVICTION, EVICTION)]] * 3,
    )
    proof.claim(
        "They are in the prompt of turn 20 and not in that of turn 21",
        measured=f"{len(sent(proof, 20).summaries)} summaries, then {len(sent(proof, 21).summaries)}",
        holds=set(sent(proof, 20).summaries) == set(EFFORTS) and sent(proof, 21).summaries == (AUTH, PERF),
    )
    proof.claim(
        "A reference begins the count anew: 1 and 2 stay one turn longer",
        seed="they stay for good, against its own rule",
        measured=", ".join(f"{slug} after {told[0][1]} turns" for slug, told in left.items() if told),
        holds=[left[slug] for slug in (AUTH, PERF)] == [[(1 + EVICTION, EVICTION)]] * 2,
    )


def prove_search(proof: Proof) -> None:
    taken = proof.turn(TOPIC, ("search_efforts", {"query": "customer table migration"}))
    before, after = (shown_in(planned) for planned in taken.plans)
    memory_row(
        proof,
        "Turn 22: a question about db-migration",
        "750",
        "search finds it",
        taken,
        note="The seed has 1 and 2 beside it; they left at the end of turn 21.",
    )
    found = [match["id"] for match in taken.results[0]["matches"]]
    proof.claim(
        "search_efforts finds what was evicted",
        measured=listed(found),
        holds=found[:1] == [DB] and DB not in before.summaries,
    )
    proof.claim(
        "Its summary is back in that very turn",
        measured=f"summaries before the search: {len(before.summaries)}, after it: {', '.join(after.summaries)}",
        holds=after.summaries == (DB,),
    )
    notes = str(taken.plans[0].request["messages"][-1])
    told = "Not listed: 5 concluded efforts. search_efforts finds them."
    proof.claim("The prompt says what it does not show", measured=told if told in notes else notes, holds=told in notes)


def prove_details(proof: Proof) -> None:
    taken = proof.turn(DETAILS, ("expand_effort", {"id": DB}))
    memory_row(proof, "Turn 23: its details", "1,200", "expand effort-4 raw, 10 ambient", taken)
    for exchange in QUIET[:2]:
        proof.turn(exchange)
    quiet = proof.turn(QUIET[2])
    memory_row(
        proof,
        "Turn 26: nothing referred to it for 3",
        "750",
        "3 summaries (1, 2, 4), 10 ambient; decayed",
        quiet,
        note="The seed has 1 and 2 as well; they left at the end of turn 21. At the end of this turn it is a summary "
        "again.",
    )
    ended = turns_of(proof, "effort.decayed", DB)
    shown = shown_in(next_plan(proof.session))
    proof.claim(
        "Found, it can be expanded; unmentioned, it collapses again",
        seed="expanded in 23, collapsed in 26",
        measured=f"expanded in {listed(turns_of(proof, 'effort.expanded', DB))}, collapsed at the end of "
        f"{listed(ended)}; then {standing(shown)}",
        holds=DB in sent(proof, 23).expanded and ended == [23 + DECAY] and shown.summaries == (DB,),
    )


def prove_mention(proof: Proof) -> None:
    taken = proof.turn(MENTION)
    shown = shown_in(taken.plans[0])
    proof.claim(
        "A mention alone brings a summary back into that very turn",
        measured=f"turn 27 names {SAIL}: {', '.join(shown.summaries)}",
        holds=SAIL in shown.summaries and SAIL not in sent(proof, 26).summaries,
    )


def prove_kept(proof: Proof) -> None:
    windows = {shown_in(planned).ambient for planned in proof.plans}
    proof.claim(
        "Exactly the last 10 ambient turns stand in every prompt",
        seed="10",
        measured=f"{listed(sorted(windows))} in {len(proof.plans)} prompts",
        holds=windows == {WINDOW},
    )
    session, branch = proof.session, main_branch(proof.session)
    said = session.messages.filter(role__in=("user", "assistant"), tool_calls=[]).count()
    efforts = ContextPointer.objects.filter(branch=branch, state="active").count()
    proof.claim(
        "Nothing is deleted: what left the prompt is stored and found",
        measured=f"{said} messages of {branch.head} turns, {efforts} summaries",
        holds=said == 2 * branch.head and efforts == len(EFFORTS),
    )


def prove_bounded(proof: Proof) -> None:
    """Worked on until what was said is several budgets, so that this one is reached."""
    play(proof.session, SEARCH_PAGE[:1])
    long = Exchange(
        user="\n\n".join(one.user for one in SEARCH_PAGE[1:4]), reply="\n\n".join(one.reply for one in SEARCH_PAGE[1:4])
    )
    while proof.said() < BUDGETS * proof.session.budget:
        proof.turn(long)
    reached = [planned for planned in proof.plans if any(is_pushed_out(item) for item in planned.items)]
    proof.claim(
        f"What was said is {BUDGETS} budgets, and what does not fit is left out by name",
        measured=f"{proof.said():,} tokens; in {len(reached)} prompts turns of the effort do not fit",
        holds=proof.said() >= BUDGETS * proof.session.budget and len(reached) >= BUDGETS,
    )
    prove_ceiling(proof)


def is_pushed_out(item: Item) -> bool:
    return item.section == "active" and not item.included and bool(item.turns)


def prove_ceiling(proof: Proof) -> None:
    """Everything that was said would not fit; what was sent always did."""
    peak, budget = max(planned.tokens for planned in proof.plans), proof.session.budget
    said = proof.said()
    proof.claim(
        "No prompt is over the budget",
        measured=f"at most {peak:,} of {budget:,} tokens in {len(proof.plans)} prompts; everything said would take "
        f"{said:,}",
        # Where all that was said fits beside the notes, nothing has to be left out.
        holds=peak <= budget and (peak < said or said <= budget),
    )


# What was stored, by the seed's count of turns


def unreferenced(proof: Proof, slug: str) -> int:
    """Completed turns since the last reference."""
    branch = main_branch(proof.session)
    return branch.clock - EffortState.objects.get(branch=branch, effort__slug=slug).referenced_clock


def happened(proof: Proof, kind: str, slug: str) -> list[dict[str, Any]]:
    rows = Event.objects.filter(session=proof.session, kind=kind, data__effort=slug).order_by("seq")
    return [{**data, "turn": data["turn"] - proof.setup} for data in rows.values_list("data", flat=True)]


def turns_of(proof: Proof, kind: str, slug: str) -> list[int]:
    return [event["turn"] for event in happened(proof, kind, slug)]


def listed(values: Iterable[object]) -> str:
    return ", ".join(map(str, values)) or "none"


def sent(proof: Proof, turn: int) -> Shown:
    """What the last call of the turn was sent."""
    return shown_in(proof.taken[turn].plans[-1])
