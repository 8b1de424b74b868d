"""Who may reach what: every address, frame and command, for everybody there is. A new one without a row fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.http import FileResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from compaction.models import Artifact
from compaction.review import name_reviewer
from efforts import actions
from efforts.domain.commands import COMMANDS
from efforts.domain.effort.states import EntryKind
from efforts.domain.errors import Refused
from efforts.models import Endpoint, Event, Hold, Message, Run, Session
from efforts.turns import consumers, verbs
from efforts.turns.listeners import NO_SUCH_SESSION, SIGNED_OUT, standing
from tests.compaction.review import SLUG, Room
from tests.conftest import signed_in
from workspaces.models import CodePin, CommandRun, ProposedEdit, Workspace

pytestmark = pytest.mark.django_db

# By the beginning of an address, the longest that fits; in words as the tests below have them.
ROWS = {
    # Anybody, signed in or not.
    "sign-in/": "open",
    "sign-out/": "open",
    "livez": "open",
    "readyz": "open",
    "admin/login/": "open",
    "theme/": "open",
    # Whoever is signed in, for what is their own: what the address names must be theirs.
    "": "own",
    "conversations/": "own",
    "example/": "own",
    "export/": "own",
    "import/": "own",
    "metrics/": "own",
    "review/": "own",
    "review/seeds/": "own",
    "s/new/": "own",
    "search/": "own",
    "settings/": "own",
    # The owner of the conversation.
    "s/<uuid:session_id>/": "owner",
    # The owner of the folder.
    "code/<uuid:workspace_id>/": "owner",
    # The owner and whom they named.
    "review/<slug:artifact_id>/": "reviewer",
    # Staff.
    "admin/": "staff",
    "operations/": "staff",
    # Nobody, as long as no setting says otherwise.
    "operations/metrics": "nobody",
}
# One address alone, however it begins.
WHOLE = {""}
PEOPLE = ("anonymous", "other", "reviewer", "staff", "staff with permission")


@dataclass(frozen=True, kw_only=True)
class Address:
    route: str
    kind: str

    def of(self, values: dict[str, object]) -> str:
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(values[found[1]]), self.route)


def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    for one in patterns:
        route = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from routes(one.url_patterns, route)
        else:
            yield route


def kind_of(route: str) -> str:
    fitting = [row for row in ROWS if route == row or (row not in WHOLE and route.startswith(row))]
    return ROWS[max(fitting, key=len)] if fitting else ""


ALL = sorted(set(routes(get_resolver().url_patterns)))
# The admin's own addresses are many, are built of one table, and end in a catch-all.
ADDRESSES = [Address(route=route, kind=kind_of(route)) for route in ALL if not route.startswith("admin/")]


def test_every_address_has_a_row_and_every_row_an_address() -> None:
    assert [one.route for one in ADDRESSES if not one.kind] == []
    assert [row for row in ROWS if not any(route.startswith(row) for route in ALL)] == []


@pytest.fixture
def stage(room: Room, alice: User, bob: User, settings: Any, tmp_path: Path) -> SimpleNamespace:
    """A conversation of alice with one of everything, and all the people."""
    artifact: Artifact = room.draft()
    session = room.talk.session
    place = room.talk.place
    carol, dave, erin = (User.objects.create_user(name, is_staff=name != "carol") for name in ("carol", "dave", "erin"))
    erin.user_permissions.add(Permission.objects.get(codename="view_any_session"))
    name_reviewer(session, "carol", actor=alice)
    actions.pin_turn(place, 1)
    said = Message.objects.filter(session=session, role="user").first()
    assert said is not None
    entry = actions.note_entry(place, said.pk, EntryKind.OPEN_WORK, words=said.text.split(".")[0])
    rule = actions.set_constraint(place, "Answer in one sentence.", turn=1)
    shop = Workspace.objects.create(owner=alice, name="shop", kind="folder", root="/nowhere/shop")
    edit = ProposedEdit.objects.create(
        session=session,
        run=Run.objects.filter(turn__session=session)[0],
        workspace=shop,
        path="main.py",
        before="x = 1\n",
        hunks=[{"first": 0, "lines": [["-", "x = 1"], ["+", "x = 2"]]}],
    )
    command = CommandRun.objects.create(
        session=session, branch=place.branch, workspace=shop, name="test", argv=["true"]
    )
    settings.CCM_FILES_DIR = tmp_path
    file = actions.add_file(session, name="notes.txt", data=b"Mine.", actor=alice)
    code_pin = CodePin.objects.create(
        session=session, workspace=shop, path="main.py", first_line=1, last_line=1, text="x = 1", number=1
    )
    values: dict[str, object] = {
        "session_id": session.pk,
        "workspace_id": shop.pk,
        "file_id": file.pk,
        "path": "main.py",
        "branch_id": place.branch.pk,
        "number": 1,
        # Nobody's: the runs of the stage were not planned.
        "plan_id": uuid4(),
        "run_id": Run.objects.filter(turn__session=session).values_list("pk", flat=True).first(),
        "slug": SLUG,
        "seq": 1,
        "artifact_id": artifact.pk,
        "artifact": artifact.pk,
        "other_id": artifact.pk,
        "letter": "a",
        "item": "result",
        "finding_id": "x",
        "key": "x",
        "purpose": "draft",
        "days": 7,
        "place": 1,
        "token": "abc",
        "verb": "expand",
    }
    keys = {
        "code/pins/": code_pin.pk,
        "pins/": Hold.objects.get(branch=place.branch).pk,
        "ledger/": getattr(entry, "pk", 1),
        "edits/": edit.pk,
        "commands/": command.pk,
        "rules/": getattr(rule, "pk", 1),
        "endpoints/": Endpoint.objects.get(owner=alice).pk,
        "checkers/": Endpoint.objects.get(owner=alice).pk,
    }
    people = {"other": bob, "reviewer": carol, "staff": dave, "staff with permission": erin}
    clients = {"anonymous": Client(), **{name: signed_in(user) for name, user in people.items()}}
    return SimpleNamespace(values=values, keys=keys, clients=clients, people=people, session=session, artifact=artifact)


def filled(one: Address, stage: SimpleNamespace) -> str:
    pk = next((key for part, key in stage.keys.items() if part in one.route), 1)
    return one.of({"pk": pk, **stage.values})


def allowed(kind: str, who: str) -> bool:
    return kind == "open" or (kind == "reviewer" and who == "reviewer") or (kind == "staff" and "staff" in who)


def names_something(one: Address) -> bool:
    """Of somebody: else an address of one's own is open to everybody, each for their own."""
    return "<int:pk>" in one.route or one.kind in ("owner", "reviewer", "staff", "nobody")


