"""The ledger on the page: the questions below turns, the forms at messages, the page of a conversation."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from compaction.models import GateRun
from efforts import actions
from efforts.actions import Place
from efforts.context.planning import main_branch
from efforts.domain.effort.states import EntryBy, EntryKind, Via
from efforts.memory.entries import propose
from efforts.memory.origins import Origin, Where
from efforts.models import Constraint, LedgerEntry, Message, Session
from tests.compaction.review import BACKUPS, POSTGRES, STATES, Room, judged

from .conftest import HTMX, Scene

Address = Callable[..., str]
CHOSEN = "We decided on Postgres for billing."
LEFT = "TODO: rotate the signing key."
DECISION, WORK = EntryKind.DECISION, EntryKind.OPEN_WORK


def place(session: Session) -> Place:
    return actions.here(session, actor=session.owner)


def message_of(session: Session, number: int, role: str = "user") -> Message:
    return Message.objects.get(session=session, turn__number=number, role=role)


def noted(scene: Scene, text: str, kind: EntryKind = DECISION) -> LedgerEntry:
    scene.ask(f"Hello. {text} Thanks.", "All right.")
    message = Message.objects.filter(session=scene.session, role="user").latest("pk")
    return actions.note_entry(place(scene.session), message.pk, kind, words=text)


def proposed(scene: Scene, said: str, *entries: tuple[EntryKind, str]) -> None:
    """A turn in which the model records these."""
    number = scene.ask(said, "All right.").number
    where = Where(turn=number, branch=str(main_branch(scene.session).pk), via="model")
    origin = Origin(message=message_of(scene.session, number))
    for kind, text in entries:
        propose(scene.session, kind, text, by=EntryBy.MODEL, origin=origin, where=where)


def states() -> dict[str, str]:
    return dict(LedgerEntry.objects.order_by("pk").values_list("text", "state"))


def shown(client: Client, where: str, **headers: str) -> str:
    answer = client.get(where, headers=headers or HTMX)
    assert answer.status_code == 200
    return answer.content.decode()


def hidden(form: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', form)
    assert found is not None
    return found[1]


# Below the turns


def test_what_the_model_proposes_is_asked_about_below_its_turn_until_it_is_answered(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    proposed(scene, "Hello.", (DECISION, CHOSEN))
    turn = shown(as_alice, address("turns/1/"))
    assert f"Decision? “{CHOSEN}”" in turn
    pk = LedgerEntry.objects.get().pk
    assert f'action="{address(f"ledger/{pk}/keep/")}"' in turn
    assert as_alice.post(address(f"ledger/{pk}/keep/")).status_code == 200
    assert states() == {CHOSEN: "confirmed"}
    assert "Decision?" not in shown(as_alice, address("turns/1/"))


def test_several_questions_of_a_turn_are_one_line_that_opens(as_alice: Client, scene: Scene, address: Address) -> None:
    proposed(scene, "Hello.", (DECISION, CHOSEN), (WORK, LEFT), (WORK, "Tell Anna about the new date."))
    turn = shown(as_alice, address("turns/1/"))
    assert turn.count('<details class="notes"') == 1
    assert "Keep 1 decision and 2 to-dos?" in turn
    for entry in LedgerEntry.objects.all():
        as_alice.post(address(f"ledger/{entry.pk}/dismiss/"))
    assert set(states().values()) == {"dismissed"}
    assert "Keep" not in re.sub(r'title="Keep[^"]*"|Keep (?:your|the) ', "", shown(as_alice, address("turns/1/")))


def test_questions_stay_outside_the_quiet_fold(as_alice: Client, scene: Scene, address: Address) -> None:
    Session.objects.update(quiet_notices=True)
    proposed(scene, "Hello.", (DECISION, CHOSEN))
    assert f"Decision? “{CHOSEN}”" in shown(as_alice, address("turns/1/"))


def test_what_the_model_says_is_done_is_asked_below_that_turn(as_alice: Client, scene: Scene, address: Address) -> None:
    row = noted(scene, "Post the form.", WORK)
    scene.ask("It is posted.", "Good.")
    branch = main_branch(scene.session)
    actions.resolve_entry(Place(branch=branch, turn=2, via=Via.MODEL), row.name)
    assert "Done? “Post the form.”" in shown(as_alice, address("turns/2/"))
    assert "Done?" in shown(as_alice, address("ledger/"))
    as_alice.post(address(f"ledger/{row.pk}/open/"))
    assert "Done?" not in shown(as_alice, address("turns/2/"))
    actions.resolve_entry(Place(branch=branch, turn=2, via=Via.MODEL), row.name)
    as_alice.post(address(f"ledger/{row.pk}/done/"))
    assert states() == {"Post the form.": "done"}


def test_what_the_model_dropped_before_anybody_was_asked_is_noted_with_undo(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    proposed(scene, "The key is old.", (WORK, LEFT))
    branch = main_branch(scene.session)
    actions.resolve_entry(Place(branch=branch, turn=1, via=Via.MODEL), LedgerEntry.objects.get().name)
    turn = shown(as_alice, address("turns/1/"))
    assert f"Settled before you were asked: {LEFT}" in turn
    undo = re.search(r'action="([^"]*/efforts/undo/\d+/)"', turn)
    assert undo is not None
    as_alice.post(undo[1])
    turn = shown(as_alice, address("turns/1/"))
    assert "taken back" in turn
    assert f"To-do? “{LEFT}”" in turn


# At a message


def test_every_message_can_be_kept(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("The invoice goes to Anna.", "Noted, to **Anna**.")
    page = shown(as_alice, address(), Accept="text/html")
    assert f'href="{address("ledger/new/")}?turn=1"' in page
    assert f'href="{address("ledger/new/")}?turn=1&amp;of=reply"' in page


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_a_message_is_kept_by_its_form(
    as_alice: Client, scene: Scene, address: Address, headers: dict[str, str]
) -> None:
    scene.ask("The invoice goes\nto Anna.", "All right.")
    form = shown(as_alice, address("ledger/new/?turn=1"))
    assert ">\nThe invoice goes to Anna.</textarea>" in form
    posted = {"message": hidden(form, "message"), "words": hidden(form, "words"), "text": "Anna gets the invoice."}
    answer = as_alice.post(address("ledger/new/"), {**posted, "kind": "decision"}, headers=headers)
    assert answer.status_code == (204 if headers else 302)
    row = LedgerEntry.objects.get()
    assert (row.kind, row.text, row.state, row.source_id) == (
        "decision",
        "Anna gets the invoice.",
        "confirmed",
        message_of(scene.session, 1).pk,
    )


def test_what_is_selected_of_a_message_is_in_the_form_else_all_of_it(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    scene.ask(f"Hello. {CHOSEN} And more.", "Send **the form** to Anna.\n\nThat is all.")
    assert f">\nHello. {CHOSEN} And more.</textarea>" in shown(as_alice, address("ledger/new/?turn=1"))
    assert ">\nAnd more.</textarea>" in shown(as_alice, address("ledger/new/?turn=1&text=And more."))
    form = shown(as_alice, address("ledger/new/?turn=1&of=reply&text=the form to Anna"))
    selected = re.search(r'<option value="([^"]+)" selected>', form)
    assert selected
    as_alice.post(
        address("ledger/new/"),
        {"message": hidden(form, "message"), "words": selected[1], "text": "Form!", "kind": "open_work"},
    )
    row = LedgerEntry.objects.get(text="Form!")
    assert row.source.text[row.start : row.end] == "the form** to Anna"


def test_a_new_decision_can_replace_one(as_alice: Client, scene: Scene, address: Address) -> None:
    old = noted(scene, "Take the train.")
    scene.ask("Take the bus.", "All right.")
    form = shown(as_alice, address("ledger/new/?turn=2"))
    assert f'<option value="{old.pk}">Take the train.</option>' in form
    posted = {"message": hidden(form, "message"), "text": "Take the bus.", "replaces": str(old.pk)}
    as_alice.post(address("ledger/new/"), {**posted, "kind": "decision"})
    assert states() == {"Take the train.": "superseded", "Take the bus.": "confirmed"}


@pytest.mark.parametrize(
    ("posted", "told"),
    [
        ({"text": ""}, "required"),
        ({"text": "x" * 1_001}, "1000 characters"),
        ({"words": "Nothing of it"}, "do not stand in that message"),
        ({"kind": "poem"}, "Choose whether"),
        ({"message": "99999"}, "no such message"),
        ({"text": "Take the train."}, "kept already"),
    ],
)
def test_what_cannot_be_kept_is_refused_in_the_form(
    as_alice: Client, scene: Scene, address: Address, posted: dict[str, str], told: str
) -> None:
    noted(scene, "Take the train.")
    message = str(message_of(scene.session, 1).pk)
    whole = {"message": message, "words": "", "text": "Take the bus.", "kind": "decision", **posted}
    answer = as_alice.post(address("ledger/new/"), whole, headers=HTMX)
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert states() == {"Take the train.": "confirmed"}


def test_there_is_no_form_where_there_is_no_message(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello.", "Hi.")
    for query in ("", "?turn=9", "?turn=x", "?turn=0"):
        assert as_alice.get(address(f"ledger/new/{query}")).status_code == 404


# The page


def test_an_empty_ledger_teaches_what_to_do(as_alice: Client, address: Address) -> None:
    page = shown(as_alice, address("ledger/"), Accept="text/html")
    assert "Keep one from any message" in page
    assert "A rule is sent word for word" in page
    none = "None yet. Choose “Note as decision or to-do” in the menu of any message."
    assert none in shown(as_alice, address("context/"))


def test_the_page_has_decisions_open_work_and_rules_each_with_state_source_and_who(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    noted(scene, "Take <b>the train</b>.")
    proposed(scene, "Never touch production.", (WORK, LEFT))
    actions.set_constraint(place(scene.session), "Never touch production.", turn=2)
    panel = shown(as_alice, address("ledger/"))
    texts = ("Decisions", "Take &lt;b&gt;the train&lt;/b&gt;.", "To-dos", LEFT, "Rules", "Never touch production.")
    places = [panel.index(text) for text in texts]
    assert places == sorted(places)
    assert f'href="{address("log/")}?around=1#turn-1" data-turn-link>turn 1</a>' in panel
    assert '<span class="quiet">you</span>' in panel
    assert '<span class="quiet">the model</span>' in panel
    assert ">On your list</span>" in panel
    assert ">Proposed</span>" in panel
    side = shown(as_alice, address("context/"))
    assert "1 decision, 0 to-dos, <b>1 to answer</b>" in side
    assert f'href="{address("ledger/")}"' in side


def test_what_is_done_or_superseded_is_folded(as_alice: Client, scene: Scene, address: Address) -> None:
    work = noted(scene, "Post the form.", WORK)
    old, new = noted(scene, "Take the train."), noted(scene, "Take the bus.")
    choices = shown(as_alice, address(f"ledger/{old.pk}/replace/"))
    assert f'name="by" value="{new.pk}"' in choices
    answer = as_alice.post(address(f"ledger/{old.pk}/replace/"), {"by": str(new.pk)}, headers=HTMX)
    assert answer.status_code == 204
    as_alice.post(address(f"ledger/{work.pk}/done/"))
    panel = shown(as_alice, address("ledger/"))
    assert "1 superseded</summary>" in panel
    assert "Replaced by: Take the bus." in panel
    assert "1 done</summary>" in panel
    as_alice.post(address(f"ledger/{work.pk}/reopen/"))
    assert states()["Post the form."] == "confirmed"


def test_an_entry_is_edited(as_alice: Client, scene: Scene, address: Address) -> None:
    row = noted(scene, "Take the train.")
    assert "Take the train." in shown(as_alice, address(f"ledger/{row.pk}/edit/"))
    assert as_alice.post(address(f"ledger/{row.pk}/edit/"), {"text": "Take the bus."}).status_code == 302
    assert states() == {"Take the bus.": "confirmed"}
    as_alice.post(address(f"ledger/{row.pk}/dismiss/"))
    late = as_alice.post(address(f"ledger/{row.pk}/edit/"), {"text": "Fly."}, headers=HTMX)
    assert late.status_code == 422
    assert "changed elsewhere" in late.content.decode()


def test_what_was_answered_in_another_tab_is_told_in_words(as_alice: Client, scene: Scene, address: Address) -> None:
    row = noted(scene, "Take the train.")
    as_alice.post(address(f"ledger/{row.pk}/dismiss/"))
    late = as_alice.post(address(f"ledger/{row.pk}/keep/"), headers={"Accept": "application/json"})
    assert (late.status_code, late.json()["code"]) == (409, "changed")
    assert as_alice.post(address(f"ledger/{row.pk}/sing/")).status_code == 404
    alone = as_alice.post(address(f"ledger/{row.pk}/replace/"), {"by": "1"}, headers=HTMX)
    assert alone.status_code == 422


def test_a_plain_form_of_the_page_leads_back_to_it(as_alice: Client, scene: Scene, address: Address) -> None:
    row = noted(scene, "Take the train.")
    answer = as_alice.post(
        address(f"ledger/{row.pk}/dismiss/"), {"next": address("ledger/")}, headers={"Accept": "text/html"}
    )
    assert (answer.status_code, answer["Location"]) == (302, address("ledger/"))


def test_a_stranger_finds_nothing(as_bob: Client, scene: Scene, address: Address, bob: User) -> None:
    row = noted(scene, "Take the train.")
    for where in ("ledger/", "ledger/new/?turn=1", f"ledger/{row.pk}/edit/", f"ledger/{row.pk}/replace/"):
        assert as_bob.get(address(where)).status_code == 404
    assert as_bob.post(address(f"ledger/{row.pk}/dismiss/")).status_code == 404
    theirs = actions.create_session(bob)
    assert as_bob.post(f"{theirs.get_absolute_url()}ledger/{row.pk}/dismiss/").status_code == 404
    assert states() == {"Take the train.": "confirmed"}


def test_a_thousand_past_entries_are_not_all_listed(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello.", "Hi.")
    message = message_of(scene.session, 1)
    where = Where(turn=1, branch=str(main_branch(scene.session).pk), via="model")
    for number in range(130):
        propose(scene.session, WORK, f"Letter {number}", by=EntryBy.MODEL, origin=Origin(message=message), where=where)
    LedgerEntry.objects.update(state="done")
    panel = shown(as_alice, address("ledger/"))
    assert "130 done</summary>" in panel
    assert "30 older not listed." in panel
    assert panel.count("<li id=") == 100


# Written down by hand


def test_at_a_message_one_of_its_sentences_is_chosen_and_written_down(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    scene.ask(f"Hello there, Bob. {CHOSEN} {LEFT}", "All right.")
    form = shown(as_alice, f"{address('ledger/new/')}?turn=1")
    assert re.findall(r'<option value="([^"]+)"', form) == ["Hello there, Bob.", CHOSEN, LEFT]
    message = message_of(scene.session, 1)
    for words, kind in ((CHOSEN, "decision"), (LEFT, "open_work")):
        posted = {"message": message.pk, "words": words, "text": words, "kind": kind}
        assert as_alice.post(address("ledger/new/"), posted, headers=HTMX).status_code == 204
    rows = LedgerEntry.objects.order_by("pk")
    assert [(row.kind, message.text[row.start : row.end]) for row in rows] == [
        ("decision", CHOSEN),
        ("open_work", LEFT),
    ]


def test_a_rule_is_written_down_there_too(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Never deploy on Fridays. And now to the invoices.", "All right.")
    message = message_of(scene.session, 1)
    posted = {"message": message.pk, "words": "", "text": "Never deploy on Fridays.", "kind": "rule"}
    assert as_alice.post(address("ledger/new/"), posted, headers=HTMX).status_code == 204
    rule = Constraint.objects.get(session=scene.session)
    assert (rule.text, rule.state, rule.source) == ("Never deploy on Fridays.", "in force", message)


def test_an_entry_in_other_words_shows_its_sentence(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask(f"Hello. {CHOSEN}", "All right.")
    actions.note_entry(
        place(scene.session), message_of(scene.session, 1).pk, DECISION, "Billing: Postgres", words=CHOSEN
    )
    assert f"“{CHOSEN}”" in shown(as_alice, address("ledger/"))


def test_an_entry_says_which_summary_has_replaced_its_turn_and_whether_it_is_told_there(
    room: Room, as_alice: Client
) -> None:
    page = reverse("ledger", args=[room.talk.session.pk])
    room.note(DECISION, BACKUPS)
    assert "summary of" not in shown(as_alice, page)
    row = STATES["stands"](room)
    assert re.search(r"Told</span> in the <a href=\"/review/\w+/\">summary of", shown(as_alice, page))
    GateRun.objects.filter(artifact=row).update(
        verdicts=[
            {**one, "failures": [{"about": f"decision-{LedgerEntry.objects.get().pk}"}]} if one["gate"] == "C" else one
            for one in judged(row).verdicts
        ]
    )
    assert f'Missing</span> in the <a href="/review/{row.pk}/?show=dropped">' in shown(as_alice, page)
    room.note(DECISION, POSTGRES)
    assert "Written down later</span>" in shown(as_alice, page)
