"""Commands of the operator's list: run within limits, never by a shell, and told to the model."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from efforts.context.planning import chosen_settings, main_branch, next_inputs
from efforts.domain.errors import Refused
from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.planner import plan
from efforts.models import Event, Run, Session
from efforts.tools import ToolContext, run_tool
from tests.workspaces.conftest import indexed, write
from workspaces.actions import allow_command, commands, decline_command, start_command, stop_command
from workspaces.commands import guard, running
from workspaces.commands.process import Ended, Limits, environment, execute
from workspaces.domain.outputs import printed, tail
from workspaces.domain.states import CommandEnd
from workspaces.indexing import worker
from workspaces.models import CommandRun, Workspace
from workspaces.pages.commands import offered_views

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Commands run on Linux only.")
LIMITS = Limits(seconds=60, output=50_000, memory=200 << 20, processes=60)
PAGE = {"HX-Request": "true"}


def ran(code: str | Sequence[str], folder: Path, **other: Any) -> Ended:
    argv = [sys.executable, "-c", code] if isinstance(code, str) else code
    tell = other.pop("tell", lambda output: None)
    limits = Limits(**{**LIMITS.__dict__, **other})
    return execute(argv, str(folder), limits, environment(), tell)


def is_there(pid: int) -> bool:
    """Not what has ended and waits for its parent."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_command_ends_with_its_status_in_the_folder(tmp_path: Path) -> None:
    ended = ran("import os, sys; print(os.getcwd(), file=sys.stderr); sys.exit(3)", tmp_path)
    assert (ended.how, ended.code, ended.output.decode().strip()) == (CommandEnd.EXIT, 3, str(tmp_path))


def test_what_a_shell_would_read_is_a_word_like_any_other(tmp_path: Path) -> None:
    words = ["; touch a", "$(touch b)", "`touch c`", "| touch d", "> e", "*", "&&"]
    ended = ran([sys.executable, "-c", "import sys; print(sys.argv[1:])", *words], tmp_path)
    assert ended.output.decode().strip() == str(words)
    assert list(tmp_path.iterdir()) == []


def test_the_environment_holds_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SECRET_KEY", "DATABASE_URL", "CCM_MODEL_KEY", "AWS_SECRET_ACCESS_KEY", "PYTHONPATH"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("JAVA_HOME", "/java")
    code = "import os; print(dict(os.environ), open(f'/proc/{os.getppid()}/environ').read())"
    ended = ran(code, tmp_path)
    assert b"PATH" in ended.output
    assert b"secret" not in ended.output
    assert "JAVA_HOME" not in environment()
    assert environment(["JAVA_HOME"])["JAVA_HOME"] == "/java"


def test_what_is_printed_is_told_while_the_command_runs(tmp_path: Path) -> None:
    def tell(output: bytes) -> None:
        if output == b"begun\n":
            (tmp_path / "go").touch()

    code = (
        "import os, time\nprint('begun', flush=True)\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('over')"
    )
    ended = ran(code, tmp_path, tell=tell)
    assert (ended.how, ended.output) == (CommandEnd.EXIT, b"begun\nover\n")


def test_a_command_that_closes_its_output_goes_on_and_can_be_stopped(tmp_path: Path) -> None:
    """As what writes into a file of its own does."""
    code = "import os, time\nfor one in (1, 2): os.close(one)\nopen('closed', 'x')\ntime.sleep(600)"
    ended = ran(code, tmp_path, tell=lambda output: CommandEnd.PERSON if (tmp_path / "closed").exists() else None)
    assert ended.how == CommandEnd.PERSON


def test_a_server_with_many_open_sockets_runs_commands_too(tmp_path: Path) -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(2_000, limit[1]), limit[1]))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1_100)]
    try:
        assert ran("print('done')", tmp_path).output == b"done\n"
    finally:
        for one in opened:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def test_endless_output_ends_at_its_limit(tmp_path: Path) -> None:
    ended = ran("while True: print('x' * 99)", tmp_path)
    assert (ended.how, len(ended.output)) == (CommandEnd.OUTPUT, LIMITS.output)


@pytest.mark.parametrize(
    "code",
    [
        # Not without end: where nothing stops it a test should not take the machine with it.
        "import os, time\nfor _ in range(11): os.fork()\ntime.sleep(60)",
        "import os, time\nfor _ in range(11):\n    if os.fork() == 0: os.setsid()\ntime.sleep(60)",
    ],
)
def test_a_fork_bomb_ends_at_its_limit_and_leaves_nothing(tmp_path: Path, code: str) -> None:
    ended = ran(code, tmp_path)
    assert ended.how == CommandEnd.PROCESSES
    left = [int(name) for name in os.listdir("/proc") if name.isdigit() and folder_of(name) == str(tmp_path)]
    assert [pid for pid in left if is_there(pid)] == []


