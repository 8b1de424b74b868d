"""The example project: a working week of a small team, to look around in and to ask about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from efforts.actions import create_session
from efforts.context.planning import main_branch
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD
from efforts.llm.tokens import get_counter
from efforts.log import events, labels
from efforts.models import Branch, Message, Run, Session, Turn
from efforts.retrieval.index import add_message
from efforts.turns.recording import Lease

if TYPE_CHECKING:
    from django.contrib.auth.models import User

TITLE = "Example: payments, spring release"

# The built-in engine has to find the answers to PROMPTS in here, in words that they share.
EXCHANGES = (
    (
        "We start the payments work today. The spring release goes out on 14 May, and Dana signs it off.",
        "Noted: release on **14 May**, sign-off by **Dana**. What comes first?",
    ),
    (
        "Users are logged out after about an hour, always with a 401. Can you see why from this?\n\n"
        "    access_token: lifetime 3600 s\n    refresh_token: lifetime 30 d, requested: never",
        "The access token lives 3,600 seconds and nothing asks for a new one before it expires, so the "
        "first call after an hour gets a 401.\n\nRequest a refresh token at sign-in, and renew the access token "
        "when fewer than five minutes are left.",
    ),
    (
        "Good. We renew them automatically, no button. And the renewal must be tested with revoked tokens too.",
        "Agreed: automatic renewal, no button. Still open: a test with **revoked** tokens, where renewal must end at "
        "the sign-in page instead of trying again.",
    ),
    (
        "The test with revoked tokens passes now. Logins have been stable since Tuesday.",
        "Then the cause is settled: refresh tokens were never requested. The fix renews them five minutes early.",
    ),
    (
        "Next: the payment webhook times out after 30 seconds, but only for the first event in the morning.",
        "That smells of a cold connection. What does the handler do before it answers?",
    ),
    (
        "It parses the event, posts it to the ledger and then returns 202.\n\n```python\n"
        "async def webhook(request):\n    event = parse(request)\n    await ledger.post(event)  # 28 s when cold\n"
        "    return Response(status=202)\n```",
        "The gateway waits for your reply while you wait for the ledger. Store the event, answer at once, and post to "
        "the ledger in a job:\n\n```python\nasync def webhook(request):\n    await inbox.store(parse(request))  # by "
        "event id: a second delivery is ignored\n    return Response(status=202)\n```",
    ),
    (
        "Let's go with the job queue. Keep the retry limit at 3, with 10, 60 and 300 seconds between them.",
        "Decided: a job queue, retry limit **3**, waiting **10, 60 and 300 seconds**. After the third failure the "
        "event goes to the dead-letter list.",
    ),
    (
        "Who looks at the dead-letter list?",
        "Nobody yet. I would give it to whoever is on call, with an alert when it holds more than five events.",
    ),
    (
        "Then the on-call person gets it: Priya this week, Tom next week. Never touch the production database by hand.",
        "Understood: **Priya** this week, **Tom** next week, and nobody edits the production database by hand. Repairs "
        "go through the replay command.",
    ),
    (
        "We still need a load test with 500 events before the release.",
        "Open work: a load test with **500 events**. I would run it against staging with the ledger slowed to 28 s, "
        "because that is the case that failed.",
    ),
    (
        "The load test ran: 500 events in 41 seconds, no duplicates, two retries.",
        "Good. Two retries in 500 is well within the limit of 3; no duplicates means that storing by event id works.",
    ),
    (
        "What about invoices in Swiss francs? The rounding looks wrong: 12.03 became 12.05.",
        "That is Swiss cash rounding to five centimes. It is right for cash and wrong for card payments: round to "
        "**0.01** there, and to 0.05 only for cash.",
    ),
    (
        "OK, 0.01 for cards. Marco changes it, and he adds a test with 12.03.",
        "Marco has it: rounding to 0.01 for card payments, with a test for 12.03. That leaves the changelog before "
        "the release on 14 May.",
    ),
    (
        "I will write the changelog on Friday. Sailing on Saturday, so nobody call me.",
        "Changelog on Friday, and you are away on Saturday. Everything else is done or has a name on it.",
    ),
)
PROMPTS = (
    "When is the release, and who signs it off?",
    "What was decided about the retry limit?",
    "Why were users logged out after an hour?",
)


def open_example(owner: User) -> Session:
    """The owner's example conversation; made on the first call, found on later ones."""
    with transaction.atomic():
        # Two first calls at once would make two.
        get_user_model().objects.select_for_update().get(pk=owner.pk)
        if found := Session.objects.owned_by(owner).filter(is_example=True).first():
            return found
        session = create_session(owner, title=TITLE)
        Session.objects.filter(pk=session.pk).update(is_example=True)
        branch = main_branch(session)
        said = 0
        for number, (question, answer) in enumerate(EXCHANGES, 1):
            turn = add_turn(branch, number, question, answer, said)
            end_turn(branch, turn)
            said += turn.tokens
        Branch.objects.filter(pk=branch.pk).update(head=len(EXCHANGES), clock=len(EXCHANGES))
        events.append(session.pk, "session.example", {"turns": len(EXCHANGES)}, actor=owner)
    return session


def add_turn(branch: Branch, number: int, question: str, answer: str, said: int) -> Turn:
    """A completed turn that no model was asked for; `end_turn` closes it, when all is done in it."""
    # Rows as a run would have left them, so that planner and page need no exception for the example.
    count = get_counter(settings.CCM_ENCODING).count
    turn = Turn.objects.create(
        session_id=branch.session_id, branch=branch, number=number, client_id=f"example-{number}", tokens_before=said
    )
    now = timezone.now()
    run = Run.objects.create(
        turn=turn,
        branch=branch,
        state=RunState.COMPLETED,
        settings={"label": "Example"},
        started_at=now,
        ended_at=now,
    )
    log = ((Message.Role.USER, None, question), (Message.Role.ASSISTANT, run, answer))
    for role, of_run, text in log:
        add_message(session_id=branch.session_id, turn=turn, run=of_run, role=role, text=text, tokens=count(text))
    events.append(branch.session_id, "run.started", Lease.of(run, "").data())
    turn.run, turn.tokens = run, count(question) + count(answer) + 2 * MESSAGE_OVERHEAD
    turn.save(update_fields=["run", "tokens"])
    return turn


def end_turn(branch: Branch, turn: Turn) -> None:
    assert turn.run is not None
    ended = {"state": str(turn.run.state), "code": "", **labels.fields(branch, turn)}
    events.append(branch.session_id, "run.ended", Lease.of(turn.run, "").data(**ended))
