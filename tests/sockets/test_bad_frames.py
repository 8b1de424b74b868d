"""Whatever a socket is sent, it answers in words and stays usable."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

from efforts import actions
from efforts.models import Message, Session
from efforts.models.threads import read, write
from tests.sockets.conftest import Open


def frame(**values: Any) -> str:
    return json.dumps({"v": 1, **values})


BAD = {
    "nothing": ("", "bad_frame", "not JSON"),
    "not JSON": ("hello", "bad_frame", "not JSON"),
    "half JSON": ('{"kind": "send"', "bad_frame", "not JSON"),
    "NUL": ("\x00", "bad_frame", "not JSON"),
    "nested deep": ("[" * 60_000, "bad_frame", "not JSON"),
    "nested deep and closed": ('{"a":' * 9_000 + "1" + "}" * 9_000, "bad_frame", "not JSON"),
    "a number of 5,000 digits": ('{"kind":"hello","last_seq":' + "9" * 5_000 + "}", "bad_frame", "not JSON"),
    "a list": ("[]", "bad_frame", "an object with a kind"),
    "null": ("null", "bad_frame", "an object with a kind"),
    "no kind": ("{}", "bad_frame", "an object with a kind"),
    "a kind that is no text": ('{"kind": 7}', "bad_frame", "an object with a kind"),
    "an unknown kind": (frame(kind="launch"), "bad_frame", "no frame of the kind 'launch'"),
    "the name of a method": (frame(kind="__init__"), "bad_frame", "no frame of the kind"),
    "a kind of half a character": ('{"kind": "\\ud800"}', "bad_frame", "no frame of the kind"),
    "a frame over 64 KiB": (frame(kind="send", client_id="a", text="x" * 65_536), "frame_too_large", "65,536 bytes"),
    "over 64 KiB in bytes": ('{"kind": "' + "\u20ac" * 30_000 + '"}', "frame_too_large", "65,536 bytes"),
    "hello without a number": (frame(kind="hello"), "bad_frame", "last_seq"),
    "hello with a text": (frame(kind="hello", last_seq="1"), "bad_frame", "last_seq"),
    "hello with a fraction": (frame(kind="hello", last_seq=1.5), "bad_frame", "last_seq"),
    "hello with a truth": (frame(kind="hello", last_seq=True), "bad_frame", "last_seq"),
    "hello from below nothing": (frame(kind="hello", last_seq=-1), "bad_frame", "last_seq"),
    "send without text": (frame(kind="send", client_id="a"), "bad_frame", "send needs text"),
    "send without an id": (frame(kind="send", text="Hi"), "bad_frame", "send needs client_id"),
    "send with a list": (frame(kind="send", text=["Hi"], client_id="a"), "bad_frame", "send needs text"),
    "send with null": (frame(kind="send", text=None, client_id="a"), "bad_frame", "send needs text"),
    "an empty message": (frame(kind="send", text="", client_id="a"), "empty", "empty"),
    "a message of blanks": (frame(kind="send", text=" \n\t ", client_id="a"), "empty", "empty"),
    "a message with NUL": (frame(kind="send", text="a\x00b", client_id="a"), "nul", "Character 2"),
    "half a character": ('{"kind":"send","text":"a\\ud83d","client_id":"a"}', "not_text", "Character 2"),
    "an id of half a character": ('{"kind":"send","text":"Hi","client_id":"\\ud83d"}', "bad_client_id", "usable id"),
    "an empty id": (frame(kind="send", text="Hi", client_id=""), "bad_client_id", "usable id"),
    "an id with NUL": (frame(kind="send", text="Hi", client_id="a\x00"), "bad_client_id", "usable id"),
    "an id of two lines": (frame(kind="send", text="Hi", client_id="a\n"), "bad_client_id", "usable id"),
    "an id too long": (frame(kind="send", text="Hi", client_id="a" * 65), "bad_client_id", "usable id"),
    "stop of nothing": (frame(kind="stop"), "bad_frame", "stop needs run"),
    "stop of no id": (frame(kind="stop", run="soon"), "bad_frame", "run must be the id"),
    "stop of an unknown run": (frame(kind="stop", run=str(uuid4())), "no_such_run", "no such run"),
    "cancel of nothing": (frame(kind="cancel"), "bad_frame", "cancel needs turn"),
    "cancel of a text": (frame(kind="cancel", turn="1"), "bad_frame", "cancel needs turn"),
    "cancel of a truth": (frame(kind="cancel", turn=True), "bad_frame", "cancel needs turn"),
    "cancel of an unknown turn": (frame(kind="cancel", turn=99), "no_such_turn", "no turn 99"),
    "cancel of a turn below": (frame(kind="cancel", turn=-1), "no_such_turn", "no turn -1"),
    "cancel of a turn beyond": (frame(kind="cancel", turn=10**30), "no_such_turn", "no turn 1000"),
    "retry of an unknown turn": (frame(kind="retry", turn=99), "no_such_turn", "no turn 99"),
    "retry with changes as a list": (frame(kind="retry", turn=1, changes=[1]), "bad_changes", "object"),
}


async def test_every_bad_frame_is_answered_in_words_and_the_socket_stays_usable(
    open_tab: Open, session: Session
) -> None:
    await write(actions.send_message, session, text="First", client_id="first", actor=session.owner)
    tab = await open_tab()
    for name, (sent, code, words) in BAD.items():
        await tab.say_raw(sent)
        error = await tab.frame()
        assert (error["kind"], error["code"]) == ("error", code), name
        assert words in error["text"], name
        assert await tab.pings() == [], name
    assert await read(Message.objects.count) == 1


async def test_binary_frames_are_answered_in_words(open_tab: Open) -> None:
    tab = await open_tab()
    await tab.socket.send_input({"type": "websocket.receive", "bytes": b"\x00\xff"})
    assert (await tab.frame())["text"] == "Frames are JSON text."
    assert await tab.pings() == []


async def test_an_error_names_the_message_that_it_is_about(open_tab: Open) -> None:
    tab = await open_tab()
    for text in ("", None):
        await tab.say(kind="send", text=text, client_id="mine")
        error = await tab.frame()
        assert (error["of"], error["client_id"]) == ("send", "mine")


async def test_control_characters_are_part_of_a_message(open_tab: Open, session: Session) -> None:
    text = "a\x01\x1b[31mb\u202e\ufeff\r\n\x7f"
    tab = await open_tab()
    await tab.say(kind="send", text=text, client_id="one")
    assert (await tab.frame())["kind"] == "ack"
    assert (await read(Message.objects.get)).text == text


async def test_a_run_of_somebody_else_cannot_be_stopped(open_tab: Open, bob: Any) -> None:
    theirs = await write(actions.create_session, bob)
    turn = await write(actions.send_message, theirs, text="Hi", client_id="one", actor=bob)
    tab = await open_tab()
    await tab.say(kind="stop", run=str(turn.run_id))
    assert (await tab.frame())["code"] == "no_such_run"
