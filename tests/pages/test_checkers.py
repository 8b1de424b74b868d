"""Who checks a person's summaries: exams, planted errors by kind, checks that prove nothing, and what was read."""

from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db.models import signals
from django.test import Client
from django.utils import timezone

from compaction.drafting import examining
from compaction.drafting import storing as settings_of
from compaction.models import Check, DraftRun, Exam, ModelRequest, Planted, Reserved
from compaction.pages.presenters.checkers import MOST_LISTED, checkers_of
from efforts.context.connections import ModelChoice
from efforts.models import Endpoint
from tests.compaction.review import MODEL, STATES, Room

from .conftest import HTMX

PAGE = "/settings/checkers/"


def shown(client: Client, address: str = PAGE) -> str:
    return client.get(address).content.decode()


def test_settings_connection_drafting_and_metrics_lead_there(room: Room, as_alice: Client) -> None:
    STATES["stands"](room)
    for address in ("/settings/", "/settings/drafting/", "/metrics/"):
        assert f'href="{PAGE}' in shown(as_alice, address)


def test_a_checker_shows_its_exam_its_checks_and_what_it_noticed_of_each_kind(room: Room, as_alice: Client) -> None:
    STATES["stands"](room)
    page = shown(as_alice)
    assert "Exam passed" in page
    assert "40 of 40 right" in page
    assert "It has read 1 conversation: 1 check, which caught every hidden error." in page
    counted = dict(re.findall(r'<th scope="row">([^<]+)</th><td>(\d+ of \d+)</td>', page))
    kinds = {one.kind for one in Planted.objects.filter(role="canary", held__isnull=False)}
    assert kinds
    assert {kind.capitalize() for kind in kinds} <= set(counted)
    for kind in kinds:
        number = Planted.objects.filter(role="canary", kind=kind, held__isnull=False).count()
        assert counted[kind.capitalize()] == f"{number} of {number}"
    assert "Its newest mistakes" not in page


def test_errors_that_were_hidden_are_counted_apart_from_what_is_true(room: Room, alice: User, as_alice: Client) -> None:
    STATES["stands"](room)
    (found,) = [one for one in checkers_of(alice).rows if one.checks]
    hidden = Planted.objects.filter(held=True)
    assert found.errors.planted == found.errors.caught == hidden.filter(role="canary").count() > 0
    assert found.true.planted == found.true.caught == hidden.filter(role="control").count() > 0
    assert found.left_out.planted == hidden.filter(role="hidden").count()
    row = re.search(r'checker-\d">drafter-1</a>.*?</tr>', shown(as_alice, "/metrics/"), re.DOTALL)
    assert row
    counts = [f"{one.caught} of {one.planted}" for one in (found.errors, found.true)]
    assert all(f"<td>{count}</td>" in row[0] for count in counts)


def test_what_a_check_missed_and_why_it_proves_nothing_is_listed_for_its_owner_alone(
    room: Room, as_alice: Client, as_bob: Client
) -> None:
    STATES["void"](room)
    missed = Planted.objects.filter(held=False).latest("pk")
    page = shown(as_alice)
    assert "Its newest mistakes" in page
    assert missed.claim["text"].split("“")[0].strip() in page
    assert f"Checks that do not count, {Check.objects.exclude(void='').count()}" in page
    other = shown(as_bob)
    assert MODEL not in other
    assert "No model is connected" in other


def test_however_much_was_checked_only_what_is_listed_is_read(room: Room, alice: User, as_alice: Client) -> None:
    row = STATES["void"](room)
    (check, *_), kind = Check.objects.filter(run=row.run), {"role": "canary", "kind": "digits", "number": 1}
    made = Check.objects.bulk_create(
        Check(run=check.run, model=check.model, provider=check.provider, attempt=1, void=f"Number {number}.")
        for number in range(60)
    )
    asked = ModelRequest.objects.filter(check_made=check)[0]
    Planted.objects.bulk_create(
        Planted(check_made=one, request=asked, claim={"text": f"Wrong {one.void}"}, held=False, **kind) for one in made
    )
    read = Counter[type]()

    def count(sender: type, **_: object) -> None:
        read[sender] += 1

    signals.post_init.connect(count)
    try:
        page = shown(as_alice)
    finally:
        signals.post_init.disconnect(count)
    assert max(read[Check], read[Planted]) <= 2 * MOST_LISTED
    number = Check.objects.exclude(void="").count()
    assert (number >= 60, f"Checks that do not count, {number}" in page) == (True, True)
    assert "Number 59." in page
    assert "Number 20." not in page
    assert "Wrong Number 59." in page


