"""Tabs on two branches of one conversation."""

from __future__ import annotations

from uuid import UUID

import pytest
import pytest_asyncio

from efforts import actions
from efforts.context.planning import main_branch
from efforts.models import Branch, Session, Turn
from efforts.models.threads import read
from tests.sockets.conftest import Open


@pytest_asyncio.fixture
async def other(session: Session) -> Branch:
    return await read(lambda: actions.fork(main_branch(session), after=0, actor=session.owner, name="other"))


async def test_a_message_goes_to_the_branch_that_the_frame_names(open_tab: Open, other: Branch) -> None:
    tab = await open_tab()
    await tab.say(kind="send", text="Here", client_id="one")
    await tab.say(kind="send", text="There", client_id="two", branch=str(other.pk))
    assert [(await tab.last("ack"))["turn"] for _ in range(2)] == [1, 1]
    sent = await read(lambda: dict(Turn.objects.values_list("client_id", "branch__name")))
    assert sent == {"one": "main", "two": "other"}
    await tab.say(kind="cancel", turn=1, branch=str(other.pk))
    await tab.last("ack", of="cancel")
    assert await read(
        lambda: list(Turn.objects.filter(run__state="cancelled").values_list("client_id", flat=True))
    ) == ["two"]


@pytest.mark.usefixtures("runner")
async def test_every_event_of_a_turn_names_its_branch(open_tab: Open, other: Branch) -> None:
    tab = await open_tab()
    await tab.hello(3)
    await tab.say(kind="send", text="There", client_id="one", branch=str(other.pk))
    frames = [frame for frame in await tab.until("run.ended") if "turn" in frame and "seq" in frame]
    kinds = {frame["kind"] for frame in frames}
    assert {"turn.sent", "run.started", "plan.made", "delta", "message.stands", "run.ended"} <= kinds
    assert {frame["branch"] for frame in frames} == {str(other.pk)}


NOT_THERE = [(str(UUID(int=7)), "no_such_branch"), ("main", "bad_frame"), (7, "bad_frame")]


@pytest.mark.parametrize(("branch", "code"), NOT_THERE)
async def test_a_branch_that_is_not_there_is_refused_in_words(open_tab: Open, branch: object, code: str) -> None:
    tab = await open_tab()
    await tab.say(kind="send", text="Hi", client_id="one", branch=branch)
    error = await tab.last("error")
    assert (error["code"], error["client_id"]) == (code, "one")
