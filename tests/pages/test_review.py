"""The review page, part by part: what it shows to whom, and where everything on it leads."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from compaction import reviewing
from compaction.domain.artifact import parse_artifact
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from compaction.models import Artifact, ClaimVerdict, GateRun, Reviewer
from efforts import actions, summaries
from efforts.domain.lifecycle import EntryKind, ScopeState
from efforts.scopes import SCOPES
from tests.compaction.review import BACKUPS, judged, room_of, verdict_of
from tests.efforts.logs import WEBHOOK
from tests.efforts.talk import Talk
from tests.pages.conftest import HTMX

SLUG = "payment-webhook"


@pytest.fixture
def talk(alice: User) -> Talk:
    talk = Talk(actions.create_session(alice))
    actions.open_effort(talk.place, SLUG)
    for said, _ in WEBHOOK:
        talk.ask(said)
    actions.close_effort(talk.place, SLUG)
    return talk


@pytest.fixture
def artifact(talk: Talk) -> Artifact:
    summaries.summarise_now(talk.state(SLUG))
    return Artifact.objects.get()


def part_of(client: Client, name: str, *args: object, **query: str) -> str:
    response = client.get(reverse(name, args=args), query, headers=HTMX)
    assert response.status_code == 200
    assert "HX-Request" in response["Vary"]
    return response.content.decode()


PANELS = ("review_top", "claims")


@pytest.mark.parametrize("name", PANELS)
def test_each_panel_has_an_address_and_is_a_page_there(artifact: Artifact, as_alice: Client, name: str) -> None:
    assert "<html" not in part_of(as_alice, name, artifact.pk)
    assert '<div class="review"' in as_alice.get(reverse(name, args=[artifact.pk])).content.decode()


def test_every_number_of_a_source_leads_to_a_span_and_back_to_its_claim(artifact: Artifact, as_alice: Client) -> None:
    page = as_alice.get(artifact.get_absolute_url()).content.decode()
    cites = set(re.findall(r'href="#(span-\d+)"', page))
    assert cites
    assert cites == set(re.findall(r'id="(span-\d+)"', page))
    assert set(re.findall(r'href="#(claim-\d+)"', page)) <= set(re.findall(r'id="(claim-\d+)"', page))


def test_marked_words_are_those_that_the_claims_quote(artifact: Artifact, as_alice: Client) -> None:
    page = as_alice.get(artifact.get_absolute_url()).content.decode()
    marked = re.findall(r"<mark data-spans=\"[\d ]+\">([^<]+)</mark>", page)
    assert "We decided on a retry limit of 3." in "".join(marked)
    assert "<mark" not in page.partition('id="source-pane"')[0]


def test_it_counts_what_is_cited_and_says_what_is_cited_by_nothing(artifact: Artifact, as_alice: Client) -> None:
    page = as_alice.get(artifact.get_absolute_url()).content.decode()
    found = re.search(r"Claims cite (\d+) of (\d+) entries; (\d+) (?:is|are) cited by nothing", page)
    assert found
    cited, entries, uncited = map(int, found.groups())
    assert cited + uncited == entries == page.count('class="src ')
    assert page.count("cited by nothing</span>") == uncited


def test_a_source_that_has_moved_is_said_to_be_lost(talk: Talk, artifact: Artifact, as_alice: Client) -> None:
    actions.move_turn(talk.place, 3, None)
    page = as_alice.get(artifact.get_absolute_url()).content.decode()
    assert "anchor lost" in page
    assert "have changed since it was judged" in page


def test_one_section_is_shown_where_it_is_asked_for(artifact: Artifact, as_alice: Client) -> None:
    all_of_it = part_of(as_alice, "claims", artifact.pk)
    keys = re.findall(r'id="show-(\w+)"', all_of_it)
    assert keys[0] == "all"
    one = part_of(as_alice, "claims", artifact.pk, show=keys[1])
    assert 0 < one.count('<article class="claim') < all_of_it.count('<article class="claim')
    nonsense = part_of(as_alice, "claims", artifact.pk, show="nonsense")
    assert nonsense.count('<article class="claim') == all_of_it.count('<article class="claim')


def test_a_gate_shows_how_it_was_computed(artifact: Artifact, as_alice: Client) -> None:
    shown = part_of(as_alice, "gate", artifact.pk, "C")
    assert "Decisions kept" in shown
    assert "at least 95\N{NO-BREAK SPACE}%" in shown
    assert "what the ledger of the conversation lists" in shown
    assert "Is every decision, all open work and every rule still there?" in shown
    page = as_alice.get(reverse("gate", args=[artifact.pk, "C"]))
    assert "<html" in page.content.decode()
    assert as_alice.get(reverse("gate", args=[artifact.pk, "F"])).status_code == 404


def test_a_reviewer_sees_the_scope_and_no_way_into_the_conversation(
    artifact: Artifact, bob: User, as_bob: Client
) -> None:
    Reviewer.objects.create(session=artifact.session, user=bob)
    page = as_bob.get(artifact.get_absolute_url()).content.decode()
    assert "We decided on a retry limit of 3." in page
    assert "<b>alice</b>" in page
    assert artifact.session.get_absolute_url() not in page


@pytest.mark.parametrize("name", [*PANELS, "artifact"])
def test_strangers_find_nothing(artifact: Artifact, as_bob: Client, name: str) -> None:
    assert as_bob.get(reverse(name, args=[artifact.pk])).status_code == 404


# What is done with claims


@pytest.fixture
def drafted(alice: User, monkeypatch: pytest.MonkeyPatch) -> Artifact:
    """In its own words, and waiting."""
    return room_of(alice, monkeypatch).draft()


def said_of(client: Client, row: Artifact, item: str, status: int = 200, **fields: str) -> str:
    response = client.post(reverse("claim", args=[row.pk, item]), fields, headers=HTMX)
    assert response.status_code == status
    return response.content.decode()


def first_item(row: Artifact) -> str:
    return parse_artifact(row.document).items[0].id


def test_a_verdict_is_kept_at_once_and_answered_with_the_claim_and_the_count(
    drafted: Artifact, as_alice: Client
) -> None:
    answer = said_of(as_alice, drafted, first_item(drafted), verdict="kept")
    assert "Kept" in answer
    assert 'id="progress" hx-swap-oob="true">1 of' in answer
    assert "1 verdict saved, not submitted yet. Only you see it." in answer
    verdict = ClaimVerdict.objects.get()
    assert (verdict.item, verdict.verdict, verdict.submitted_at) == (first_item(drafted), "kept", None)
    answer = said_of(as_alice, drafted, first_item(drafted), verdict="undo")
    assert "Undecided" in answer
    assert not ClaimVerdict.objects.exists()


def test_an_edit_shows_the_difference_and_one_without_a_change_says_what_to_do(
    drafted: Artifact, as_alice: Client
) -> None:
    item = parse_artifact(drafted.document).items[0]
    form = as_alice.get(reverse("claim", args=[drafted.pk, item.id]), {"edit": ""}, headers=HTMX).content.decode()
    assert f"{item.text}</textarea>" in form
    wrong = said_of(as_alice, drafted, item.id, 422, verdict="edited", text=item.text)
    assert "Nothing is changed yet. Write it in other words, or keep it." in wrong
    assert "<textarea" in wrong
    edited = said_of(as_alice, drafted, item.id, verdict="edited", text=f"{item.text} Surely.")
    assert "<ins>" in edited
    assert "Surely." in edited


def test_an_unknown_verdict_is_refused_in_words(drafted: Artifact, as_alice: Client) -> None:
    assert "There is no such verdict." in said_of(as_alice, drafted, first_item(drafted), 422, verdict="loved")


def test_without_scripts_forms_post_and_pages_come_back(drafted: Artifact, as_alice: Client) -> None:
    address = reverse("claim", args=[drafted.pk, first_item(drafted)])
    response = as_alice.post(address, {"verdict": "kept"})
    assert response.status_code == 302
    assert response["Location"].startswith(f"{drafted.get_absolute_url()}#claim-")
    assert "<textarea" in as_alice.get(address, {"edit": ""}).content.decode()
    wrong = as_alice.post(address, {"verdict": "edited", "text": ""})
    assert wrong.status_code == 422
    assert '<div class="review"' in wrong.content.decode()


def test_what_was_decided_last_is_taken_back(drafted: Artifact, as_alice: Client) -> None:
    said_of(as_alice, drafted, first_item(drafted), verdict="kept")
    answer = as_alice.post(reverse("review_undo", args=[drafted.pk]), headers=HTMX)
    assert answer["HX-Retarget"].startswith("#claim-")
    assert "chosen" in answer["HX-Trigger-After-Swap"]
    assert not ClaimVerdict.objects.exists()
    assert as_alice.post(reverse("review_undo", args=[drafted.pk]), headers=HTMX).status_code == 204


def test_submitting_an_edit_leads_to_the_next_version_which_can_be_compared(
    drafted: Artifact, as_alice: Client
) -> None:
    item = parse_artifact(drafted.document).items[0]
    said_of(as_alice, drafted, item.id, verdict="edited", text=f"{item.text} Surely.")
    answer = as_alice.post(reverse("review_submit", args=[drafted.pk]), headers=HTMX)
    made = Artifact.objects.get(version=2)
    assert answer["HX-Redirect"] == f"{made.get_absolute_url()}#claim-1"
    page = as_alice.get(made.get_absolute_url()).content.decode()
    assert "compare v1" in page
    assert "Edited by alice" in page
    old = as_alice.get(drafted.get_absolute_url()).content.decode()
    assert "v2 is newer" in old
    assert "Undecided" not in old
    compared = as_alice.get(reverse("compare", args=[made.pk, drafted.pk])).content.decode()
    assert "Surely." in compared
    assert "<ins>" in compared


def test_nothing_to_submit_says_what_to_do(drafted: Artifact, as_alice: Client) -> None:
    answer = as_alice.post(reverse("review_submit", args=[drafted.pk]), headers=HTMX)
    assert answer.status_code == 422
    assert "There are no verdicts to submit. Keep, edit or strike a claim first." in answer.content.decode()


def test_of_another_reviewer_one_sees_the_presence_first_and_the_words_when_handed_in(
    drafted: Artifact, bob: User, as_bob: Client, as_alice: Client
) -> None:
    Reviewer.objects.create(session=drafted.session, user=bob)
    said_of(as_bob, drafted, first_item(drafted), verdict="struck")
    page = as_alice.get(drafted.get_absolute_url()).content.decode()
    assert "bob is reviewing too" in page
    assert "<b>bob</b>" not in page
    said_of(as_alice, drafted, first_item(drafted), verdict="edited", text="Other words, of alice.")
    as_bob.post(reverse("review_submit", args=[drafted.pk]), headers=HTMX)
    answer = as_alice.post(reverse("review_submit", args=[drafted.pk]), headers=HTMX)
    newest = Artifact.objects.get(version=2)
    assert answer["HX-Redirect"] == f"{newest.get_absolute_url()}#conflicts"
    page = as_alice.get(newest.get_absolute_url()).content.decode()
    assert "say different things of 1 claim" in page
    for words in ("<b>bob</b>", "<b>alice</b>", "Other words, of alice."):
        assert words in page.partition('id="conflicts-title"')[2]


def test_what_was_turned_down_says_by_whom_and_why_and_can_be_taken_up_again(
    drafted: Artifact, as_alice: Client
) -> None:
    as_alice.post(reverse("review_reject", args=[drafted.pk]), {"reason": "Too vague."}, headers=HTMX)
    page = as_alice.get(drafted.get_absolute_url()).content.decode()
    assert "Turned down by alice: “Too vague.”" in page
    assert "This summary was turned down, so it does not stand." in page
    assert "Not every gate passes" not in page
    answer = as_alice.post(reverse("review_judge", args=[drafted.pk]), headers=HTMX).content.decode()
    assert "Turned down" not in answer
    assert "Waiting for your yes" in answer


def test_a_sentence_of_the_headline_that_leads_nowhere_blocks_and_leads_to_its_claim(
    alice: User, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = room_of(alice, monkeypatch).draft()
    reviewing.decide(row, "backups", Say.STRUCK, reviewer=alice)
    made = reviewing.submit(row, reviewer=alice).made
    assert made is not None
    assert "Blocked: a gate fails" in as_alice.get(made.get_absolute_url()).content.decode()
    assert f'href="{made.get_absolute_url()}#claim-1">Claim 1</a>' in part_of(as_alice, "gate", made.pk, "B")


def test_of_a_gate_that_fails_its_own_page_alone_has_the_mark(lacking: Artifact, as_alice: Client) -> None:
    assert "insufficient fidelity" in part_of(as_alice, "gate", lacking.pk, "C")
    assert "insufficient fidelity" not in part_of(as_alice, "gate", lacking.pk, "E")


def test_a_stale_summary_is_judged_again_in_place(drafted: Artifact, as_alice: Client) -> None:
    GateRun.objects.update(inputs={})
    page = as_alice.get(drafted.get_absolute_url()).content.decode()
    assert "Judge again" in page
    assert "pass, stale" in page
    assert "To be judged again" in page
    assert "Waiting for your yes" not in page
    answer = as_alice.post(reverse("review_judge", args=[drafted.pk]), headers=HTMX)
    assert "pass, stale" not in answer.content.decode()
    assert "standing" in answer["HX-Trigger"]
    assert drafted.gate_runs.count() == 2


def test_it_is_turned_down_with_a_reason_only(drafted: Artifact, as_alice: Client) -> None:
    address = reverse("review_reject", args=[drafted.pk])
    wrong = as_alice.post(address, {"reason": " "}, headers=HTMX)
    assert wrong.status_code == 422
    assert "Say in a few words why." in wrong.content.decode()
    assert as_alice.post(address, {"reason": "Too long."}, headers=HTMX).status_code == 204
    drafted.refresh_from_db()
    assert drafted.state == "rejected"
    assert "Turned down" in as_alice.get(drafted.get_absolute_url()).content.decode()


@pytest.mark.parametrize(
    ("name", "more"),
    [("claim", ["1"]), ("review_undo", []), ("review_submit", []), ("review_judge", []), ("review_redraft", [])],
)
def test_strangers_change_nothing(drafted: Artifact, as_bob: Client, name: str, more: list[str]) -> None:
    assert as_bob.post(reverse(name, args=[drafted.pk, *more]), {"verdict": "kept"}).status_code == 404
    assert not ClaimVerdict.objects.exists()


# What is dropped


@pytest.fixture
def lacking(alice: User, monkeypatch: pytest.MonkeyPatch) -> Artifact:
    """One of two decisions is not in it."""
    room = room_of(alice, monkeypatch, claims=("postgres", "move"), headline="Orders are stored in Postgres.")
    room.note(EntryKind.DECISION, BACKUPS)
    return room.draft()


def dropped_key(page: str, words: str) -> str:
    rows: list[str] = re.findall(r'id="dropped-(\w+)" tabindex.*?</article>', page, re.DOTALL)
    return next(key for key in rows if words in page.partition(f'id="dropped-{key}"')[2].partition("</article>")[0])


def act(client: Client, row: Artifact, key: str, verb: str) -> str:
    response = client.post(reverse("dropped", args=[row.pk, key, verb]), headers=HTMX)
    assert response.status_code == 200
    return response.content.decode()


def test_a_missing_decision_blocks_and_adding_it_from_the_dropped_list_unblocks(
    lacking: Artifact, as_alice: Client
) -> None:
    page = as_alice.get(lacking.get_absolute_url()).content.decode()
    assert "Blocked: a gate fails" in page
    gate = part_of(as_alice, "gate", lacking.pk, "C")
    assert BACKUPS in gate
    assert "Add it from what is dropped" in gate
    listed = part_of(as_alice, "claims", lacking.pk, show="dropped")
    answer = act(as_alice, lacking, dropped_key(listed, BACKUPS), "add")
    assert "Added</span>" in answer
    assert "Added by you" in part_of(as_alice, "claims", lacking.pk)
    as_alice.post(reverse("review_submit", args=[lacking.pk]))
    page = as_alice.get(Artifact.objects.get(version=2).get_absolute_url()).content.decode()
    assert BACKUPS in page
    assert "Waiting for your yes" in page


def test_what_is_not_needed_is_said_so_and_can_be_wanted_again(lacking: Artifact, as_alice: Client) -> None:
    listed = part_of(as_alice, "claims", lacking.pk, show="dropped")
    key = dropped_key(listed, "tests/orders/test_load.py")
    before = int(re.findall(r"Dropped (\d+)</a>", listed)[0])
    answer = act(as_alice, lacking, key, "not-needed")
    assert f"Dropped {before - 1}</a>" in answer
    assert f"Dropped {before}</a>" in act(as_alice, lacking, key, "needed")


def test_the_turn_of_what_is_dropped_is_pinned_by_the_owner_only(
    lacking: Artifact, bob: User, as_bob: Client, as_alice: Client
) -> None:
    Reviewer.objects.create(session=lacking.session, user=bob)
    listed = part_of(as_bob, "claims", lacking.pk, show="dropped")
    assert "Pin the turn" not in listed
    key = dropped_key(listed, BACKUPS)
    assert as_bob.post(reverse("dropped", args=[lacking.pk, key, "pin"]), headers=HTMX).status_code == 422
    assert "Turn 2 is pinned" in act(as_alice, lacking, key, "pin")


def test_chosen_turns_are_drafted_anew_from_the_review_page(talk: Talk, as_alice: Client) -> None:
    draft = actions.compact_turns(talk.place, 1, 3)
    SCOPES.draft_now(draft)
    draft.refresh_from_db()
    row = Artifact.objects.get(pk=draft.artifact)
    # The ledger is another than it was judged by: then the page offers another draft.
    message = talk.session.turns.get(number=3).messages.get(role="user")
    actions.note_entry(talk.place, message.pk, EntryKind.DECISION, words="We decided on a retry limit of 3.")
    assert 'id="draft-anew"' in part_of(as_alice, "review_top", row.pk)
    answer = as_alice.post(reverse("review_redraft", args=[row.pk]), headers=HTMX)
    assert (answer.status_code, "A new draft of these turns is on its way" in answer.content.decode()) == (200, True)
    draft.refresh_from_db()
    assert (draft.state, draft.turns, draft.artifact) == (ScopeState.DUE, [1, 2, 3], "")
    # Once more is once too often, and says so.
    answer = as_alice.post(reverse("review_redraft", args=[row.pk]), headers=HTMX)
    assert (answer.status_code, "is being drafted already" in answer.content.decode()) == (422, True)
    SCOPES.draft_now(draft)
    draft.refresh_from_db()
    assert (draft.state, Artifact.objects.filter(pk=row.pk).exists()) == (ScopeState.READY, True)


def test_of_turns_that_nobody_chose_no_draft_is_made_again(talk: Talk, as_alice: Client) -> None:
    draft = actions.compact_turns(talk.place, 1, 3)
    SCOPES.draft_now(draft)
    draft.refresh_from_db()
    artifact = draft.artifact
    draft.delete()
    answer = as_alice.post(reverse("review_redraft", args=[artifact]), headers=HTMX)
    assert (answer.status_code, "Choose the turns in the conversation" in answer.content.decode()) == (422, True)


def test_of_chosen_turns_it_says_how_much_would_stand_in_the_prompt(talk: Talk, as_alice: Client) -> None:
    draft = actions.compact_turns(talk.place, 1, 3)
    SCOPES.draft_now(draft)
    draft.refresh_from_db()
    row = Artifact.objects.get(pk=draft.artifact)
    (measure,) = [one for one in verdict_of(judged(row), "E")["measures"] if one["name"] == "standing_tokens"]
    told = f"{measure['threshold']:,} → {measure['value']:,} tokens"
    assert told in part_of(as_alice, "review_top", row.pk)
    assert told in as_alice.get(reverse("reviews")).content.decode()
