"""From a source to a summary that gates have judged: drafted by a model, checked by one, mended once; or a digest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compaction.domain.artifact import (
    SCHEMA_VERSION,
    Artifact,
    Claim,
    Draft,
    Kind,
    Malformed,
    SourceRef,
    is_short,
    parse_draft,
    repaired,
    with_id,
)
from compaction.domain.check.answers import Void
from compaction.domain.check.result import Checked, together
from compaction.domain.digest import digest
from compaction.domain.evidence import evidence_in
from compaction.domain.gates import evaluate
from compaction.domain.gates.cost import LAST_RUNS
from compaction.domain.gates.traceability import with_cites
from compaction.domain.ledger import Entry
from compaction.domain.lifecycle import STOPPED_BY, Ended
from compaction.domain.limits import (
    LEAST_SOURCE,
    MOST_CALLS,
    OVERTAKEN_REPLY,
    Purpose,
    body_asked,
    packed,
    payback,
    reply_limit,
)
from compaction.domain.merging import How, merged, merged_checks, prefixed, read_overtaken
from compaction.domain.rendering import Rendered, rendered
from compaction.domain.verdicts import GateVerdict, Judged, Offered, Outcome, Spent
from compaction.drafting import checking
from compaction.drafting.checking import CheckMade
from compaction.drafting.requesting import (
    CUT,
    Answer,
    Exchange,
    Request,
    ask,
    drafting,
    drafting_again,
    drafting_longer,
    most_tokens,
    overtaking,
    with_room_to_think,
)
from efforts.context.connections import ModelChoice
from efforts.domain.text.canonical import canonical_json
from efforts.domain.text.source_text import Source
from efforts.models.threads import read
from efforts.standins.compacting import Progress
from efforts.turns.recording import count

# The opening request stands whole in so many tokens, but in no more than this share of the source; else its two ends.
OPENING_TOKENS, OPENING_SHARE = 300, 0.1
# Characters of both ends for each token that they may take.
END_CHARACTERS = 1.5
# Told to people, and to a model that drafts again.
MOST_NAMED, MOST_FINDINGS = 2, 24

NO_MODEL = "No model is set up to write summaries."
TOO_SHORT = "These turns are too short for a summary to pay."
NOT_EARNED = "A summary would not earn back its cost within {calls} calls."
TURN_TOO_LARGE = "One turn has more than the {most:,} tokens that a draft and its check can hold."
UNCHECKED = "Nobody has checked this summary. {why}"
NO_CHECKER = "No model is asked to."
VOID = "The check by {model} does not count. {why}"
DRAFT_FAILED = "The draft failed. {why}"
NO_DRAFT = {
    Ended.TRUNCATED: "The reply was cut at its limit of {limit:,} tokens.",
    Ended.EMPTY: "The model answered nothing.",
    Ended.REFUSED: "The endpoint's filter cut the reply.",
}
NOT_ITS_FORM = "The reply is not in the form that was asked for: {malformed}."


@dataclass(frozen=True, kw_only=True)
class Examined:
    """What is known of a checker before it is asked: whether it has passed its exam, or why it may not check."""

    passed: bool
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Means:
    """Which model drafts (None: none; `note` says why, if one was meant), within which limits.

    `checker` reads the draft; `exam` is None where it has taken none. `largest` is the most tokens of a log that one
    draft may have; what is longer is drafted in windows.
    """

    choice: ModelChoice | None = None
    note: str = ""
    checker: ModelChoice | None = None
    exam: Examined | None = None
    cap: int
    check_cap: int
    largest: int
    latest: tuple[int | None, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Task(Means):
    """What is drafted, and where it belongs: to an effort, to a draft of chosen turns (`scope_id`), or to neither.

    `purpose` is what its cost counts as; `entries` are confirmed, whatever their status. `formal`: ids of sentences
    that tell nothing but that an effort was opened or concluded.
    """

    name: str
    kind: Kind
    source: Source
    ref: SourceRef
    entries: tuple[Entry, ...] = ()
    formal: frozenset[str] = frozenset()
    focus: str = ""
    purpose: str = Purpose.COMPACTION
    effort_id: int | None = None
    scope_id: int | None = None


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One drafter's work, checked and judged. `artifact` is None where its bytes are no draft."""

    task: Task
    drafter: str
    ended: Ended
    offered: Offered
    exchanges: tuple[Exchange, ...] = ()
    checks: tuple[CheckMade, ...] = ()
    artifact: Artifact | None = None
    text: Rendered | None = None
    verdicts: tuple[GateVerdict, ...] = ()
    inherited: Checked | None = None
    unchecked: str = ""
    malformed: str = ""

    @property
    def checked(self) -> Checked | None:
        """By its own checks, or of a merged one those of its parts."""
        own = [check.checked for check in self.checks if check.checked]
        return together([self.inherited, *own] if self.inherited else own)

    @property
    def passed(self) -> bool:
        return bool(self.verdicts) and all(verdict.passed for verdict in self.verdicts)

    @property
    def takeable(self) -> bool:
        """It only lacks a check."""
        return self.artifact is not None and not self.passed and not any(verdict.failed for verdict in self.verdicts)

    @property
    def stands(self) -> bool:
        checked = self.checked
        return self.passed and checked is not None and checked.examined

    @property
    def error(self) -> str:
        return next((exchange.answer.error for exchange in self.exchanges[-1:] if exchange.answer.error), "")

    @property
    def tokens(self) -> int:
        return sum(exchange.answer.usage.total for exchange in self.exchanges)

    @property
    def elapsed_ms(self) -> int | None:
        """None where it did not end by itself."""
        if self.ended in (Ended.TIMEOUT, Ended.FAULT):
            return None
        return sum(exchange.answer.elapsed_ms for exchange in self.exchanges)

    @property
    def why(self) -> str:
        """Why it does not stand by itself, in a sentence."""
        if self.artifact is None:
            return DRAFT_FAILED.format(why=self.error or self.no_draft)
        if failing := why_not(verdict.as_json() for verdict in self.verdicts):
            return failing
        return "" if self.stands else UNCHECKED.format(why=self.unchecked or self.void or NO_CHECKER)

    @property
    def no_draft(self) -> str:
        """Why what came back is none."""
        limit = self.exchanges[-1].answer.limit if self.exchanges else 0
        return NO_DRAFT.get(self.ended, NOT_ITS_FORM).format(limit=limit, malformed=self.malformed)

    @property
    def void(self) -> str:
        last = self.checks[-1] if self.checks else None
        return VOID.format(model=last.model, why=last.void) if last and last.void else ""