def test_what_was_noticed_is_counted_by_how_long_ago_it_was(room: Room, alice: User) -> None:
    STATES["stands"](room)
    Check.objects.update(created_at=timezone.now() - timedelta(days=20))
    (found,) = [one for one in checkers_of(alice).rows if one.checks]
    for kind in found.kinds:
        week, month, ever = kind.noticed
        assert (week.planted, month) == (0, ever)
        assert ever.planted > 0


def test_the_exam_is_taken_again_and_both_are_kept(room: Room, as_alice: Client, alice: User) -> None:
    STATES["unchecked"](room)
    assert "may not check summaries" in shown(as_alice)
    endpoint = Endpoint.objects.get(owner=alice)
    answer = as_alice.post(f"{PAGE}{endpoint.pk}/exam/", {"model": MODEL}, headers=HTMX)
    assert "Exam passed" in answer.content.decode()
    before, after = Exam.objects.order_by("pk")
    assert (before.passed, after.passed, after.score) == (False, True, 40)
    assert after.requests.count() == 3


def test_an_exam_that_is_asked_for_twice_at_once_is_taken_and_paid_once(
    room: Room, as_alice: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint, examine, second = Endpoint.objects.get(owner=alice), examining.examine, list[tuple[int, str]]()

    def click() -> tuple[int, str]:
        answer = as_alice.post(f"{PAGE}{endpoint.pk}/exam/", {"model": MODEL}, headers=HTMX)
        return answer.status_code, answer.content.decode()

    async def meanwhile(choice: ModelChoice) -> examining.Result:
        if not second:
            second.append((0, ""))
            second[0] = await sync_to_async(click)()
        return await examine(choice)

    monkeypatch.setattr(examining, "examine", meanwhile)
    assert click()[0] == 200
    assert (second[0][0], Exam.objects.count()) == (422, 2)
    assert f"{MODEL} is taking its exam already." in second[0][1]
    assert click()[0] == 200
    assert (Exam.objects.count(), Reserved.objects.count()) == (3, 0)


def test_metrics_warn_of_a_model_whose_drafts_take_longer_than_a_request_may(room: Room, as_alice: Client) -> None:
    row = STATES["stands"](room)
    run = row.run
    fields = {"session": run.session, "branch": run.branch, "drafter": "model", "prompt_version": "1"}
    spent = [{"purpose": run.purpose, "tokens": 9, "cap": 99, "slowest_ms": 9, "timeout_ms": 90_000}]
    for elapsed in [5_000] * 16 + [95_000] * 2:
        DraftRun.objects.create(**fields, model=MODEL, purpose=run.purpose, spent=spent, elapsed_ms=elapsed)
    assert "is slow: of its last" not in shown(as_alice, "/metrics/")
    DraftRun.objects.create(**fields, model=MODEL, purpose=run.purpose, spent=spent, elapsed_ms=95_000)
    page = shown(as_alice, "/metrics/")
    assert "is slow: of its last 20 drafts one in twenty took 1 min 35 s or longer" in page
    DraftRun.objects.filter(elapsed_ms=95_000).update(elapsed_ms=None)
    assert "one in twenty did not end" in shown(as_alice, "/metrics/")


def test_the_test_of_a_connection_offers_the_exam_with_its_price_until_it_is_passed(
    room: Room, as_alice: Client, alice: User
) -> None:
    STATES["unchecked"](room)
    endpoint = Endpoint.objects.get(owner=alice)

    def tested() -> str:
        return as_alice.post(f"/settings/endpoints/{endpoint.pk}/test/", headers=HTMX).content.decode()

    assert "has not passed its exam, so its checks of summaries do not count" in tested()
    Exam.objects.all().delete()
    offered = tested()
    assert f"at most {examining.price():,} tokens" in offered
    address = f"{PAGE}{endpoint.pk}/exam/"
    assert f'action="{address}"' in offered
    as_alice.post(address, {"model": MODEL})
    assert "has passed its exam, so its checks of summaries count" in tested()
    assert f'action="{address}"' not in tested()


def test_an_exam_is_not_taken_where_models_are_stopped_or_the_model_is_not_known(
    room: Room, as_alice: Client, as_bob: Client, alice: User
) -> None:
    endpoint = Endpoint.objects.get(owner=alice)
    address = f"{PAGE}{endpoint.pk}/exam/"
    assert as_bob.post(address, {"model": MODEL}).status_code == 404
    unknown = as_alice.post(address, {"model": "other"}, headers=HTMX)
    assert unknown.status_code == 422
    assert "This connection names no such model." in unknown.content.decode()
    settings_of.stop_models(alice)
    stopped = as_alice.post(address, {"model": MODEL}, headers=HTMX)
    assert stopped.status_code == 422
    assert "You have stopped models from drafting." in stopped.content.decode()
    assert Exam.objects.count() == 1
