"""Efforts in the admin: found, linked, read-only, and only one's own."""

from __future__ import annotations

import inspect
import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmarks.scenes import Exchange, concludes, expands, opens, play, switches
from compaction.models import Checker, DraftingPolicy, NotNeeded
from efforts import actions
from efforts.models import AccountEvent, ContextPointer, Effort, EffortState, Event, Session, Turn
from tests.pages.conftest import Scene

MODELS = ("effort", "effortstate", "contextpointer", "event", "turn")

# Two concluded efforts, one of them expanded, and two open ones.
WEEK = (
    Exchange(user="Good morning! Anything I should know?", reply="Nothing is open yet."),
    Exchange(
        user="Customers say that the CSV export cuts off after 10,000 rows. Let's find out why.",
        reply="Does the file end in the middle of a line?",
        acts=(opens("CSV export"),),
    ),
    Exchange(
        user="We decided to use a cursor with 2,000 rows. The CSV export is fixed.",
        reply="Concluded: the export streams from a cursor.",
        acts=(concludes(),),
    ),
    Exchange(
        user="My lower back has been hurting since I moved the desk. What can I do about it?",
        reply="Numbness in a leg would be a reason to see a doctor at once.",
        acts=(opens("Back pain"),),
    ),
    Exchange(user="A footrest solved it, thank you.", reply="Glad to hear it.", acts=(concludes(),)),
    Exchange(user="I need to move our mail.", reply="How many mailboxes?", acts=(opens("Mail migration"),)),
    Exchange(user="Help me plan the summer party.", reply="Which month?", acts=(opens("Summer party"),)),
    Exchange(user="What did we change for the CSV export?", reply="A cursor.", acts=(expands("csv-export"),)),
    Exchange(user="Back to the mail migration.", reply="It is active.", acts=(switches("mail-migration"),)),
)


@pytest.fixture
def demo(alice: User) -> Session:
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)
    session = actions.create_session(alice, title="A week")
    play(session, WEEK)
    return session


