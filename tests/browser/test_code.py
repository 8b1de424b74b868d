"""Attached code, from the question to the outcome: cards, a link to lines, a diff, the tests, what came of it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.detection.recorded import ChatServer, export
from benchmarks.gates.pending import record_at
from benchmarks.gates.record import listening, read_record
from tests.browser.conftest import PHONE, Visitor, begin, is_in_state, is_live, looks, say, serving, turn, visit
from tests.browser.test_conversation import Album
from tests.fakes.provider import Call, FakeProvider, Reply

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TAX = """RATE = 19


def add_tax(net):
    # In cents.
    return net
"""
DIFF = """@@ -1,1 +1,1 @@
-RATE = 19
+RATE = 7
@@ -5,2 +5,2 @@
     # In cents.
-    return net
+    return net * (100 + RATE) // 100
"""
# Of a small shop, for a model whose replies are recorded.
SHOP = {
    "shop/tax.py": '''"""Taxes of the shop. Amounts are whole cents.

VTA is looked up by country.
"""

RATES = {"de": 19, "fr": 20, "ch": 8}


def rate_of(country):
    """Percent; of a country that is not listed that of Germany."""
    return RATES.get(country, RATES["de"])


def add_tax(net, country="de"):
    """What a customer pays."""
    return net
''',
    "shop/cart.py": '''"""What somebody wants to buy."""

from shop.tax import add_tax


def total(prices, country="de"):
    """Of all that is in the cart, tax included."""
    return add_tax(sum(prices), country)
''',
    "check.py": """from shop.cart import total
from shop.tax import add_tax

assert add_tax(100) == 119, add_tax(100)
assert add_tax(99, "ch") == 106, add_tax(99, "ch")
assert total([50, 50], "fr") == 120, total([50, 50], "fr")
print("3 passed")
""",
}
RECORD = Path(__file__).with_name("code_record.jsonl")
STALE = """The record is stale, export again:
    CCM_EXPORT=DIR .venv/bin/pytest tests/browser/test_code.py -m browser -n 0 -k recorded
and take in what somebody who has read only these requests answers:
    CCM_ANSWERS=DIR CCM_BY=NAME .venv/bin/pytest tests/browser/test_code.py -m browser -n 0 -k recorded
