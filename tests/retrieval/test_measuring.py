"""`manage.py recall`: what is found, and what stands in the prompt, on conversations whose evidence is known."""

from __future__ import annotations

import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from efforts.models import Session

Row = dict[str, Any]

CHATTER = (
    "The weather has been grey for days and nobody minds it much.",
    "Lunch was late again because the lift stood still.",
    "My neighbour paints the fence in a green that hurts the eyes.",
    "The train home was full of people with umbrellas.",
)


def chatter(session: int) -> list[Row]:
    """Six hundred words that no question asks about."""
    return [
        {"session": session, "role": role, "speaker": name, "text": f"{text} Day {session} of many. " * 4}
        for text in CHATTER
        for role, name in (("user", "Ann"), ("assistant", "Bob"))
    ]


def talk() -> Row:
    told = {
        2: "My sister plays the clarinet in the harbour orchestra.",
        4: "We booked the cabin at Lake Mirin for the second week of August.",
    }
    messages: list[Row] = []
    for session in range(1, 6):
        messages += chatter(session)
        if session in told:
            said = {
                "session": session,
                "role": "user",
                "speaker": "Ann",
                "text": told[session],
                "id": f"told-{session}",
            }
            messages += [said, {"session": session, "role": "assistant", "speaker": "Bob", "text": "How nice!"}]
    questions: list[tuple[str, str, Row]] = [
        ("What instrument does Ann's sister play?", "who", {"evidence": ["told-2"]}),
        ("Which cabin was booked for August?", "when", {"evidence_spans": [["told-4", "told-4"]]}),
        ("In which orchestra is the clarinet?", "who", {"evidence_sessions": [2]}),
        ("Who is the king of Spain's tailor?", "none", {"evidence": ["gone"]}),
    ]
    return {
        "id": "talk",
        "source": "test",
        "messages": [{"id": f"m{number}", **message} for number, message in enumerate(messages)],
        "sessions": [{"n": session, "date": f"2026-0{session}-03"} for session in range(1, 6)],
        "questions": [
            {"id": f"q{number}", "question": text, "answer": "never read", "category": category, **evidence}
            for number, (text, category, evidence) in enumerate(questions)
        ],
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps(talk()))
    return path


def measured(file: Path, **options: Any) -> Row:
    out = StringIO()
    call_command("recall", str(file), json=True, stdout=out, stderr=StringIO(), **options)
    found: Row = json.loads(out.getvalue())
    return found


def rows() -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in apps.get_app_config("efforts").get_models()}


pytestmark = [pytest.mark.django_db, pytest.mark.long]


def test_what_was_told_long_ago_is_found_and_stands_in_the_prompt(file: Path) -> None:
    found = measured(file)
    assert (found["conversations"], found["questions"], found["over_budget"]) == (1, 3, 0)
    product = found["found"]["product"]
    assert product["messages"]["all"]["recall@1"] == 1
    assert product["sessions"]["all"]["recall@1"] == product["search_efforts"]["all"]["recall@1"] == 1
    standing = found["evidence_in_prompt"]
    assert {category: row["questions"] for category, row in standing.items()} == {"all": 3, "when": 1, "who": 2}
    assert (standing["all"]["share"], standing["all"]["all"], standing["all"]["any"]) == (1, 1, 1)
    assert 0 < standing["all"]["recalled"] <= 800
    assert found["recall_at_questions"]["all"] == {"asked": 3, "fired": 1, "right": 1}


def test_without_room_for_recall_nothing_of_it_stands(file: Path) -> None:
    found = measured(file, share=0.0)
    assert found["evidence_in_prompt"]["all"] == {
        "questions": 3,
        "share": 0,
        "all": 0,
        "any": 0,
        "passages": 0,
        "recalled": 0,
        "tokens": found["evidence_in_prompt"]["all"]["tokens"],
    }
    assert found["found"]["product"]["messages"]["all"]["recall@1"] == 1
    assert found["recall_at_questions"]["all"]["fired"] == 0