def why_not(verdicts: Iterable[dict[str, Any]]) -> str:
    """What the gates lack, as their verdicts are stored: in a sentence each, with the first of what fails."""
    failing = (verdict for verdict in verdicts if verdict["outcome"] == Outcome.FAIL)
    return " ".join(f"Gate {verdict['gate']}: {verdict['says']}" + named_in(verdict) for verdict in failing)


def named_in(verdict: dict[str, Any]) -> str:
    texts = [str(failure["text"]) for failure in verdict["failures"][:MOST_NAMED]]
    # The first letter is a capital where it begins a sentence.
    named = "; ".join(text for text in texts if text[1:] not in verdict["says"])
    return f" {named}." if named else ""


@dataclass(frozen=True, kw_only=True)
class Drafted:
    """All that was tried, the last of it to be told of; and the digest of the same turns. `why` says why no model was
    asked."""

    tried: tuple[Tried, ...] = ()
    digest: Tried | None = None
    why: str = ""

    @property
    def last(self) -> Tried | None:
        return self.tried[-1] if self.tried else None


async def draft(task: Task, progress: Progress) -> Drafted:
    """By the model where that pays, checked where somebody may check; and a digest in any case."""
    excerpts = await read(digest_of, task)
    if task.choice is None:
        return Drafted(digest=excerpts, why=task.note or NO_MODEL)
    if why := await read(not_worth, task):
        return Drafted(digest=excerpts, why=why)
    windows = await read(windows_of, task)
    if not windows:
        return Drafted(digest=excerpts, why=TURN_TOO_LARGE.format(most=task.largest))
    if len(windows) == 1:
        return Drafted(tried=(await draft_one(task, progress),), digest=excerpts)
    return Drafted(tried=await draft_windows(task, windows, progress), digest=excerpts)