until no request is without an answer."""
CHECK = "from shop.tax import add_tax\n\nassert add_tax(100) == 119, add_tax(100)\nprint('1 passed')\n"


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {
        "CCM_WORKSPACE_ROOTS": str(tmp_path_factory.mktemp("code")),
        "CCM_WORKSPACE_COMMANDS": json.dumps({"test": [sys.executable, "check.py", "..."]}),
    }


@pytest.fixture
def shop(settings: dict[str, str]) -> Path:
    folder = Path(settings["CCM_WORKSPACE_ROOTS"]) / f"shop-{uuid4().hex[:6]}"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "tax.py").write_text(TAX)
    (folder / "check.py").write_text(CHECK)
    return folder


@pytest.fixture
def coder(chromium: Browser, provider: FakeProvider, settings: dict[str, str], tmp_path: Path) -> Iterator[Visitor]:
    """Whose model a test directs."""
    model = {"CCM_MODEL_URL": provider.url, "CCM_MODEL_NAME": "scripted"}
    with serving(chromium, tmp_path / "home", **settings, **model) as served:
        yield from visit(chromium, *served)


@pytest.fixture
def unaided(chromium: Browser, settings: dict[str, str], tmp_path: Path) -> Iterator[Visitor]:
    """Whom the built-in engine answers."""
    with serving(chromium, tmp_path / "home", **settings) as served:
        yield from visit(chromium, *served)


def attach(page: Page, folder: Path) -> str:
    """To a conversation that begins here; its address."""
    begin(page, "Hello.")
    address = page.url
    page.goto(f"{address}code/")
    page.get_by_label("Folder").fill(str(folder))
    page.get_by_role("button", name="Attach folder").click()
    expect(page.get_by_text("Ready")).to_be_visible()
    return address


@looks(1280, "light")
def test_from_a_question_about_code_to_what_came_of_it(
    coder: Visitor, provider: FakeProvider, shop: Path, width: int, theme: str, tmp_path: Path
) -> None:
    page = coder.page(width=width, theme=theme)
    album = Album(Path(os.environ.get("CCM_SHOTS", tmp_path)), f"code-{width}-{theme}")
    address = attach(page, shop)

    # Where something is defined: a card with its reason, and an answer that leads to the lines.
    provider.script = [Reply("It is defined in [shop/tax.py:4-6].")]
    page.goto(address)
    is_live(page)
    say(page, "Where is add_tax defined?")
    is_in_state(page, 2, "completed")
    assert "@ shop/tax.py:4-6 function shop.tax.add_tax" in json.dumps(provider.requests[-1]["messages"])
    album.take(page, "answer")
    turn(page, 2).get_by_role("link", name="[shop/tax.py:4-6]").click()
    expect(page.locator("#L4")).to_contain_text("def add_tax")
    assert page.url.endswith("/shop/tax.py#L4")

    # A change: one part is rejected, the other written; then the tests are run.
    sha256 = hashlib.sha256(TAX.encode()).hexdigest()
    edit = Call.of("propose_edit", id="call_2", path="shop/tax.py", sha256=sha256, diff=DIFF, why="Tax was not added.")
    provider.script = [
        Reply(calls=(edit, Call.of("run_command", id="call_3", name="test", why="To see whether it holds."))),
        Reply("`add_tax` adds the tax now, once you accept it. I lowered the rate too."),
    ]
    page.goto(address)
    is_live(page)
    say(page, "Make add_tax add the tax.")
    is_in_state(page, 3, "completed")
    proposal = turn(page, 3).locator(".proposal").filter(has_text="Part 2")
    proposal.get_by_role("checkbox", name="Part 1").uncheck()
    album.take(page, "diff")
    proposal.get_by_role("button", name="Write the ticked parts").click()
    expect(proposal).to_contain_text("Written")
    assert (shop / "shop" / "tax.py").read_text() == TAX.replace("return net\n", "return net * (100 + RATE) // 100\n")
    command = turn(page, 3).locator(".proposal").filter(has_text="check.py")
    command.get_by_role("button", name="Run it").click()
    expect(command).to_contain_text("Passed, exit status 0")
    expect(command.locator(".output")).to_have_text("1 passed")
    album.take(page, "tested")

    # The next prompt says so, the plan and the page of outcomes too.
    say(page, "Is add_tax right now?")
    is_in_state(page, 4, "completed")
    sent = json.dumps(provider.requests[-1]["messages"])
    assert "The user accepted your edit of shop/tax.py: parts 2 of 2; the others were not." in sent
    assert "exit status 0. The end of its output:\\n1 passed" in sent
    page.goto(f"{address}code/outcomes/")
    third = page.locator("section.card").filter(has_text="Turn 3")
    expect(third).to_contain_text("1 of 2 parts accepted")
    expect(third).to_contain_text("exit status 0")
    expect(third).to_contain_text("the answer names it")
    album.take(page, "outcomes")
    third.get_by_role("link", name="Plan").click()
    expect(page.locator("#outcome")).to_contain_text("Written, 1 of 2 parts")
    expect(page.locator("#outcome")).to_contain_text("Passed, exit status 0")
    album.take(page, "plan")
    page.goto(f"{address}code/pins/")
    page.get_by_label("A path, lines of a file, or a name").fill("shop/tax.py:1")
    page.get_by_role("button", name="Pin", exact=True).first.click()
    expect(page.locator(".pin-list").first).to_contain_text("shop/tax.py:1")
    album.take(page, "pins")
    page.goto(f"{address}commands/")
    album.take(page, "commands")


def test_a_part_that_is_unticked_stays_so_when_its_turn_is_drawn_anew(
    coder: Visitor, provider: FakeProvider, shop: Path
) -> None:
    page = coder.page()
    address = attach(page, shop)
    sha256 = hashlib.sha256(TAX.encode()).hexdigest()
    edit = Call.of("propose_edit", id="call_2", path="shop/tax.py", sha256=sha256, diff=DIFF)
    provider.script = [Reply(calls=(edit,)), Reply("Yours to decide.")]
    page.goto(address)
    is_live(page)
    say(page, "Make add_tax add the tax.")
    is_in_state(page, 2, "completed")
    first = turn(page, 2).get_by_role("checkbox", name="Part 1")
    first.press("Space")
    turn(page, 2).locator(".reply .tools summary").press("Enter")
    turn(page, 2).get_by_role("button", name="A bad answer").press("Enter")
    expect(turn(page, 2).locator(".verdict")).to_be_visible()
    expect(turn(page, 2).locator(".proposal")).to_be_visible()
    expect(first).not_to_be_checked()
    turn(page, 2).get_by_role("button", name="Write the ticked parts").click()
    expect(turn(page, 2).locator(".proposal")).to_contain_text("Written")
    assert (shop / "shop" / "tax.py").read_text() == TAX.replace("return net\n", "return net * (100 + RATE) // 100\n")


def test_without_a_model_the_lines_are_quoted_and_a_person_runs_the_tests(unaided: Visitor, shop: Path) -> None:
    page = unaided.page()
    address = attach(page, shop)
    page.goto(address)
    is_live(page)
    say(page, "Where is add_tax defined?")
    is_in_state(page, 2, "completed")
    expect(turn(page, 2)).to_contain_text("This is in the attached code")
    # What is defined there stands before what only uses it.
    expect(turn(page, 2).locator("blockquote").first).to_contain_text("def add_tax")
    turn(page, 2).get_by_role("link", name="[shop/tax.py:4-6]").first.click()
    expect(page.locator("#L4")).to_contain_text("def add_tax")
    page.goto(f"{address}commands/")
    page.get_by_label("More words for test").fill("'; touch made'")
    page.get_by_role("button", name="Run test").click()
    expect(page.locator(".proposal")).to_contain_text("Failed, exit status 1")
    expect(page.locator(".output")).to_contain_text("AssertionError: 100")
    assert not (shop / "made").exists()
    page.goto(f"{address}code/outcomes/")
    second = page.locator("section.card").filter(has_text="Turn 2")
    expect(second).to_contain_text("exit status 1")
    expect(second).to_contain_text("the answer cites its lines")


def test_a_person_finds_code_by_words_or_a_name_and_the_way_back_leads_to_what_was_found(
    unaided: Visitor, shop: Path
) -> None:
    page = unaided.page(width=PHONE, theme="dark")
    attach(page, shop)
    page.get_by_role("link", name="Files and symbols").click()
    field = page.get_by_role("searchbox", name="Search code and files")
    field.fill("add_tax")
    found = page.locator("#code-found .found a")
    expect(found.first).to_have_text("shop.tax.add_tax")
    assert page.locator(".page").evaluate("node => node.scrollWidth <= node.clientWidth")
    field.press("Tab")
    page.keyboard.press("Tab")
    expect(found.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#L4")).to_contain_text("def add_tax")
    page.go_back()
    expect(field).to_have_value("add_tax")
    expect(found.first).to_have_text("shop.tax.add_tax")
    field.fill("nowhere at all")
    expect(page.get_by_text("No name and no text has “nowhere at all”.")).to_be_visible()


def test_no_page_of_code_is_wider_than_a_phone_however_long_its_words(
    chromium: Browser, shop: Path, tmp_path: Path
) -> None:
    name = "add_tax_" + "and_then_some_more_" * 4
    (shop / "shop" / "tax.py").write_text(f"def {name}(net):\n    return net\n")
    command = json.dumps({"test": [sys.executable, "-c", "'many words'" * 20, "..."]})
    roots = {"CCM_WORKSPACE_ROOTS": str(shop.parent), "CCM_WORKSPACE_COMMANDS": command}
    with serving(chromium, tmp_path / "home", **roots) as served:
        for visitor in visit(chromium, *served):
            page = visitor.page(width=PHONE)
            address = attach(page, shop)
            page.goto(address)
            is_live(page)
            say(page, f"Where is {name} defined?")
            is_in_state(page, 2, "completed")
            for part in ("code/", "code/outcomes/", "code/pins/", "commands/"):
                page.goto(f"{address}{part}")
                assert page.locator(".page").evaluate("node => node.scrollWidth <= node.clientWidth"), part


PATIENT = "import signal\nfor number in range(60):\n    print('step', number, flush=True)\nsignal.pause()\n"
LAST_LINE_IS_SEEN = """pre => {
  const end = document.createRange();
  end.selectNodeContents(pre);
  const line = [...end.getClientRects()].at(-1), frame = pre.getBoundingClientRect();
  return pre.scrollHeight > pre.clientHeight && line.bottom <= frame.bottom && line.top >= frame.top;
}"""


def test_who_works_by_keyboard_keeps_the_place_and_sees_what_is_printed_last(
    coder: Visitor, provider: FakeProvider, shop: Path
) -> None:
    page = coder.page()
    coder.watch.expect("422")
    (shop / "check.py").write_text(PATIENT)
    begin(page, "Hello.")
    address = page.url
    page.goto(f"{address}code/")
    folder = page.get_by_label("Folder")
    folder.fill("/etc")
    folder.press("Enter")
    expect(page.locator("#code-error")).to_contain_text("not below one that is allowed")
    expect(folder).to_be_focused()
    folder.fill(str(shop))
    folder.press("Enter")
    expect(page.get_by_role("button", name="Detach")).to_be_visible()
    expect(page.locator("#code")).to_be_focused()
    expect(page.get_by_text("Ready")).to_be_visible()
    expect(page.locator("#code")).to_be_focused()

    sha256 = hashlib.sha256(TAX.encode()).hexdigest()
    edit = Call.of("propose_edit", id="call_2", path="shop/tax.py", sha256=sha256, diff=DIFF)
    provider.script = [Reply(calls=(edit, Call.of("run_command", id="call_3", name="test"))), Reply("Yours to decide.")]
    page.goto(address)
    is_live(page)
    say(page, "Make add_tax add the tax.")
    is_in_state(page, 2, "completed")
    proposal = turn(page, 2).locator(".proposal").filter(has_text="Part 2")
    for part in ("Part 1", "Part 2"):
        proposal.get_by_role("checkbox", name=part).press("Space")
    write = proposal.get_by_role("button", name="Write the ticked parts")
    write.press("Enter")
    expect(proposal.get_by_role("alert")).to_contain_text("No part is ticked")
    expect(write).to_be_focused()
    proposal.get_by_role("checkbox", name="Part 2").press("Space")
    write.press("Enter")
    expect(proposal).to_contain_text("Written")
    expect(proposal).to_be_focused()
    page.keyboard.press("Tab")
    proposal.get_by_role("button", name="Undo").press("Enter")
    expect(proposal).to_contain_text("Undone")
    expect(proposal).to_be_focused()

    command = turn(page, 2).locator(".proposal").filter(has_text="check.py")
    command.get_by_role("button", name="Run it").press("Enter")
    expect(command.locator(".output")).to_contain_text("step 59")
    stop = command.get_by_role("button", name="Stop")
    stop.focus()
    # It is read again each second.
    with page.expect_response(lambda response: "/commands/" in response.url):
        pass
    expect(stop).to_be_focused()
    assert command.locator(".output").evaluate(LAST_LINE_IS_SEEN)
    stop.press("Enter")
    expect(command).to_contain_text("Stopped")
    expect(command).to_be_focused()
    assert command.locator(".output").evaluate(LAST_LINE_IS_SEEN)


def test_a_folder_is_attached_in_the_settings_on_a_phone(unaided: Visitor, shop: Path) -> None:
    page = unaided.page(width=PHONE, language="de-DE")
    page.goto("/")
    page.locator("#text").fill("Hello.")
    page.get_by_role("button", name="Senden", exact=True).click()
    page.wait_for_url("**/s/*/")
    is_live(page)
    is_in_state(page, 1, "completed")
    page.locator("#chosen-model").click()
    page.get_by_label("Ordner").fill(str(shop))
    page.get_by_role("button", name="Ordner anhängen").click()
    expect(page.get_by_text("Bereit")).to_be_visible()
    dialog = page.locator("#dialog")
    assert dialog.evaluate("node => node.scrollWidth <= node.clientWidth")
    # The line that opened it may have been read again meanwhile.
    page.locator("#meter").evaluate("node => node.querySelector('#chosen-model').outerHTML += ''")
    page.keyboard.press("Escape")
    expect(page.locator("#chosen-model")).to_be_focused()


@pytest.fixture
def strong() -> Iterator[ChatServer]:
    """A model that answers what it was asked when its replies were recorded."""
    answers = os.environ.get("CCM_ANSWERS")
    record = record_at(RECORD, answers=Path(answers) if answers else None, by=os.environ.get("CCM_BY", ""))
    with listening(ChatServer(record=record)) as server:
        yield server


def must_be_whole(server: ChatServer) -> None:
    if server.waiting and (folder := os.environ.get("CCM_EXPORT")):
        export(server.waiting, Path(folder))
    if server.waiting:
        pytest.fail(STALE)


def ask(page: Page, server: ChatServer, number: int, text: str) -> None:
    """And have an answer, of a record that has it."""
    say(page, text)
    expect(turn(page, number)).to_have_attribute("data-state", re.compile("completed|failed"))
    must_be_whole(server)
    is_in_state(page, number, "completed")


def test_a_recorded_strong_model_from_a_question_to_what_came_of_it(
    chromium: Browser, strong: ChatServer, tmp_path: Path
) -> None:
    folder = tmp_path / "roots" / "shop"
    for path, text in SHOP.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    settings = {
        "CCM_WORKSPACE_ROOTS": str(folder.parent),
        "CCM_WORKSPACE_COMMANDS": json.dumps({"test": ["python3", "check.py"]}),
        "CCM_MODEL_URL": strong.url,
        "CCM_MODEL_NAME": "recorded",
    }
    with serving(chromium, tmp_path / "home", **settings) as served:
        for visitor in visit(chromium, *served):
            walk(visitor, strong, folder)
    assert strong.used == set(strong.record.answers)


def walk(visitor: Visitor, strong: ChatServer, folder: Path) -> None:
    page, rows = visitor.page(), visitor.app.rows
    begin(page, "Hello.")
    expect(turn(page, 1)).to_have_attribute("data-state", re.compile("completed|failed"))
    must_be_whole(strong)
    address = page.url
    page.goto(f"{address}code/")
    page.get_by_label("Folder").fill(str(folder))
    page.get_by_role("button", name="Attach folder").click()
    expect(page.get_by_text("Ready")).to_be_visible()

    # Where something is defined: a card with its reason in the plan, and an answer that leads to the lines.
    page.goto(address)
    is_live(page)
    ask(page, strong, 2, "Where is add_tax defined, and what calls it?")
    shown = {title: why for title, why, is_in in cards_of_turn(visitor, 2) if is_in}
    assert "Your message names it." in shown["shop.tax.add_tax"]
    turn(page, 2).get_by_role("link", name="[shop/tax.py:14]").click()
    expect(page.locator("#L14")).to_contain_text("def add_tax")

    # A change: one part is rejected, the other written, and nothing else; then the tests are run.
    page.goto(address)
    is_live(page)
    ask(
        page,
        strong,
        3,
        "add_tax gives back the net amount. Make it add the tax, rounded down to whole cents, and correct the typing "
        "mistake in the first docstring of that file (VTA), both in one edit. Then run the tests.",
    )
    assert (folder / "shop/tax.py").read_text() == SHOP["shop/tax.py"]
    proposal = turn(page, 3).locator(".proposal").filter(has_text="Part 2")
    expect(proposal).to_contain_text("VAT is looked up by country.")
    proposal.get_by_role("checkbox", name="Part 1").uncheck()
    proposal.get_by_role("button", name="Write the ticked parts").click()
    expect(proposal).to_contain_text("Written")
    added = "return net + net * rate_of(country) // 100\n"
    files = {**SHOP, "shop/tax.py": SHOP["shop/tax.py"].replace("return net\n", added)}
    assert {path: (folder / path).read_bytes().decode() for path in SHOP} == files
    command = turn(page, 3).locator(".proposal").filter(has_text="check.py")
    command.get_by_role("button", name="Run it").click()
    expect(command).to_contain_text("Passed, exit status 0")
    expect(command.locator(".output")).to_have_text("3 passed")
    assert rows("SELECT path, state, accepted FROM workspaces_proposededit") == [("shop/tax.py", "applied", "[1]")]
    assert rows('SELECT name, state, "end", exit_code, run_id IS NULL FROM workspaces_commandrun') == [
        ("test", "ended", "exit", 0, 0)
    ]

    # The model knows, and so do the page of outcomes and the plan.
    ask(page, strong, 4, "What is written now, and do the tests pass?")
    page.goto(f"{address}code/outcomes/")
    third = page.locator("section.card").filter(has_text="Turn 3")
    expect(third).to_contain_text("1 of 2 parts accepted")
    expect(third).to_contain_text("exit status 0")
    third.get_by_role("link", name="Plan").click()
    expect(page.locator("#outcome")).to_contain_text("Written, 1 of 2 parts")
    expect(page.locator("#outcome")).to_contain_text("Passed, exit status 0")


def cards_of_turn(visitor: Visitor, number: int) -> list[tuple[str, str, bool]]:
    """Of the plan of its first call: each symbol with why it was found, and whether it is in."""
    query = """
        SELECT body FROM efforts_contextplan AS plan JOIN efforts_run AS run ON run.id = plan.run_id
        JOIN efforts_turn AS turn ON turn.id = run.turn_id WHERE turn.number = ? AND plan.call = 1"""
    [(body,)] = visitor.app.rows(query, number)
    items = [one for one in json.loads(body)["items"] if one["section"] == "code" and "why" in one["values"]]
    return [(one["title"], one["values"]["why"], one["included"]) for one in items]


def test_a_record_that_lacks_a_reply_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CCM_EXPORT", str(tmp_path))
    with listening(ChatServer(record=read_record(RECORD))) as server:
        must_be_whole(server)
        server.stream({"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello."}]})
        with pytest.raises(pytest.fail.Exception, match="stale, export again:\n    CCM_EXPORT=DIR"):
            must_be_whole(server)
    assert "Hello." in next(tmp_path.glob("*.md")).read_text()