def folder_of(pid: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def test_memory_has_a_limit_for_one_process_and_for_all_together(tmp_path: Path) -> None:
    alone = ran("x = bytearray(300 << 20)", tmp_path)
    assert (alone.how, b"MemoryError" in alone.output) == (CommandEnd.EXIT, True)
    several = (
        "import os, time\nfor _ in range(5):\n    if os.fork() == 0: break\nx = bytearray(60 << 20)\ntime.sleep(60)"
    )
    assert ran(several, tmp_path).how == CommandEnd.MEMORY


def test_what_takes_too_long_is_ended(tmp_path: Path) -> None:
    ended = ran("print('begun', flush=True)\nimport time; time.sleep(600)", tmp_path, seconds=1)
    assert (ended.how, ended.code, ended.output) == (CommandEnd.TIME, -signal.SIGTERM, b"begun\n")


def test_what_a_command_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    code = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        os.close(1); os.close(2)\n"
        "        open('pid', 'w').write(str(os.getpid()))\n"
        "        time.sleep(600)\n"
        "    os._exit(0)\n"
        "while not os.path.exists('pid') or not open('pid').read(): time.sleep(0.01)\n"
    )
    assert ran(code, tmp_path).how == CommandEnd.EXIT
    assert not is_there(int((tmp_path / "pid").read_text()))


def test_a_command_that_cannot_be_started_says_why(tmp_path: Path) -> None:
    ended = ran(["/nowhere/pytest"], tmp_path)
    assert (ended.how, ended.why) == (CommandEnd.UNSTARTED, "No such file or directory")


def test_where_a_system_cannot_hold_together_what_a_command_starts_none_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = json.dumps({"seconds": 60, "memory": 200 << 20, "processes": 60})
    code = f"open({str(tmp_path / 'started')!r}, 'w')"
    monkeypatch.setattr(sys, "argv", ["guard.py", limits, sys.executable, "-c", code])
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(prctl=lambda *_: -1))
    with pytest.raises(OSError, match="cannot hold together"):
        guard.main()
    assert list(tmp_path.iterdir()) == []


def test_a_command_dies_with_the_program_that_started_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)"]
    program = (
        "from workspaces.commands.process import *\n"
        f"limits = Limits(seconds=600, output=1000, memory=1 << 30, processes=50)\n"
        f"execute({command!r}, {str(tmp_path)!r}, limits, environment(), lambda output: None)\n"
    )
    root = Path(__file__).parents[2]
    with subprocess.Popen([sys.executable, "-c", program], cwd=root) as server:
        pid = tmp_path / "pid"
        assert waited(lambda: pid.exists() and pid.read_text() != "")
        assert is_there(int(pid.read_text()))
        server.kill()
    assert waited(lambda: not is_there(int(pid.read_text())))


def waited(holds: Any, seconds: float = 30) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until and not holds():
        time.sleep(0.02)
    return bool(holds())


def test_what_a_terminal_reads_is_taken_out_and_the_end_is_told() -> None:
    text = printed(b"\x1b[31mred\x1b[0m \x00\xff\r\n10 %\r20 %\rdone\n" + b"x\n" * 9 + b"2 failed\n")
    assert text.startswith("red \ufffd\ndone\nx\n")
    assert tail(text, 3, 100, len) == "x\nx\n2 failed"
    assert tail(text, 30, 4, len) == "2 failed"


# In a conversation.