def draft_now(task: Task) -> Drafted:
    """Without a model, and without waiting."""
    return Drafted(digest=digest_of(task), why=task.note or NO_MODEL)


def not_worth(task: Task) -> str:
    """Why nothing is asked; empty where it is worth it. Of a stage nothing is earned back where it was said."""
    if task.ref.source_tokens < LEAST_SOURCE:
        return TOO_SHORT
    calls = earned_back(task)
    lasting = task.purpose == Purpose.STAGE
    return "" if lasting or (calls is not None and calls <= MOST_CALLS) else NOT_EARNED.format(calls=MOST_CALLS)


def earned_back(task: Task) -> int | None:
    """After how many calls what a draft and its check are expected to cost is earned back."""
    return payback(
        expected_cost(count(task.source.text)), task.ref.source_tokens - expected_text(task.ref.source_tokens)
    )


def expected_cost(log_tokens: int) -> int:
    """Tokens of a draft, its check and, every second time, a repair: a line through what `benchmarks.concluding` takes,
    whose logs of 1,900 to 6,200 tokens it tells within 22 % in the median."""
    return int(6.5 * log_tokens) + 2_800


def expected_text(source_tokens: int) -> int:
    return min(max(int(0.3 * source_tokens), 60), 320)


# By a model


async def draft_one(task: Task, progress: Progress) -> Tried:
    """Drafted, checked, judged; what was found goes back once, and only what is changed is checked again."""
    assert task.choice is not None
    await progress("model")
    first = await first_draft(task, task.choice)
    tried = await read(tried_of, task, first)
    tried = await with_check(tried, progress)
    findings = findings_of(tried)
    if not findings or (request := await read(repair_of, task, tried, findings)) is None:
        return tried
    await progress("repair")
    answer = await ask(request, task.choice)
    again = await read(tried_again, tried, Exchange(step="repair", request=request, answer=answer))
    # Where it changes nothing, nothing is read again.
    return again if again.artifact == tried.artifact else await with_check(again, progress)


async def first_draft(task: Task, choice: ModelChoice) -> tuple[Exchange, ...]:
    """Once more where the reply was cut at its limit, with twice the room, and room to think."""
    request = await read(request_of, task)
    made = [Exchange(step="draft", request=request, answer=await ask(request, choice))]
    if made[0].answer.stop_reason == CUT:
        longer = with_room_to_think(drafting_longer(request))
        if made[0].answer.usage.total + await read(most_tokens, longer) <= task.cap:
            made.append(Exchange(step="draft", request=longer, answer=await ask(longer, choice)))
    return tuple(made)


def request_of(task: Task) -> Request:
    assert task.choice is not None
    log = count(task.source.text)
    return drafting(
        task.source,
        name=task.name,
        entries=retained(task.entries),
        focus=task.focus,
        most=body_asked(task.ref.source_tokens),
        reply=reply_limit(log, task.choice.context_window),
    )


