"""What stands in the next prompt is, to the byte, what the gates judged; and they judge it so again, anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from hypothesis import HealthCheck, Phase, assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from compaction import review
from compaction.domain.artifact import Section, parse_artifact
from compaction.domain.gates.judging import hash_of
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from compaction.domain.rendering import rendered
from compaction.models import Acceptance, Artifact
from compaction.seeds import packages
from efforts import actions
from efforts.context.planning import chosen_settings, draft_turn, plan_inputs
from efforts.domain.prompt.layers import INDENT
from efforts.domain.prompt.planner import plan
from efforts.domain.text.canonical import canonical_json
from efforts.models import Branch, ContextPointer
from efforts.turns.recording import count
from efforts.turns.scopes import SCOPES
from tests.compaction.artifacts import (
    LongTalk,
    accept,
    claim,
    digest_of_effort,
    digest_of_turns,
    judged_now,
    of_effort,
    of_turns,
)
from tests.compaction.review import STATES, Room, judged, outcomes, room_of
from tests.fakes.provider import FakeProvider
from tests.house.process import ROOT


def next_prompt(branch: Branch) -> str:
    """All that would be sent with the next message, one message after the other."""
    branch = Branch.objects.select_related("session").get(pk=branch.pk)
    made = plan(plan_inputs(branch, chosen_settings(branch.session), current=draft_turn(branch, "And now?")))
    return "\n".join(str(message["content"]) for message in made.request["messages"])


def as_sent(pointer: ContextPointer, standing: str) -> str:
    """Lines of a body are set in, so that none is taken for the program's own."""
    first, *lines = standing.split("\n")
    return "\n".join([first, *(f"{INDENT}{line}" for line in lines)]) if pointer.body else standing


def assert_stands_as_judged(artifact: Artifact, branch: Branch) -> None:
    pointer = ContextPointer.objects.get(artifact=artifact.pk, branch=branch, state="active")
    assert as_sent(pointer, artifact.standing) in next_prompt(branch)
    run = Acceptance.objects.get(pointer=pointer).gate_run
    text = rendered(parse_artifact(artifact.document), count=count)
    assert text.standing == artifact.standing
    assert {verdict["inputs"]["text"] for verdict in run.verdicts} == {hash_of(asdict(text))}


# Whatever it says

# Figures, names and code would have to stand in the log; everything else about a text is free.
WORDS = st.text("abcxyzäßé-–—'’„“\"#*|>{}[]()<&;:,!?\n\t\r\x0b\x1c\u2028\u00a0 ", min_size=1, max_size=80).filter(
    lambda text: any(letter.isalpha() for letter in text)
)
SECTIONS = [one for one in Section if one not in (Section.RESULT, Section.RULE)]
MADE: dict[str, Callable[..., Artifact]] = {
    "conclusion": lambda talk, text, claims: of_effort(talk, "bug", text, claims=claims),
    "chosen": lambda talk, text, claims: of_turns(talk.branch, [1, 2], text, claims=claims),
    "unchecked": lambda talk, text, claims: of_turns(talk.branch, [1, 2], text, claims=claims, check=False),
}


QUICK = examples(max_examples=12, suppress_health_check=list(HealthCheck), phases=[Phase.reuse, Phase.generate])


@pytest.mark.parametrize("kind", MADE)
def test_what_was_judged_stands_to_the_byte(alice: User, kind: str) -> None:
    talk = concluded_talk(alice)

    @QUICK
    @given(text=WORDS, others=st.lists(st.tuples(st.sampled_from(SECTIONS), WORDS), max_size=5))
    def stands(text: str, others: list[tuple[Section, str]]) -> None:
        claims = [claim(str(number), section, words, "1.1") for number, (section, words) in enumerate(others, start=2)]
        with taken_back():
            artifact = MADE[kind](talk, text, claims)
            # What looks like a path or a name is none of this log.
            assume(judged_now(artifact)[1]["outcome"] == "pass")
            accept(artifact, unchecked=True)
            assert_stands_as_judged(artifact, talk.branch)

    stands()


@pytest.mark.parametrize("of_chosen", [False, True])
def test_excerpts_stand_to_the_byte(alice: User, of_chosen: bool) -> None:
    @QUICK
    @given(said=WORDS)
    def stands(said: str) -> None:
        with taken_back():
            talk = concluded_talk(alice, said)
            artifact = digest_of_turns(talk.branch, [1, 2]) if of_chosen else digest_of_effort(talk, "bug")
            accept(artifact)
            assert_stands_as_judged(artifact, talk.branch)

    stands()