def page(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status
    return answer.content.decode()


def listing(model: str, query: str = "") -> str:
    return reverse(f"admin:efforts_{model}_changelist") + query


def of_row(row: Effort | EffortState | ContextPointer | Event | Turn) -> str:
    return reverse(f"admin:efforts_{row._meta.model_name}_change", args=[row.pk])


def shown(html: str, model: str) -> list[int]:
    """Keys of the rows of a list, by the links of their first cells."""
    cells = re.findall(r"<th[^>]*>(.*?)</th>", html, re.DOTALL)
    return [int(key) for cell in cells for key in re.findall(rf"/admin/efforts/{model}/(\d+)/change/", cell)]


def rows(html: str, model: str) -> list[str]:
    """Where the rows of a list are, whatever their keys."""
    cells = re.findall(r"<th[^>]*>(.*?)</th>", html, re.DOTALL)
    return [at for cell in cells for at in re.findall(rf'href="(/admin/efforts/{model}/[^"]+/change/)', cell)]


# Rows about a summary lead to its page.
OF_SUMMARIES = ("contextpointer", "pointermove")


def test_every_list_leads_to_its_rows_and_to_the_page(demo: Session, as_alice: Client) -> None:
    for model in MODELS:
        html = page(as_alice, listing(model))
        assert ("/review/cmp_" if model in OF_SUMMARIES else demo.get_absolute_url()) in html, model
        page(as_alice, reverse(f"admin:efforts_{model}_change", args=[shown(html, model)[0]]))


def test_each_list_of_the_app_and_its_first_row_open_and_what_is_said_there_leads_to_the_page(
    demo: Session, as_alice: Client
) -> None:
    Scene(demo).ask("Which port?", "8443.")
    models = [model._meta.model_name for model in admin.site._registry if model._meta.app_label == "efforts"]
    assert len(models) >= 12
    for model in filter(None, models):
        for row in rows(page(as_alice, listing(model)), model)[:1]:
            page(as_alice, row)
    for model in ("session", "branch", "turn", "run", "message", "event"):
        assert f'href="{demo.get_absolute_url()}' in page(as_alice, listing(model)), model
    assert re.search(rf'href="{demo.get_absolute_url()}plans/', page(as_alice, listing("contextplan")))


@pytest.mark.parametrize("model", [Checker, DraftingPolicy])
def test_a_row_that_begins_with_a_person_leads_to_the_row_by_their_name(
    model: type[Checker | DraftingPolicy], demo: Session, as_alice: Client
) -> None:
    alice = demo.owner
    row = model.objects.create(user=alice, **({"chosen_at": timezone.now()} if model is Checker else {}))
    name = row._meta.model_name
    html = page(as_alice, f"/admin/compaction/{name}/")
    assert f'<a href="/admin/compaction/{name}/{row.pk}/change/">alice</a>' in html


def test_what_is_not_needed_leads_to_the_summary_that_lacks_it(demo: Session, as_alice: Client) -> None:
    NotNeeded.objects.create(family="cmp_0123456789ab", session=demo, key="k1", reason="It is in the contract.")
    html = page(as_alice, "/admin/compaction/notneeded/")
    assert '<a href="/admin/compaction/artifact/cmp_5F0123456789ab/change/">cmp_01234567</a>' in html


def test_messages_are_found_by_their_words(demo: Session, as_alice: Client) -> None:
    found = page(as_alice, listing("message", "?q=numbness+in+a+leg"))
    assert "Numbness in a leg" in found
    assert "Which month?" not in found


def test_an_effort_shows_where_it_stands_and_leads_to_states_pointers_and_events(
    demo: Session, as_alice: Client
) -> None:
    effort = Effort.objects.get(slug="csv-export")
    html = page(as_alice, of_row(effort))
    assert all(of_row(state) in html for state in effort.states.all())
    assert all(of_row(pointer) in html for pointer in effort.pointers.all())
    assert f"{listing('event')}?effort={effort.pk}" in html
    assert demo.get_absolute_url() in html
    assert "main: concluded" in page(as_alice, listing("effort", "?q=csv-export"))
    assert "main: open, active" in page(as_alice, listing("effort", "?q=mail-migration"))


def test_the_events_of_one_effort_are_listed_alone(demo: Session, as_alice: Client) -> None:
    effort = Effort.objects.get(slug="csv-export")
    actions.move_turn(actions.here(demo, actor=demo.owner), 2, None)
    listed = shown(page(as_alice, listing("event", f"?effort={effort.pk}")), "event")
    kinds = set(Event.objects.filter(pk__in=listed).values_list("kind", flat=True))
    assert {"effort.opened", "effort.concluded", "effort.digested", "effort.expanded", "turn.moved"} <= kinds
    assert set(Event.objects.filter(pk__in=listed).values_list("data__effort", flat=True)) == {"csv-export"}


def test_events_about_any_effort_are_listed_without_the_others(demo: Session, as_alice: Client) -> None:
    listed = shown(page(as_alice, listing("event", "?effort=any")), "event")
    assert set(listed) == set(Event.objects.filter(kind__startswith="effort.").values_list("pk", flat=True))


def test_a_filter_that_names_nothing_known_is_no_fault(demo: Session, as_alice: Client) -> None:
    for value in ("0", "x", "99999999", "9" * 5_000):
        page(as_alice, listing("event", f"?effort={value}"))


def test_states_are_filtered_by_where_they_stand(demo: Session, as_alice: Client) -> None:
    listed = shown(page(as_alice, listing("effortstate", "?status__exact=open")), "effortstate")
    found = EffortState.objects.filter(pk__in=listed).values_list("effort__slug", flat=True)
    assert set(found) == {"mail-migration", "summer-party"}


def test_pointers_are_found_by_their_text_and_show_what_they_stand_for(demo: Session, as_alice: Client) -> None:
    (listed,) = shown(page(as_alice, listing("contextpointer", "?q=lower+back")), "contextpointer")
    pointer = ContextPointer.objects.get(pk=listed)
    assert pointer.effort is not None
    html = page(as_alice, of_row(pointer))
    assert of_row(pointer.effort) in page(as_alice, listing("contextpointer"))
    assert all(of_row(entry.turn) in html for entry in pointer.scope.all())


def test_a_turn_shows_its_effort(demo: Session, as_alice: Client) -> None:
    assert of_row(Effort.objects.get(slug="csv-export")) in page(as_alice, of_row(Turn.objects.get(number=2)))


def test_in_german_its_apps_tables_columns_values_and_filters_are_german(demo: Session, as_alice: Client) -> None:
    german = Client(headers={"accept-language": "de"})
    german.force_login(demo.owner)
    index = page(german, reverse("admin:index"))
    for words in ("Zustände von Vorhaben", "Kontextpläne", "Prüfungen", "Codeordner", "Anmeldelinks"):
        assert words in index
    states = page(german, listing("effortstate"))
    for words in ("Zweig", "Über", "Zusammenfassung", "In der Anwendung", "abgeschlossen"):
        assert words in states
    assert "offen, aktiv" in states
    assert "Nach Status" in states
    row = page(german, of_row(EffortState.objects.filter(status="concluded")[0]))
    assert "Aufgeklappt in Runde" in row
    assert "Leer: nicht aufgeklappt." in row
    assert "Effort" not in re.sub(r"<[^>]*>", "", index)
    # In English nothing is called otherwise, and migrations see no change.
    assert "Effort states" in page(as_alice, reverse("admin:index"))
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_nothing_can_be_added_changed_or_deleted(demo: Session, as_alice: Client) -> None:
    for model in MODELS:
        row = shown(page(as_alice, listing(model)), model)[0]
        page(as_alice, reverse(f"admin:efforts_{model}_add"), 403)
        page(as_alice, reverse(f"admin:efforts_{model}_delete", args=[row]), 403)
        assert as_alice.post(reverse(f"admin:efforts_{model}_change", args=[row])).status_code == 403, model


def let_in(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=[f"view_{model}" for model in MODELS]))