def test_with_the_cap_lifted_more_is_recalled_and_no_prompt_is_over_its_budget(file: Path) -> None:
    capped, uncapped = (
        measured(file, **more)["evidence_in_prompt"]["all"] for more in ({"share": 0.05}, {"share": 1.0})
    )
    assert capped["recalled"] <= 200 < uncapped["recalled"]
    assert capped["tokens"] < uncapped["tokens"] <= 4_000


def test_heavy_recalls_whole_exchanges(file: Path) -> None:
    found = measured(file, mode="heavy")
    assert (found["mode"], found["recall_share"]) == ("heavy", 0.4)
    assert found["evidence_in_prompt"]["all"]["share"] == 1


def test_others_are_measured_by_the_same_questions(file: Path) -> None:
    others = measured(file)["found"]
    assert list(others) == ["product", "fts5", "fts5, every word", "seed's keywords"]
    assert {table["messages"]["all"]["questions"] for table in others.values()} == {3}
    assert others["fts5"]["messages"]["all"]["recall@10"] == 1
    assert others["seed's keywords"]["messages"]["all"]["recall@10"] < 1


def test_nothing_is_kept(file: Path, alice: User) -> None:
    before = rows()
    measured(file)
    assert rows() == before
    assert list(User.objects.all()) == [alice]


def test_the_same_again_gives_the_same(file: Path) -> None:
    one, two = ({**measured(file), "elapsed_s": 0} for _ in range(2))
    assert one == two


def test_people_read_tables(file: Path) -> None:
    out = StringIO()
    call_command("recall", str(file), stdout=out, stderr=StringIO())
    text = out.getvalue()
    assert "talk: 1 conversations, 44 messages, 3 questions at 4,000 tokens, light, 20% for recall; 0 over" in text
    assert "recall fired at 100% of 3 questions, and was right at 100% of these" in text
    assert "of 20 ordinary messages" in text


def test_fewer_questions_are_spread_over_all(file: Path) -> None:
    assert measured(file, limit=2)["evidence_in_prompt"]["all"]["questions"] == 2
    assert measured(file, ordinary=0)["recall_at_ordinary_messages"] == {}


def test_a_file_that_is_none_and_a_budget_too_small_are_refused(file: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be measured"):
        measured(tmp_path / "none.jsonl")
    with pytest.raises(CommandError, match="4,000 is the least"):
        measured(file, budget=3_999)
    assert not Session.objects.exists()


# The data


@pytest.fixture
def data() -> Path:
    if "CCM_DATA" not in os.environ:
        pytest.skip("CCM_DATA is not set: the folder of conversations to measure on")
    return Path(os.environ["CCM_DATA"])


@pytest.mark.slow
def test_months_of_two_people_s_talk_are_found_again(data: Path) -> None:
    found = measured(data / "locomo-dev.jsonl", conversations=1, limit=60)
    product, fts5 = found["found"]["product"], found["found"]["fts5"]
    assert product["messages"]["all"]["recall@10"] >= 0.70 > fts5["messages"]["all"]["recall@10"]
    assert product["search_efforts"]["all"]["recall@5"] >= 0.85
    assert found["evidence_in_prompt"]["all"]["share"] >= 0.70
    assert found["holds"]


@pytest.mark.slow
def test_meetings_and_chats_with_an_assistant_are_found_no_worse_than_by_fts5(data: Path) -> None:
    meetings = measured(data / "qmsum-dev.jsonl", conversations=4, ordinary=0)
    product, fts5 = (meetings["found"][method]["messages"]["all"] for method in ("product", "fts5"))
    assert product["hit@10"] >= max(0.70, fts5["hit@10"])
    chats = measured(data / "longmemeval-dev.jsonl", conversations=1, ordinary=0)
    product, fts5 = (chats["found"][method]["sessions"]["all"] for method in ("product", "fts5"))
    assert product["recall@5"] >= fts5["recall@5"]