@contextmanager
def taken_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def concluded_talk(owner: User, said: str = "It crashes.") -> LongTalk:
    talk = LongTalk(actions.create_session(owner))
    actions.open_effort(talk.place, "Bug")
    talk.ask(said)
    talk.ask("It does so whenever the harbour is closed.")
    actions.close_effort(talk.place, "bug")
    return talk


# However it came to stand


@pytest.mark.parametrize("state", STATES)
def test_what_a_model_has_drafted_stands_as_it_was_judged(room: Room, state: str) -> None:
    drafted = STATES[state](room)
    if not room.standing:
        accept(drafted)
    pointer = ContextPointer.objects.get(branch=room.talk.branch_id, state="active")
    assert_stands_as_judged(Artifact.objects.get(pk=pointer.artifact), room.talk.branch)


def test_what_a_conversation_starts_from_stands_as_it_was_judged(alice: User, provider: FakeProvider) -> None:
    artifact = started(alice, provider)
    assert_stands_as_judged(artifact, artifact.branch)


def started(owner: User, provider: FakeProvider) -> Artifact:
    """A conversation that starts from two others."""
    rooms = [room_of(owner, provider) for _ in range(2)]
    package = packages.create_package(owner, [room.talk.session for room in rooms])
    rooms[-1].work(SCOPES)
    packages.put_together(package, owner)
    session = packages.start_conversation(package, owner)
    return Artifact.objects.get(session=session)


# Judged again


@pytest.mark.parametrize("state", STATES)
def test_judged_again_by_what_is_stored_every_verdict_is_the_same(room: Room, state: str) -> None:
    STATES[state](room)
    for artifact in Artifact.objects.all():
        assert canonical_json(judged_now(artifact)) == canonical_json(judged(artifact).verdicts)


def test_a_merged_one_is_judged_the_same_again(alice: User, provider: FakeProvider) -> None:
    artifact = started(alice, provider)
    assert canonical_json(judged_now(artifact)) == canonical_json(judged(artifact).verdicts)


@pytest.mark.parametrize("doubted", ["", "Nightly backups to the second site"])
def test_one_that_was_made_in_windows_is_judged_the_same_again(room: Room, settings: Any, doubted: str) -> None:
    """Also where a window was repaired and checked twice."""
    settings.CCM_DRAFT_CAP = 13_000
    if doubted:
        room.model.doubts(doubted)
    artifact = room.draft()
    assert artifact.run.drafter == "merge"
    assert canonical_json(judged_now(artifact)) == canonical_json(judged(artifact).verdicts)


def test_a_decision_that_a_person_strikes_is_missed_though_it_was_made_in_windows(room: Room, settings: Any) -> None:
    settings.CCM_DRAFT_CAP = 13_000
    artifact = room.draft()
    owner = room.talk.session.owner
    review.decide(artifact, "2.backups", Say.STRUCK, reviewer=owner)
    made = review.submit(artifact, reviewer=owner).made
    assert outcomes(judged(made))["C"] == "fail"


@pytest.mark.slow
def test_another_process_judges_the_same_bytes(transactional_db: None, alice: User, provider: FakeProvider) -> None:
    for state in ("stands", "fails", "void", "chosen", "no model"):
        STATES[state](room_of(alice, provider))
    started(alice, provider)
    expected = {row.pk: judged(row).verdicts for row in Artifact.objects.all()}
    assert judged_elsewhere() == canonical_json(expected)


def judged_elsewhere() -> str:
    ours = ("CCM_", "DATABASE_URL", "REDIS_URL", "DJANGO_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    command = [sys.executable, "-m", "tests.compaction.judging_again"]
    told = subprocess.run(
        command, cwd=ROOT, env={**kept, "DATABASE_URL": database_url()}, capture_output=True, text=True, timeout=120
    )
    assert told.returncode == 0, told.stderr
    return told.stdout


def database_url() -> str:
    """Of the database of the tests."""
    given = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{given['NAME']}"
    password = f":{given['PASSWORD']}" if given["PASSWORD"] else ""
    return f"postgres://{given['USER']}{password}@{given['HOST']}:{given['PORT'] or 5432}/{given['NAME']}"
