"""`manage.py rebuild_index`: whatever happened to the index, it is again what the log says."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.db.models import Model

from efforts import actions
from efforts.models import Frequency, Message, Passage, Session
from efforts.retrieval import index, rebuilding
from efforts.retrieval.candidates import Scope, find
from tests.efforts.talk import Talk
from tests.retrieval.index import assert_index_is_whole

pytestmark = pytest.mark.django_db

HEALTHY = {"sessions": 2, "messages": 5, "passages": 0, "frequencies": 0, "terms": False}


@pytest.fixture(autouse=True)
def talk(alice: User, bob: User) -> Talk:
    talk = Talk(actions.create_session(alice))
    talk.ask("The webhook times out.", reply="word " * 300)
    talk.ask("日本旅行 👍", reply="auth_bug")
    Talk(actions.create_session(bob)).say("The webhook, too.")
    return talk


def rebuild() -> dict[str, Any]:
    out = StringIO()
    call_command("rebuild_index", json=True, stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def everything() -> list[list[dict[str, Any]]]:
    models: list[type[Model]] = [Passage, Frequency]
    return [list(model._default_manager.order_by("pk").values()) for model in models]


def test_what_is_whole_is_left_alone() -> None:
    before = everything()
    assert rebuild() == HEALTHY
    assert everything() == before


def test_made_from_nothing_it_is_the_index_that_grew_with_the_log() -> None:
    grown = everything()
    Passage.objects.all().delete()
    Frequency.objects.all().delete()
    assert rebuild() == {**HEALTHY, "passages": len(grown[0]), "frequencies": 2}
    assert everything() == grown
    assert_index_is_whole()
    assert rebuild() == HEALTHY


def test_in_batches_smaller_than_the_log_too(monkeypatch: pytest.MonkeyPatch) -> None:
    grown = everything()
    monkeypatch.setattr(rebuilding, "BATCH", 1)
    Passage.objects.all().delete()
    rebuild()
    assert everything() == grown


def test_what_differs_is_mended() -> None:
    grown = everything()
    first, second, *_ = Passage.objects.order_by("pk")
    first.delete()
    Passage.objects.filter(pk=second.pk).delete()
    second.terms = " other "
    second.save(force_insert=True)
    last = Message.objects.latest("pk")
    extra = Passage(pk=(last.pk + 1) * index.PER_MESSAGE, session=last.session, message=last, start=0, end=1, length=0)
    extra.save(force_insert=True)
    Frequency.objects.filter(term="webhook").update(passages=9)
    assert rebuild() == {**HEALTHY, "passages": 3, "frequencies": 2}
    assert everything() == grown
    assert_index_is_whole()


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite alone keeps its terms beside the passages")
def test_a_table_of_terms_that_lost_a_passage_is_made_anew(talk: Talk) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO efforts_passage_terms (efforts_passage_terms, rowid, scope, terms) "
            "SELECT 'delete', id, scope, terms FROM efforts_passage WHERE terms LIKE '%%webhook%%'"
        )
    assert find(Scope(session=talk.session.pk), ["webhook"]).rows == ()
    assert rebuild() == {**HEALTHY, "terms": True}
    assert len(find(Scope(session=talk.session.pk), ["webhook"]).rows) == 1
    assert_index_is_whole()


def test_conversations_deleted_meanwhile_are_passed_over() -> None:
    done = rebuilding.rebuild(lambda done: Session.objects.all().delete())
    assert (done.passages, done.frequencies) == (0, 0)
    assert_index_is_whole()


def test_for_people_it_says_what_was_done() -> None:
    Frequency.objects.filter(term="webhook").delete()
    out = StringIO()
    call_command("rebuild_index", stdout=out)
    assert out.getvalue() == ("5 messages of 2 conversations are indexed.\nMended: the counts of 2 conversations.\n")