@pytest.fixture
def shop(root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Workspace:
    monkeypatch.setattr(worker, "start", lambda pk: None)
    settings.CCM_WORKSPACE_COMMANDS = {
        "test": [sys.executable, "check.py", "..."],
        "build": [sys.executable, "-c", "print('built')"],
    }
    write(root, check_py="import sys\nprint('checked', sys.argv[1:])\nsys.exit(len(sys.argv) - 1)\n")
    return indexed(workspace)


@pytest.mark.usefixtures("shop")
def test_the_list_shows_each_command_as_a_shell_would_take_it() -> None:
    lines = {one.name: one.line for one in offered_views()}
    assert lines == {
        "test": f"{sys.executable} check.py",
        "build": shlex.join([sys.executable, "-c", "print('built')"]),
    }


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run to their end where they are started, and not by a thread."""
    monkeypatch.setattr(running, "start", running.run)


def proposed(run: Run, **arguments: Any) -> dict[str, Any]:
    call = ToolCall(id="c", name="run_command", arguments=json.dumps(arguments))
    result: dict[str, Any] = json.loads(run_tool(call, ToolContext(run=run)))
    return result


def told(session: Session) -> str:
    chosen = chosen_settings(session)
    return json.dumps(plan(next_inputs(main_branch(session), chosen, "What does check do?", None)).request)


@pytest.mark.usefixtures("here")
def test_a_model_proposes_a_person_allows_and_the_model_is_told(
    run: Run, shop: Workspace, session: Session, alice: User
) -> None:
    answer = proposed(run, name="test", words="-k 'a and b; rm -rf /'", why="To be sure.")
    command = CommandRun.objects.get(pk=answer["command"])
    assert (command.state, command.argv[1:]) == ("proposed", ["check.py", "-k", "a and b; rm -rf /"])
    assert Event.objects.filter(kind="workspace.command_started").count() == 0
    allow_command(command, actor=alice)
    command.refresh_from_db()
    assert (command.state, command.end, command.exit_code) == ("ended", "exit", 2)
    assert "checked ['-k', 'a and b; rm -rf /']" in command.output
    prompt = told(session)
    assert "The user allowed your command test," in prompt
    assert "exit status 2. The end of its output:" in prompt
    event = Event.objects.get(kind="workspace.command_ended")
    assert (event.data["end"], event.data["exit_code"]) == ("exit", 2)


def test_what_is_not_allowed_is_not_run(run: Run, shop: Workspace, session: Session, alice: User) -> None:
    command = CommandRun.objects.get(pk=proposed(run, name="build")["command"])
    decline_command(command, actor=alice)
    with pytest.raises(Refused, match="declined already"):
        allow_command(command, actor=alice)
    assert "The user did not allow your command build" in told(session)
    assert command.output == ""


@pytest.mark.parametrize(
    ("name", "words", "why"),
    [
        ("rm", "", "name must be one of: test, build"),
        ("build", "-x", "build takes no more words"),
        ("test", "'open", "no closing quotation"),
        ("test", "x " * 900, "That is too much"),
    ],
)
def test_what_is_not_on_the_list_is_refused_with_what_there_is(
    run: Run, shop: Workspace, name: str, words: str, why: str
) -> None:
    assert why in proposed(run, name=name, words=words)["error"]
    assert not CommandRun.objects.exists()


def test_a_proposal_does_not_outlive_the_list(run: Run, shop: Workspace, settings: Any, alice: User) -> None:
    command = CommandRun.objects.get(pk=proposed(run, name="build")["command"])
    settings.CCM_WORKSPACE_COMMANDS = {"build": ["make"]}
    with pytest.raises(Refused, match="list of commands has changed"):
        allow_command(command, actor=alice)


def test_words_that_the_list_takes_no_more_are_not_run(run: Run, shop: Workspace, settings: Any, alice: User) -> None:
    command = CommandRun.objects.get(pk=proposed(run, name="test", words="-k cart")["command"])
    settings.CCM_WORKSPACE_COMMANDS = {
        "test": [word for word in settings.CCM_WORKSPACE_COMMANDS["test"] if word != "..."]
    }
    with pytest.raises(Refused, match="takes no more words"):
        allow_command(command, actor=alice)
    command.refresh_from_db()
    assert command.state == "proposed"


@pytest.mark.usefixtures("here")
def test_a_person_runs_one_on_the_page_and_of_several_runs_the_newest_is_told(
    as_alice: Client, run: Run, shop: Workspace, session: Session
) -> None:
    address = reverse("commands", args=[session.pk])
    assert "Run test" in as_alice.get(address).text
    for words in ("one two", "one"):
        assert as_alice.post(address, {"name": "test", "words": words}).status_code == 302
    command = CommandRun.objects.order_by("-pk")[0]
    assert command.turn == run.turn
    shown = as_alice.get(command.get_absolute_url()).text
    assert ("Failed, exit status 1" in shown, "checked [&#x27;one&#x27;]" in shown) == (True, True)
    prompt = told(session)
    assert ("checked ['one']" in prompt, "checked ['one', 'two']" in prompt) == (True, False)
    assert "build takes no more words" in as_alice.post(address, {"name": "build", "words": "x"}).text
    german = as_alice.post(address, {"name": "test", "words": "'"}, headers={"accept-language": "de"}).text
    assert "lassen sich nicht lesen: ein Anführungszeichen ist nicht geschlossen." in german
    assert as_alice.post(address, {"name": "rm"}).status_code == 422


def test_one_command_runs_in_a_folder_at_a_time_and_can_be_stopped(
    as_alice: Client, shop: Workspace, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "start", lambda *_: None)
    command = start_command(session, "build", actor=alice)
    with pytest.raises(Refused, match="build is running in this folder"):
        start_command(session, "test", actor=alice)
    shown = as_alice.get(command.get_absolute_url(), headers=PAGE).text
    assert ("Stop" in shown, 'hx-trigger="every 1s"' in shown) == (True, True)
    # Asked for before it has begun to print: as it comes to that, it is told to end.
    stop_command(command, actor=alice)
    command.argv = [sys.executable, "-c", "import time; time.sleep(600)"]
    running.run(command, str(shop.root), commands.settle)
    command.refresh_from_db()
    assert (command.state, command.end) == ("ended", "person")
    after = as_alice.get(command.get_absolute_url()).text
    assert ("It was stopped." in after, "every 1s" in after) == (True, False)
    assert as_alice.post(command.get_absolute_url(), {"verb": "stop"}, headers=PAGE).status_code == 422


def test_how_a_command_ended_is_said_in_words_beside_what_was_shown(
    as_alice: Client, run: Run, shop: Workspace, session: Session
) -> None:
    for end in CommandEnd:
        given = {"session": session, "branch": run.branch, "turn": run.turn, "workspace": shop, "argv": ["make", "all"]}
        CommandRun.objects.create(name=str(end), state="ended", end=end, exit_code=0, **given)
    address = reverse("code_outcomes", args=[session.pk])
    for language, words in (("en", "stopped by you"), ("de", "ließ sich nicht starten")):
        shown = as_alice.get(address, headers={"accept-language": language}).text
        assert words in shown
        assert not [end for end in CommandEnd if f": {end}<" in shown]


def test_the_page_shows_what_is_printed_while_it_runs(
    as_alice: Client, shop: Workspace, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = []

    def prints(argv: Any, folder: str, limits: Any, given: Any, tell: Any) -> Ended:
        assert tell(b"begun\n") is None
        shown.append(as_alice.get(CommandRun.objects.get().get_absolute_url(), headers=PAGE).text)
        return Ended(how=CommandEnd.EXIT, code=0, output=b"begun\nover\n")

    monkeypatch.setattr(running, "execute", prints)
    monkeypatch.setattr(running, "start", running.run)
    start_command(session, "build", actor=alice)
    (while_it_ran,) = shown
    assert ("begun" in while_it_ran, "over" in while_it_ran, "every 1s" in while_it_ran) == (True, False, True)
    assert "over" in as_alice.get(CommandRun.objects.get().get_absolute_url()).text


def test_a_command_whose_server_is_gone_has_ended(
    as_alice: Client, shop: Workspace, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "start", lambda *_: None)
    command = start_command(session, "build", actor=alice)
    monkeypatch.setattr(running, "GONE", -1)
    assert "Whoever ran it is gone" in as_alice.get(command.get_absolute_url()).text
    command.refresh_from_db()
    assert (command.state, command.end) == ("ended", "lost")


def test_a_command_that_takes_long_is_not_lost_while_whoever_runs_it_is_there(
    as_alice: Client, shop: Workspace, session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "start", lambda *_: None)
    command = start_command(session, "build", actor=alice)
    now = timezone.now()
    CommandRun.objects.filter(pk=command.pk).update(started_at=now - timedelta(hours=1), alive_at=now)
    as_alice.get(command.get_absolute_url())
    command.refresh_from_db()
    assert command.state == "running"


def test_without_a_list_nothing_is_offered(run: Run, shop: Workspace, session: Session, settings: Any) -> None:
    names = {tool["function"]["name"] for tool in next_inputs(run.branch, run.settings, "x", None).tools}
    assert "run_command" in names
    settings.CCM_WORKSPACE_COMMANDS = {}
    names = {tool["function"]["name"] for tool in next_inputs(run.branch, run.settings, "x", None).tools}
    assert "run_command" not in names


def test_nobody_else_sees_or_runs_a_command(as_bob: Client, run: Run, shop: Workspace) -> None:
    command = CommandRun.objects.get(pk=proposed(run, name="build")["command"])
    assert as_bob.get(command.get_absolute_url()).status_code == 404
    assert as_bob.post(command.get_absolute_url(), {"verb": "allow"}).status_code == 404
    assert as_bob.post(reverse("commands", args=[command.session_id]), {"name": "build"}).status_code == 404
    command.refresh_from_db()
    assert command.state == "proposed"