@pytest.mark.parametrize("who", PEOPLE)
def test_nobody_reaches_what_is_not_theirs(stage: SimpleNamespace, who: str) -> None:
    client: Client = stage.clients[who]
    client.raise_request_exception = True
    events = Event.objects.filter(session=stage.session).count()
    wrong = []
    for one in ADDRESSES:
        if allowed(one.kind, who) or not (who == "anonymous" or names_something(one)):
            continue
        for method in (client.get, client.post):
            answer = method(filled(one, stage))
            sent_away = answer.status_code == 302 and answer["Location"].startswith("/sign-in/")
            if not (
                sent_away if who == "anonymous" and one.kind != "nobody" else answer.status_code in (403, 404, 405)
            ):
                wrong.append((one.route, method.__name__, answer.status_code))
    assert wrong == []
    # Nor has anything been done.
    assert Event.objects.filter(session=stage.session).count() == events
    assert Session.objects.filter(pk=stage.session.pk, erase_at=None, archived_at=None).exists()


def test_owners_reach_their_own(stage: SimpleNamespace, as_alice: Client) -> None:
    """Else a matrix of refusals would hold for a server that refuses all."""
    own = [one for one in ADDRESSES if one.kind in ("owner", "reviewer", "own")]
    answers = {}
    for one in own:
        answer = as_alice.get(filled(one, stage))
        answers[one.route] = answer.status_code
        # To its end: a file that is not would stay open.
        if isinstance(answer, FileResponse):
            assert answer.getvalue() == b"Mine."
    missing = [route for route, status in answers.items() if status not in (200, 302, 405, 422)]
    # What the stage has none of.
    assert len(missing) <= 25, sorted(missing)


def test_a_named_reviewer_reads_the_summary_and_not_the_conversation(stage: SimpleNamespace) -> None:
    client: Client = stage.clients["reviewer"]
    assert client.get(f"/review/{stage.artifact.pk}/").status_code == 200
    assert client.get(f"/s/{stage.session.pk}/").status_code == 404


@pytest.mark.parametrize("who", ["anonymous", "other", "reviewer"])
def test_the_admin_is_for_staff(stage: SimpleNamespace, who: str) -> None:
    client: Client = stage.clients[who]
    pages = [route for route in ALL if route.startswith("admin/") and "<" not in route and kind_of(route) == "staff"]
    assert len(pages) > 20
    answers = {route: client.get(f"/{route}") for route in pages}
    let_in = [route for route, answer in answers.items() if answer.status_code == 200 and "jsi18n" not in route]
    assert let_in == []


# The frames of a socket, and which of them act; the socket itself is refused to everybody but the owner.
FRAMES = {"hello": False, "ping": False, "ack": False, "send": True, "stop": True, "cancel": True, "retry": True}


def test_every_frame_has_a_row() -> None:
    assert set(consumers.SessionConsumer.HANDLERS) == set(FRAMES)


@pytest.mark.parametrize("who", ["other", "reviewer", "staff", "staff with permission"])
def test_no_frame_acts_for_anybody_but_the_owner(stage: SimpleNamespace, who: str) -> None:
    """Not even on a socket that was open before: each asks anew whose the conversation is."""
    socket = consumers.SessionConsumer()
    socket.session_id, socket.user_id = stage.session.pk, stage.people[who].pk
    acts: dict[str, Callable[..., dict[str, Any]]] = {
        "send": verbs.send,
        "stop": verbs.stop,
        "cancel": verbs.cancel,
        "retry": verbs.retry,
    }
    assert set(acts) == {frame for frame, does in FRAMES.items() if does}
    for act in acts.values():
        with pytest.raises(Refused) as refused:
            socket.done(act, None, {})
        assert refused.value.code == "gone"


@pytest.mark.parametrize("who", PEOPLE)
def test_a_socket_is_the_owners(stage: SimpleNamespace, who: str) -> None:
    client: Client = stage.clients[who]
    socket = consumers.SessionConsumer()
    socket.session_id, socket.signed_in = stage.session.pk, client.session.session_key
    socket.user_id = stage.people[who].pk if who in stage.people else 0
    [(found, _)] = standing([socket])
    assert found == (SIGNED_OUT if who == "anonymous" else NO_SUCH_SESSION)


def test_commands_are_typed_where_messages_are_and_nowhere_else(stage: SimpleNamespace) -> None:
    """So that the row of sending is theirs too."""
    client: Client = stage.clients["other"]
    for command in COMMANDS:
        posted = {"text": f"/{command.name} {command.example}", "client_id": command.name}
        assert client.post(f"/s/{stage.session.pk}/send/", posted).status_code == 404
    assert not Event.objects.filter(session=stage.session, kind="command.given").exists()
