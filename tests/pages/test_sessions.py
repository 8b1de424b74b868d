"""The list of conversations; renaming, archiving, deleting and setting up one."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation
from django.utils.formats import date_format

from efforts import actions
from efforts.context.planning import chosen_settings
from efforts.models import Endpoint, Session
from efforts.pages.presenters.conversations import PAGE

from .conftest import HTMX

Address = Callable[..., str]
SETTINGS = {
    "endpoint": "default",
    "model": "",
    "budget": "8000",
    "ambient_window": "6",
    "decay_threshold": "2",
    "eviction_threshold": "9",
    "context_mode": "light",
    "review_mode": "automatic",
}


def test_the_list_holds_ones_own_conversations(as_alice: Client, alice: User, bob: User) -> None:
    actions.create_session(alice, title="Sailing")
    actions.create_session(bob, title="Secret")
    page = as_alice.get("/conversations/", headers=HTMX).content.decode()
    assert "Sailing" in page
    assert "Secret" not in page
    assert "<html" in as_alice.get("/conversations/").content.decode()


def test_conversations_of_the_same_title_say_when_they_began(as_alice: Client, alice: User) -> None:
    for title in ("Sailing", "Sailing", "Thesis"):
        actions.create_session(alice, title=title)
    assert as_alice.get("/conversations/", headers=HTMX).content.decode().count(">started ") == 2


def test_the_list_is_filtered_by_title(as_alice: Client, alice: User) -> None:
    actions.create_session(alice, title="Sailing")
    actions.create_session(alice, title="Thesis")
    page = as_alice.get("/conversations/?q=sail", headers=HTMX).content.decode()
    assert "Sailing" in page
    assert "Thesis" not in page
    actions.create_session(alice, title="Über uns")
    for asked in ("über", "ÜBER", "uns"):
        assert "Über uns" in as_alice.get(f"/conversations/?q={asked}", headers=HTMX).text
    none = as_alice.get("/conversations/?q=<b>", headers=HTMX).content.decode()
    assert "&lt;b&gt;" in none


def test_the_open_one_is_marked(as_alice: Client, session: Session) -> None:
    page = as_alice.get(f"/conversations/?current={session.pk}", headers=HTMX).content.decode()
    assert 'aria-current="page"' in page
    assert 'aria-current="page"' not in as_alice.get("/conversations/?current=x", headers=HTMX).content.decode()


def test_a_conversation_is_renamed(as_alice: Client, session: Session, address: Address) -> None:
    assert "<form" in as_alice.get(address("rename/"), headers=HTMX).content.decode()
    answer = as_alice.post(address("rename/"), {"title": "Spring release", "folder": " Work "}, headers=HTMX)
    session.refresh_from_db()
    assert session.folder == "Work"
    assert answer.status_code == 204
    assert "conversations" in answer.headers["HX-Trigger"]
    assert session.title == "Spring release"


@pytest.mark.parametrize("title", ["", "   ", "x" * 201, "bell \x07"])
def test_a_title_that_cannot_be_is_refused_with_the_form(
    title: str, as_alice: Client, session: Session, address: Address
) -> None:
    answer = as_alice.post(address("rename/"), {"title": title}, headers=HTMX)
    assert answer.status_code == 422
    assert 'class="error"' in answer.content.decode()


def test_markup_in_a_title_is_text(as_alice: Client, session: Session, address: Address) -> None:
    as_alice.post(address("rename/"), {"title": "<script>alert(1)</script>"})
    page = as_alice.get(address()).content.decode()
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_a_conversation_is_archived_and_brought_back(as_alice: Client, session: Session, address: Address) -> None:
    as_alice.post(address("archive/"), headers=HTMX)
    assert address() not in as_alice.get("/conversations/", headers=HTMX).content.decode()
    assert address() in as_alice.get("/conversations/?archived=1", headers=HTMX).content.decode()
    as_alice.post(address("archive/"), {"archived": "0"})
    assert address() in as_alice.get("/conversations/", headers=HTMX).content.decode()


def test_a_deleted_conversation_is_out_of_sight_at_once_and_can_be_brought_back(
    as_alice: Client, as_bob: Client, session: Session, address: Address
) -> None:
    assert "10 seconds to undo" in as_alice.get(address("delete/"), headers=HTMX).content.decode()
    here = {**HTMX, "HX-Current-URL": f"http://testserver{address()}"}
    answer = as_alice.post(address("delete/"), headers=here)
    undo = f"menu-{session.pk}"
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (204, f"/#{undo}")
    assert as_alice.get(address()).status_code == 404
    start = as_alice.get("/").content.decode()
    assert address("undelete/") in start
    assert f'id="{undo}"' in start
    assert f'href="{address()}"' not in start
    assert as_bob.post(address("undelete/")).status_code == 404
    assert as_alice.post(address("undelete/")).status_code == 302
    assert as_alice.get(address()).status_code == 200
    assert as_alice.post(address("undelete/")).status_code == 404


@pytest.mark.parametrize(("page", "goes"), [("/#menu-{}", True), ("/", False), ("/settings/", False)])
def test_who_was_sent_away_by_a_deletion_comes_back_with_its_undo(
    page: str, goes: bool, as_alice: Client, session: Session, address: Address
) -> None:
    as_alice.post(address("delete/"))
    here = {**HTMX, "HX-Current-URL": f"http://testserver{page.format(session.pk)}"}
    answer = as_alice.post(address("undelete/"), headers=here)
    assert answer.headers.get("HX-Redirect", "") == (address() if goes else "")
    assert "conversations" in answer.headers["HX-Trigger"]


def test_what_is_being_erased_is_not_brought_back(as_alice: Client, session: Session, address: Address) -> None:
    as_alice.post(address("delete/"))
    Session.objects.filter(pk=session.pk).update(erase_at=timezone.now())
    assert as_alice.post(address("undelete/")).status_code == 404
    assert actions.erase_deleted() == 1


def test_what_is_deleted_is_found_by_no_search(as_alice: Client, session: Session, address: Address) -> None:
    actions.send_message(session, text="The heron is blue.", client_id="a", actor=session.owner)
    assert "heron" in as_alice.get("/search/?q=blue", headers=HTMX).content.decode()
    as_alice.post(address("delete/"))
    assert "heron" not in as_alice.get("/search/?q=blue", headers=HTMX).content.decode()


def test_deleting_another_conversation_leaves_the_page_where_it_is(
    as_alice: Client, session: Session, address: Address
) -> None:
    elsewhere = {**HTMX, "HX-Current-URL": "http://testserver/settings/"}
    answer = as_alice.post(address("delete/"), headers=elsewhere)
    assert "HX-Redirect" not in answer.headers
    assert "closeDialog" in answer.headers["HX-Trigger"]


def groups_in(page: str) -> dict[str, list[str]]:
    """Titles of conversations by the heading that they stand under."""
    found: dict[str, list[str]] = {}
    for heading, title in re.findall(r'<h3 class="heading">(.*?)</h3>|<a href="/s/[^>]*title="(.*?)"', page):
        if heading:
            found[heading] = []
        else:
            found[list(found)[-1]].append(title)
    return found


def test_conversations_stand_by_day_under_favourites_and_folders(as_alice: Client, alice: User) -> None:
    now = timezone.now()
    for title, days in (("Fresh", 0), ("Week", 5), ("Month", 20), ("Old", 400), ("Best", 300)):
        made = actions.create_session(alice, title=title)
        Session.objects.filter(pk=made.pk).update(last_activity_at=now - timedelta(days=days))
    best = Session.objects.get(title="Best")
    as_alice.post(f"{best.get_absolute_url()}favourite/", {"on": "1"}, headers=HTMX)
    actions.put_in_folder(Session.objects.get(title="Week"), folder="Garden", actor=alice)
    page = as_alice.get("/conversations/", headers=HTMX).content.decode()
    old = f"{timezone.localdate(now - timedelta(days=400)):%B %Y}"
    assert groups_in(page) == {
        "Folders": [],
        "Favourites": ["Best"],
        "Today": ["Fresh"],
        "Last 7 days": ["Week"],
        "Last 30 days": ["Month"],
        old: ["Old"],
    }
    assert "Garden" in page
    assert groups_in(as_alice.get("/conversations/?folder=Garden", headers=HTMX).content.decode()) == {
        "Last 7 days": ["Week"]
    }
    as_alice.post(f"{best.get_absolute_url()}favourite/", {"on": "0"}, headers=HTMX)
    assert "Favourites" not in groups_in(as_alice.get("/conversations/", headers=HTMX).content.decode())


def test_days_have_names_in_the_readers_language(as_alice: Client, alice: User) -> None:
    for days in (5, 20, 400):
        made = actions.create_session(alice, title="Talk")
        Session.objects.filter(pk=made.pk).update(last_activity_at=timezone.now() - timedelta(days))
    page = as_alice.get("/conversations/", headers={**HTMX, "Accept-Language": "de"}).content.decode()
    with translation.override("de"):
        old = date_format(timezone.localdate(timezone.now() - timedelta(days=400)), "F Y")
    assert list(groups_in(page)) == ["Letzte 7 Tage", "Letzte 30 Tage", old]


def test_a_heading_stands_once_however_many_parts_its_conversations_come_in(as_alice: Client, alice: User) -> None:
    days = [*[3] * (PAGE + 5), *[20] * (PAGE - 5), *[25] * 5]
    moments = [timezone.now() - timedelta(days=count, minutes=place) for place, count in enumerate(days)]
    made = Session.objects.bulk_create([Session(owner=alice) for _ in moments])
    for session, moment in zip(made, moments, strict=True):
        Session.objects.filter(pk=session.pk).update(last_activity_at=moment)
    pages = [as_alice.get(f"/conversations/?start={start}", headers=HTMX).content.decode() for start in (0, 60, 120)]
    headings = [re.findall(r'<h3 class="heading">(.*?)</h3>', page) for page in pages]
    assert headings == [["Last 7 days"], ["Last 30 days"], []]


def test_a_list_that_is_read_again_is_as_long_as_it_was(as_alice: Client, alice: User) -> None:
    Session.objects.bulk_create([Session(owner=alice, title=f"Talk {number}") for number in range(2 * PAGE + 5)])
    page = as_alice.get(f"/conversations/?shown={PAGE + 9}", headers=HTMX).content.decode()
    assert page.count("data-session=") == PAGE + 9
    assert f"?start={PAGE + 9}" in page
    assert as_alice.get("/conversations/?shown=1", headers=HTMX).content.decode().count("data-session=") == PAGE


def test_favourites_are_as_many_as_there_are(as_alice: Client, alice: User) -> None:
    Session.objects.bulk_create([Session(owner=alice, is_favourite=number < PAGE + 2) for number in range(PAGE + 9)])
    pages = [as_alice.get(f"/conversations/?start={start}", headers=HTMX).content.decode() for start in (0, PAGE)]
    assert [page.count("data-session=") for page in pages] == [PAGE, 9]
    assert [re.findall(r'<h3 class="heading">(.*?)</h3>', page) for page in pages] == [["Favourites"], ["Today"]]


def test_namesakes_say_when_they_began_however_far_apart_they_stand(as_alice: Client, alice: User) -> None:
    titles = ["Sailing", *(f"Talk {number}" for number in range(PAGE)), "Sailing"]
    Session.objects.bulk_create([Session(owner=alice, title=title) for title in titles])
    pages = [as_alice.get(f"/conversations/?start={start}", headers=HTMX).content.decode() for start in (0, PAGE)]
    assert [page.count(">started ") for page in pages] == [1, 1]


def test_a_long_list_comes_in_parts_each_conversation_once(as_alice: Client, alice: User) -> None:
    Session.objects.bulk_create([Session(owner=alice, title=f"Talk {number}") for number in range(2 * PAGE + 5)])
    actions.set_favourite(Session.objects.get(title="Talk 3"), on=True, actor=alice)
    pages = [as_alice.get(f"/conversations/?start={start}", headers=HTMX).content.decode() for start in (0, 60, 120)]
    titles = [title for page in pages for title in re.findall(r'<a href="/s/[^>]*title="(.*?)"', page)]
    assert sorted(titles) == sorted(f"Talk {number}" for number in range(2 * PAGE + 5))
    assert ["Show older" in page for page in pages] == [True, True, False]


def test_a_reply_is_new_until_its_conversation_is_in_sight(
    as_alice: Client, session: Session, address: Address
) -> None:
    def listed(query: str = "") -> str:
        return as_alice.get(f"/conversations/{query}", headers=HTMX).content.decode()

    assert ">New<" not in listed()
    Session.objects.filter(pk=session.pk).update(answered_at=timezone.now())
    assert ">New<" in listed()
    as_alice.get(address())
    assert ">New<" not in listed()
    Session.objects.filter(pk=session.pk).update(answered_at=timezone.now())
    assert ">New<" not in listed(f"?current={session.pk}&in_sight=1")
    assert ">New<" not in listed()


def test_a_page_on_which_nothing_is_new_waits_for_nothing_that_others_store(
    as_alice: Client, session: Session, address: Address
) -> None:
    Session.objects.filter(pk=session.pk).update(answered_at=timezone.now())
    as_alice.get(address())
    with CaptureQueriesContext(connection) as asked:
        as_alice.get(address())
    begun = {query["sql"].split()[0] for query in asked.captured_queries}
    # Only reads: on SQLite a write would stand behind everybody's.
    assert begun == {"SELECT"}


def test_a_reply_under_way_shows_in_the_list(as_alice: Client, session: Session) -> None:
    actions.send_message(session, text="Hello", client_id="a", actor=session.owner)
    assert "Replying" in as_alice.get("/conversations/", headers=HTMX).content.decode()


def test_model_and_budget_are_set(as_alice: Client, alice: User, session: Session, address: Address) -> None:
    endpoint = Endpoint.objects.create(owner=alice, name="Local", base_url="http://127.0.0.1:1/v1", model="small")
    values = {**SETTINGS, "endpoint": f"endpoint:{endpoint.pk}"}
    answer = as_alice.post(address("settings/"), values, headers=HTMX)
    session.refresh_from_db()
    assert answer.status_code == 204
    assert session.endpoint == endpoint
    assert (session.budget, session.ambient_window) == (8000, 6)
    assert (session.decay_threshold, session.eviction_threshold) == (2, 9)
    assert "small · Local" in as_alice.get(address()).content.decode()


@pytest.mark.parametrize(
    "wrong",
    [
        {"budget": "3999"},
        {"budget": "many"},
        {"ambient_window": "-1"},
        {"decay_threshold": "0"},
        {"eviction_threshold": "soon"},
        {"endpoint": "endpoint:99"},
        {"budget": ""},
        {"context_mode": "full"},
    ],
)
def test_settings_that_cannot_be_are_refused_with_the_form(
    wrong: dict[str, str], as_alice: Client, session: Session, address: Address
) -> None:
    answer = as_alice.post(address("settings/"), {**SETTINGS, **wrong}, headers=HTMX)
    session.refresh_from_db()
    assert answer.status_code == 422
    assert 'class="error"' in answer.content.decode()
    assert session.budget == 16_000


def test_nobody_uses_the_model_of_another(as_alice: Client, bob: User, session: Session, address: Address) -> None:
    endpoint = Endpoint.objects.create(owner=bob, name="Bobs", base_url="http://127.0.0.1:1/v1")
    answer = as_alice.post(address("settings/"), {**SETTINGS, "endpoint": f"endpoint:{endpoint.pk}"})
    assert answer.status_code == 422


def test_the_cache_is_preferred_where_the_settings_say_so_and_the_page_says_it(
    as_alice: Client, session: Session, address: Address
) -> None:
    told = "turns leave a full window in blocks"
    assert told not in as_alice.get(address("context/")).content.decode()
    as_alice.post(address("settings/"), {**SETTINGS, "prefer_cache": "on"}, headers=HTMX)
    assert told in as_alice.get(address("context/")).content.decode()
    assert chosen_settings(Session.objects.get(pk=session.pk))["prefer_cache"] is True
    as_alice.post(address("settings/"), SETTINGS, headers=HTMX)
    assert told not in as_alice.get(address("context/")).content.decode()
