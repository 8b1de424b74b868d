"""What the documents name is there, and every event is described."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.core.management import get_commands

from tests.house.process import ROOT
from tests.house.test_specification import exists, is_address

SPECIFICATION = "docs/specification.md"  # has a test of its own
PAGES = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = ["README.md", *(page for page in PAGES if page != SPECIFICATION)]
# What events are of.
TOPICS = (
    "session|branch|turn|run|plan|message|effort|constraint|ledger|hold|checker|compaction|review|seed|command|file"
)
# Where a name without a folder may stand.
FOLDERS = (
    *("", "efforts", "efforts/domain/prompt", "compaction", "compaction/domain", "workspaces", "static/js"),
    "tests/workspaces",
)


def read(document: str) -> str:
    return (ROOT / document).read_text()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_to_files(document: str) -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)", read(document))
    assert [link for link in links if not ((ROOT / document).parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_files_are_there(document: str) -> None:
    names = re.findall(r"`([\w./-]+\.(?:py|md|js|css|toml|html))(?:::\w+)?`", read(document))
    assert [name for name in names if not any((ROOT / folder / name).exists() for folder in FOLDERS)] == []


def test_each_line_of_attached_code_names_tests_that_are_there() -> None:
    table = read("docs/workspaces.md").partition("## What was asked for, and its test")[2].partition("\n## ")[0]
    rows = [re.findall(r"`([\w./]+::\w+)`", line) for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 20
    assert [row for row in rows if not row] == []
    names = [name if "/" in name else f"tests/workspaces/{name}" for row in rows for name in row]
    assert [name for name in names if not exists(name)] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_commands_exist(document: str) -> None:
    assert set(re.findall(r"manage\.py (\w+)", read(document))) <= set(get_commands())


def test_named_addresses_lead_to_pages() -> None:
    addresses = re.findall(r"`(/[\w/-]+/)`", read("README.md"))
    assert len(addresses) >= 3
    assert [address for address in addresses if not is_address(address)] == []


def test_every_event_is_described_and_no_other() -> None:
    table = read("docs/events.md").partition("## Events")[2].partition("\n## ")[0]
    modules = [
        path for app in ("benchmarks", "efforts", "compaction", "workspaces") for path in (ROOT / app).rglob("*.py")
    ]
    code = "".join(path.read_text() for path in modules)
    written = set(re.findall(rf'"((?:{TOPICS}|workspace)\.[a-z_]+)"', code))
    of_accounts = set(re.findall(r'account\([^)]*?"([a-z]+\.[a-z_]+)"', code))
    assert described(table) == written - of_accounts


def described(table: str) -> set[str]:
    return {kind for line in table.splitlines() if line.startswith("| `") for kind in first_cell(line)}


def first_cell(line: str) -> list[str]:
    return re.findall(r"`([a-z]+\.[a-z_]+)`", line.split("|")[1])


def test_the_glossary_is_short_and_each_row_it_names_is_in_the_database() -> None:
    rows = re.findall(r"^\| ([^|]+) \| (?:`(\w+)`)? ?\| ", read("docs/glossary.md"), re.MULTILINE)[1:]
    assert 20 <= len(rows) <= 30
    models = {
        model.__name__
        for name in ("efforts", "compaction", "workspaces")
        for model in apps.get_app_config(name).get_models()
    }
    assert {name for _, name in rows if name} - models == set()
    [effort] = re.findall(r"^\| effort \|.*$", read("docs/glossary.md"), re.MULTILINE)
    for state in ("active", "open", "expanded", "concluded", "evicted"):
        assert re.search(rf"\b{state}\b", effort), state
