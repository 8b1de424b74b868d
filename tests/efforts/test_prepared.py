"""Queries that are built once: they find what the same query finds that is built anew, and keep no row."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import connection, transaction
from django.db.models import Count, QuerySet, Sum
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from efforts import actions
from efforts.log.timelines import branch_turns
from efforts.models import Branch, Message, Session, Turn
from efforts.models.prepared import in_one_row, prepared
from tests.efforts.talk import Talk

pytestmark = pytest.mark.django_db
built: list[str] = []


@pytest.fixture(autouse=True)
def nothing_built() -> None:
    built.clear()


def turns(branch: Branch, before: int) -> QuerySet[Turn, int]:
    built.append("turns")
    return branch_turns(branch).filter(number__lt=before).order_by("-number").values_list("number", flat=True)


def newest(session: UUID, *, most: int) -> QuerySet[Message]:
    built.append("newest")
    return Message.objects.filter(session=session).select_related("turn").order_by("-pk")[:most]


def numbered(session: UUID, numbers: list[int]) -> QuerySet[Turn, int]:
    built.append("numbered")
    found = Turn.objects.filter(session=session, number__in=numbers)
    return found.order_by("number").values_list("number", flat=True)


def tokens(session: UUID, numbers: list[int]) -> QuerySet[Turn, tuple[int, ...]]:
    rows = Turn.objects.filter(session=session).exclude(number__in=numbers)
    return in_one_row(rows, count=Count("pk"), sum=Sum("tokens", default=0))


def with_words(session: UUID, words: list[str]) -> QuerySet[Message, str]:
    return Message.objects.filter(session=session, text__in=words).order_by("pk").values_list("text", flat=True)


def locked(session: UUID) -> QuerySet[Session]:
    return Session.objects.select_for_update().filter(pk=session)


def said(talk: Talk, *texts: str) -> None:
    for text in texts:
        talk.ask(text)


def test_it_is_built_once_and_asked_with_what_each_call_gives(talk: Talk) -> None:
    said(talk, "One.", "Two.", "Three.")
    ask = prepared(turns)
    assert [ask(talk.branch, before) for before in (4, 3, 1)] == [[3, 2, 1], [2, 1], []]
    assert built == ["turns"]


def test_it_reads_anew_each_time(talk: Talk) -> None:
    ask = prepared(turns)
    said(talk, "One.")
    assert ask(talk.branch, 9) == [1]
    said(talk, "Two.")
    assert ask(talk.branch, 9) == [2, 1]


def test_of_a_fork_it_reads_what_the_ancestors_share(talk: Talk) -> None:
    said(talk, "One.", "Two.", "Three.")
    fork = actions.fork(talk.branch, after=2, actor=talk.session.owner)
    ask = prepared(turns)
    assert ask(talk.branch, 9) == [3, 2, 1]
    assert ask(fork, 9) == [2, 1] == list(turns(fork, 9))


def test_rows_come_as_objects_with_what_was_joined(talk: Talk) -> None:
    said(talk, "One.", "Two.")
    ask = prepared(newest)
    [last, before] = ask(talk.session.pk, most=2)
    assert [last, before] == list(newest(talk.session.pk, most=2))
    with CaptureQueriesContext(connection) as asked:
        assert last.turn.number == 2
    assert not asked
    assert ask(talk.session.pk, most=1) == [last]


def test_an_id_may_be_given_as_text(talk: Talk) -> None:
    said(talk, "One.")
    given: UUID = str(talk.session.pk)  # type: ignore[assignment]
    assert prepared(numbered)(given, [1]) == [1]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 300, 513])
def test_a_list_may_be_of_any_length(talk: Talk, count: int) -> None:
    said(talk, "One.", "Two.")
    numbers = list(range(2, 2 + count))
    assert prepared(numbered)(talk.session.pk, numbers) == list(numbered(talk.session.pk, numbers))
    assert prepared(tokens)(talk.session.pk, numbers) == list(tokens(talk.session.pk, numbers))


def test_lists_of_about_the_same_length_share_a_query(talk: Talk) -> None:
    said(talk, "One.")
    ask = prepared(numbered)
    assert [ask(talk.session.pk, list(range(1, 1 + count))) for count in (5, 6, 7, 8)] == 4 * [[1]]
    assert built == ["numbered"]


def test_texts_are_values_and_never_sql(talk: Talk) -> None:
    texts = ["100 % of it.", "It's %s.", "'; --"]
    said(talk, *texts)
    assert prepared(with_words)(talk.session.pk, texts) == texts


def test_sums_of_no_rows_are_one_row_of_zeros(talk: Talk) -> None:
    assert prepared(tokens)(talk.session.pk, []) == [(0, 0)]


@pytest.mark.django_db(transaction=True)
def test_rows_are_locked_in_a_transaction_or_not_at_all(talk: Talk) -> None:
    ask = prepared(locked)
    with transaction.atomic():
        assert ask(talk.session.pk) == [talk.session]
    with pytest.raises(TransactionManagementError):
        ask(talk.session.pk)