def test_other_staff_see_none_of_it_without_the_permission(demo: Session, as_bob: Client, bob: User) -> None:
    let_in(bob)
    for model in MODELS:
        assert shown(page(as_bob, listing(model)), model) == []
    effort = Effort.objects.get(slug="csv-export")
    page(as_bob, of_row(effort), 302)
    # Not by the filter's name either.
    assert "csv-export" not in page(as_bob, listing("event", f"?effort={effort.pk}"))


def test_with_the_permission_each_look_at_a_row_is_logged(demo: Session, as_bob: Client, bob: User) -> None:
    let_in(bob)
    bob.user_permissions.add(Permission.objects.get(codename="view_any_session"))
    page(as_bob, of_row(Effort.objects.get(slug="csv-export")))
    assert AccountEvent.objects.get(kind="read by staff").actor == bob


def test_lists_and_searches_are_logged_as_looks_are_and_told_to_whom_they_concern(
    demo: Session, as_alice: Client, alice: User, as_bob: Client, bob: User
) -> None:
    let_in(bob)
    page(as_bob, listing("effort", "?q=csv"))
    assert not AccountEvent.objects.filter(kind="listed by staff").exists()
    bob.user_permissions.add(Permission.objects.get(codename="view_any_session"))
    page(as_bob, listing("effort", "?q=csv"))
    (look,) = AccountEvent.objects.filter(kind="listed by staff")
    assert (look.owner, look.actor) == (demo.owner, bob)
    assert look.data["query"] == "q=csv"
    assert look.data["rows"] > 0
    # One's own rows are no look at anybody's.
    page(as_alice, listing("effort"))
    assert AccountEvent.objects.filter(kind="listed by staff").count() == 1
    assert demo.owner == alice
    assert "looking for" in as_alice.get("/settings/").content.decode()


def test_every_look_is_listed_however_many_there_are_and_the_newest_say_how_many(
    as_alice: Client, alice: User, bob: User
) -> None:
    for number in range(45):
        look = {"model": "effort", "rows": 1, "query": f"q=word{number}."}
        AccountEvent.objects.create(owner=alice, actor=bob, kind="listed by staff", data=look)
    pages = [as_alice.get(f"/settings/?looks={number}").content.decode() for number in (1, 2, 3)]
    assert 'Who has looked <span class="quiet num">45</span>' in pages[0]
    assert 'href="?looks=2#looks"' in pages[0]
    listed = [re.findall(r"q=word(\d+)\.", page) for page in pages]
    assert [len(words) for words in listed] == [20, 20, 5]
    assert [int(word) for words in listed for word in words] == [*reversed(range(45))]


def test_every_row_has_a_name_that_is_neither_its_number_nor_its_class() -> None:
    """Of all tables that the admin has: it is what links to a row are called."""
    ours = [model for model in admin.site._registry if not model.__module__.startswith("django.")]
    assert len(ours) > len(MODELS)
    for model in ours:
        assert model.__str__ is not Model.__str__, model
        assert not re.search(r"\bself\.(pk|id)\b", inspect.getsource(model.__str__)), model
