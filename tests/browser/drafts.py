"""Three turns of an effort, and a model that drafts and checks their summary as it is told."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import begin, is_in_state, say
from tests.compaction.review import aside
from tests.efforts.logs import WEBHOOK, Exchanges
from tests.fakes.provider import Call, FakeProvider, Reply
from tests.fakes.summariser import Summariser

OPEN = "Still open: an alert when the dead-letter list grows."
LIMIT = "We decided on a retry limit of 3."
DONE = "Done, the webhook works now."
POSTS = "The webhook answers at once, and a job posts to the ledger."
# What its summary says, in the order of the page.
RESULT = "The webhook answers at once and a job posts to the ledger."
ALERT = "An alert when the dead-letter list grows is still open."
DECIDED = "The retry limit is 3."
CHANGED = "The webhook answers at once now."


def long(exchanges: Exchanges) -> Exchanges:
    """With so much talk beside them that a summary of them pays."""
    return [
        (f"{question} {aside(2 * number)}", f"{answer} {aside(2 * number + 1)}")
        for number, (question, answer) in enumerate(exchanges, start=1)
    ]


TALK = long(WEBHOOK)


def webhook_model() -> Summariser:
    model = Summariser()
    model.writes("result", POSTS, RESULT)
    model.writes("open_work", OPEN, ALERT)
    model.writes("decision", LIMIT, DECIDED)
    model.writes("changed", POSTS, CHANGED)
    return model


def drafted(
    page: Page,
    provider: FakeProvider,
    model: Summariser | None = None,
    talk: Exchanges = TALK,
    *,
    said: str = DONE,
) -> None:
    """The model concludes the effort in the person's words, `said`, or on its own where there are none; then the page
    of its summary."""
    (first, *questions), answers = zip(*talk, strict=True)
    provider.otherwise = model or webhook_model()
    provider.script = [
        Reply(calls=(Call("open_effort", '{"name": "payment-webhook"}'),)),
        *map(Reply, answers[:-1]),
        Reply(calls=(closing(said),)),
        Reply(answers[-1]),
    ]
    ask_all(page, [first, *questions])
    # What rolls it back leads to a page of the review too.
    link = page.locator("a[href*='/review/']:not([id^='roll-back'])").and_(page.locator(".notes a, .note a")).last
    expect(link).to_be_attached()
    page.goto(link.get_attribute("href") or "")


def closing(said: str) -> Call:
    return Call.of("close_effort", said=said) if said else Call.of("close_effort")


def ask_all(page: Page, questions: Sequence[str]) -> None:
    for number, question in enumerate(questions, 1):
        if number == 1:
            begin(page, question)
        else:
            say(page, question)
        is_in_state(page, number, "completed")


def claim(page: Page, number: int) -> Locator:
    return page.locator(f"#claim-{number}")