def retained(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(entry for entry in entries if entry.is_retained and not entry.in_system)


def tried_of(task: Task, exchanges: tuple[Exchange, ...]) -> Tried:
    answer = exchanges[-1].answer
    offered = Offered(text=answer.text, form="draft", stop_reason=answer.stop_reason)
    bare = Tried(task=task, drafter="model", ended=ended_of(answer), offered=offered, exchanges=exchanges)
    try:
        draft = parse_draft(answer.text)
    except Malformed as error:
        ended = Ended.UNPARSEABLE if bare.ended == Ended.DRAFTED else bare.ended
        return judged(replace(bare, malformed=str(error), ended=ended))
    return judged(replace(bare, artifact=made(task, draft)))


def ended_of(answer: Answer) -> Ended:
    if answer.stop_reason == "timeout":
        return Ended.TIMEOUT
    if answer.stop_reason in STOPPED_BY:
        return STOPPED_BY[answer.stop_reason]
    if answer.error:
        return Ended.FAULT
    return Ended.DRAFTED if answer.text else Ended.EMPTY


def tried_again(before: Tried, exchange: Exchange) -> Tried:
    """The draft with what the repair changes of it; one that changes nothing, or cannot be read, leaves it as it was,
    but for its cost."""
    exchanges = (*before.exchanges, exchange)
    try:
        if before.artifact is None:
            draft = parse_draft(exchange.answer.text)
        else:
            draft = repaired(Draft(claims=before.artifact.claims), exchange.answer.text)
    except Malformed:
        return judged(replace(before, exchanges=exchanges))
    if before.artifact and draft.claims == before.artifact.claims:
        return judged(replace(before, exchanges=exchanges))
    text = canonical_json(draft.model_dump(mode="json"))
    offered = Offered(text=text, form="draft", stop_reason=exchange.answer.stop_reason)
    artifact = made(before.task, draft)
    return judged(
        replace(before, offered=offered, exchanges=exchanges, artifact=artifact, ended=ended_of(exchange.answer))
    )


def findings_of(tried: Tried) -> list[str]:
    """What a drafter is told: all that fails, and all that a reader doubts."""
    if tried.error or tried.artifact is None:
        # What was cut, or not answered at all, is not mended by telling it so.
        return [tried.malformed] if tried.malformed and tried.ended == Ended.UNPARSEABLE else []
    return list(dict.fromkeys(one.told or one.text for verdict in tried.verdicts for one in verdict.failures))


def repair_of(task: Task, tried: Tried, findings: Sequence[str]) -> Request | None:
    """None where it would cost more than the cap, or than the model's window has room for."""
    assert task.choice is not None
    last = tried.exchanges[-1]
    again = drafting_again(last.request, last.answer.text, findings[:MOST_FINDINGS])
    if tried.artifact is None:
        again = replace(again, form=Draft)
    needed = most_tokens(again)
    fits = tried.tokens + needed <= task.cap and needed <= (task.choice.context_window or needed)
    return again if fits else None


async def with_check(tried: Tried, progress: Progress) -> Tried:
    """What nobody has read yet is read; then all of it is judged as it would stand."""
    task = tried.task
    if tried.artifact is None:
        return tried
    if task.checker is None or (task.exam and not task.exam.passed):
        return replace(tried, unchecked=task.exam.why if task.exam else task.note)
    before = tried.checked
    known = before.opinions if before else {}
    work = checking.CheckWork(
        source=task.source,
        unread=tuple(claim for claim in tried.artifact.claims if claim.content not in known),
        claims=tried.artifact.claims,
        entries=retained(task.entries),
        read=frozenset(content for content, said in known.items() if not any(one.doubts for one in said)),
        listed=before.listed if before else None,
        checker=task.checker,
        examined=bool(task.exam and task.exam.passed),
        cap=task.check_cap,
    )
    await progress("check")
    checks = await checking.check(work, sum(check.tokens for check in tried.checks))
    return await read(judged_as_told, replace(tried, checks=(*tried.checks, *checks)))


def judged_as_told(tried: Tried) -> Tried:
    """Claims that tell something of what must not be lost stand in the short form, whatever their section."""
    checked = tried.checked
    if checked is None or tried.artifact is None:
        return judged(tried)
    return judged(replace(tried, artifact=with_short(tried.artifact, tried.task.entries, checked)))


# Both


def made(task: Task, draft: Draft) -> Artifact:
    refs = {f"e{number}": entry.id for number, entry in enumerate(retained(task.entries), start=1)}
    known = {entry.id for entry in task.entries}
    claims = tuple(
        with_cites(claim, task.source).model_copy(
            update={"ledger_ref": claim.ledger_ref if claim.ledger_ref in known else refs.get(claim.ledger_ref, "")}
        )
        for claim in draft.claims
    )
    return artifact_of(task, claims)


def artifact_of(task: Task, claims: tuple[Claim, ...]) -> Artifact:
    bare = Artifact(
        schema_version=SCHEMA_VERSION,
        artifact_id="",
        kind=task.kind,
        source=task.ref,
        claims=claims,
        short=(),
        opening=opening_of(task.source, task.ref.source_tokens),
        title="",
        excerpts=(),
        evidence=evidence_in(task.source),
        redactions=task.source.masked,
        warnings=(),
    )
    return with_short(bare, task.entries)


def with_short(artifact: Artifact, entries: Iterable[Entry], checked: Checked | None = None) -> Artifact:
    """Claims that tell something of what must not be lost stand in it, whatever their section; a rule that stands in
    the system message does not."""
    telling = {content for contents in checked.told.values() for content in contents} if checked else ()
    in_system = {entry.id for entry in entries if entry.in_system}
    short = tuple(
        claim.id
        for claim in artifact.claims
        if (is_short(claim) or claim.content in telling) and claim.ledger_ref not in in_system
    )
    return with_id(artifact.model_copy(update={"short": short}))


def opening_of(source: Source, source_tokens: int) -> str:
    """The first request, verbatim; of a long one its two ends."""
    first = next((part for part in source.parts if part.role == "user"), None)
    if first is None:
        return ""
    room = min(OPENING_TOKENS, int(source_tokens * OPENING_SHARE))
    text = " ".join(first.text.split())
    if count(text) <= room:
        return text
    end = min(int(room * END_CHARACTERS), len(text) // 2 - 1)
    return f"{text[:end]} … {text[-end:]}" if end > 0 else ""


def judged(tried: Tried) -> Tried:
    """As it would stand, with all that was asked for it."""
    task, artifact = tried.task, tried.artifact
    text = rendered(artifact, count=count) if artifact else None
    checked = tried.checked
    verdicts = evaluate(
        Judged(
            offered=tried.offered,
            artifact=artifact,
            source=task.source,
            text=text or Rendered(headline="", short="", body="", standing=""),
            tokens=count(text.standing) if text else 0,
            body_tokens=count(text.body) if text else 0,
            entries=task.entries,
            check=checked,
            spent=spent_on(tried),
            latest=(*task.latest, *latest_of(tried))[-LAST_RUNS:] if tried.exchanges else (),
        )
    )
    return replace(tried, text=text, verdicts=verdicts)


def spent_on(tried: Tried) -> tuple[Spent, ...]:
    task = tried.task
    found = []
    if tried.exchanges and task.choice:
        answers = [exchange.answer for exchange in tried.exchanges]
        found.append(spent(task.purpose, answers, answers, task.cap, task.choice))
    if tried.checks and task.checker:
        answers = [exchange.answer for check in tried.checks for exchange in check.exchanges]
        # A void check has cost what it has; that it was late is why it is void.
        valid = [exchange.answer for check in tried.checks if not check.void for exchange in check.exchanges]
        found.append(spent(Purpose.CHECK, answers, valid, task.check_cap, task.checker))
    return tuple(found)


def spent(purpose: str, answers: Sequence[Answer], timed: Sequence[Answer], cap: int, choice: ModelChoice) -> Spent:
    return Spent(
        purpose=purpose,
        tokens=sum(answer.usage.total for answer in answers),
        cap=cap,
        slowest_ms=max((answer.elapsed_ms for answer in timed), default=0),
        timeout_ms=int(1000 * choice.draft_seconds),
    )


def latest_of(tried: Tried) -> tuple[int | None, ...]:
    return (tried.elapsed_ms,) if tried.exchanges else ()


def digest_of(task: Task) -> Tried | None:
    """None where nothing can be quoted."""
    artifact = digest(
        task.source,
        task.ref,
        name=task.name,
        entries=task.entries,
        evidence=evidence_in(task.source),
        count=count,
        formal=task.formal,
    )
    if artifact is None:
        return None
    offered = Offered(text=artifact.document, form="document")
    found = judged(Tried(task=task, drafter="digest", ended=Ended.DRAFTED, offered=offered, artifact=artifact))
    return found if found.passed else None


# In windows


def windows_of(task: Task) -> list[list[int]]:
    """Turns, as many together as one draft holds; none where one turn alone is too large."""
    sizes = [(turn, count(task.source.between({turn}).text)) for turn in task.source.turns]
    if any(tokens > task.largest for _, tokens in sizes):
        return []
    # Windows of about the same size: the last is no crumb.
    whole = sum(tokens for _, tokens in sizes)
    most = min(task.largest, -(-whole // -(-whole // task.largest)) + max((tokens for _, tokens in sizes), default=0))
    return packed(sizes, most)


async def draft_windows(task: Task, windows: Sequence[Sequence[int]], progress: Progress) -> tuple[Tried, ...]:
    """Each by itself, and last what they come to; or the first that gives no draft."""
    made: list[Tried] = []
    for turns in windows:
        made.append(await draft_one(await read(window_task, task, turns), progress))
        task = replace(task, latest=(*task.latest, *latest_of(made[-1])))
        if made[-1].artifact is None:
            return tuple(made)
    parts = [
        prefixed(tried.artifact.claims, place, cites=False) for place, tried in enumerate(made, 1) if tried.artifact
    ]
    request = overtaking(parts, OVERTAKEN_REPLY)
    assert task.choice is not None
    answer = await ask(request, task.choice)
    exchange = Exchange(step="overtaken", request=request, answer=answer)
    return (*made, await read(merged_tried, task, tuple(made), parts, exchange))


def window_task(task: Task, turns: Sequence[int]) -> Task:
    source = task.source.between(set(turns))
    ids = set(source.by_sentence)
    ref = task.ref.model_copy(
        update={
            "turns": tuple(turns),
            "start": turns[0],
            "end": turns[-1],
            "source_sha256": source.sha256,
            "source_tokens": count(source.said),
        }
    )
    entries = tuple(entry for entry in task.entries if set(entry.sentences) & ids)
    return replace(task, kind=Kind.STAGE, source=source, ref=ref, entries=entries)


def merged_tried(task: Task, made: tuple[Tried, ...], parts: Sequence[Sequence[Claim]], exchange: Exchange) -> Tried:
    overtaken: dict[str, How] = {}
    malformed = ""
    try:
        overtaken = read_overtaken(exchange.answer.text, parts)
    except Void as error:
        malformed = f"what a later part overtakes can't be read: {str(error).rstrip('.')}"
    claims = merged(parts, overtaken)
    tried = Tried(
        task=task,
        drafter="merge",
        ended=Ended.UNPARSEABLE if malformed else Ended.DRAFTED,
        offered=Offered(text="", form="document"),
        exchanges=(exchange,),
        malformed=malformed,
    )
    if malformed:
        return judged(tried)
    gone = {claim.content for part in parts for claim in part} - {claim.content for claim in claims}
    unchecked = next((one.unchecked or one.void for one in made if one.checked is None), "")
    inherited = merged_checks([one.checked for one in made], gone)
    return merged_artifact(replace(tried, inherited=inherited, unchecked=unchecked), claims)


def merged_artifact(tried: Tried, claims: tuple[Claim, ...]) -> Tried:
    artifact = with_short(artifact_of(tried.task, claims), tried.task.entries, tried.inherited)
    return judged(replace(tried, artifact=artifact, offered=Offered(text=artifact.document, form="document")))
