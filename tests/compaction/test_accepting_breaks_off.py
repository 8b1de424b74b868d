"""Accepting and rolling back break off anywhere, by a fault or by the death of the process: what stands is what stood
before or what was to stand, never between."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from efforts import actions
from efforts.models import Event
from tests.compaction.artifacts import LongTalk, accept, concluded, of_turns, roll_back, standing, summaries
from tests.efforts.talk import Talk
from tests.empty import empty_home
from tests.house.process import ROOT

# Where it breaks off: the last that is done before, or the first that is not.
PLACES = {
    "before the swap": "efforts.actions.pointers.contained",
    "what stood has given way": "efforts.actions.pointers.ContextPointer.objects.create",
    "it stands for no turn yet": "efforts.actions.pointers.PointerTurn.objects.bulk_create",
    "efforts do not know yet": "efforts.actions.pointers.settle_efforts",
    "it is not in the history yet": "efforts.actions.pointers.note",
    "no acceptance yet": "compaction.standing.accepting.Acceptance.objects.create",
    "nobody was told": "compaction.standing.accepting.tell_accepted",
}
BACK = {
    "before the swap": "efforts.actions.pointers.turns_of",
    "it has gone, nothing is back": "efforts.actions.pointers.restore_before",
    "some are back": "efforts.actions.pointers.settle_efforts",
    "it is not in the history yet": "efforts.actions.pointers.note",
    "nobody was told": "compaction.standing.accepting.tell_rolled_back",
}


class Broken(Exception):
    """What nobody expects."""


def breaks(*args: Any, **more: Any) -> Any:
    raise Broken


def everything(talk: Talk) -> Any:
    return standing(talk), summaries(talk), Event.objects.count()


@pytest.fixture
def talk(transactional_db: None, alice: User) -> Talk:
    """Two efforts with summaries, and a turn of none."""
    talk = LongTalk(actions.create_session(alice))
    concluded(talk, "Bug", "It crashes.")
    concluded(talk, "Trip", "To Graz.")
    talk.ask("Something else.")
    return talk


@pytest.mark.parametrize("place", PLACES)
def test_a_fault_while_accepting_leaves_all_as_it_was(talk: Talk, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    wide = of_turns(talk.branch, [1, 2, 3], "Wide.")
    before = everything(talk)
    with monkeypatch.context() as broken:
        broken.setattr(PLACES[place], breaks)
        with pytest.raises(Broken):
            accept(wide)
    assert everything(talk) == before
    accept(wide)
    assert standing(talk) == [("Wide.", [1, 2, 3])]


@pytest.mark.parametrize("place", BACK)
def test_a_fault_while_rolling_back_leaves_all_as_it_was(
    talk: Talk, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    first = standing(talk)
    wide = of_turns(talk.branch, [1, 2, 3], "Wide.")
    accept(wide)
    before = everything(talk)
    with monkeypatch.context() as broken:
        broken.setattr(BACK[place], breaks)
        with pytest.raises(Broken):
            roll_back(wide)
    assert everything(talk) == before
    roll_back(wide)
    assert standing(talk) == first


# A process that dies


def killed(home: Path) -> dict[str, Any]:
    ours = ("CCM_", "DATABASE_URL", "REDIS_URL", "DJANGO_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    command = [sys.executable, "-m", "tests.compaction.killed"]
    told = subprocess.run(command, cwd=ROOT, env={**kept, "CCM_HOME": str(home)}, capture_output=True, timeout=300)
    assert told.returncode == 0, told.stderr.decode()
    found: dict[str, Any] = json.loads(told.stdout)
    return found


@pytest.mark.slow
@pytest.mark.server
def test_killed_at_any_statement_the_old_or_the_new_stands(tmp_path: Path) -> None:
    told = killed(empty_home(tmp_path))
    for verb, new in {"accept": [["Wide.", 3]], "roll_back": [["All about bug.", 1], ["All about trip.", 1]]}.items():
        before, deaths = told[verb]["before"], told[verb]["deaths"]
        assert len(deaths) > 8
        assert [now for done, now in deaths if not done] == [before] * (len(deaths) - 1)
        done, after = deaths[-1]
        assert (done, after[0]) == (True, new)
