"""Records what a drafter and a checker say in the example: to be run whenever what is said in it has changed, or what
drafters and checkers are asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from unittest.mock import patch
from uuid import uuid4

from django.contrib.auth.models import User
from django.core.management.base import CommandParser
from django.db import transaction

from compaction.models import Artifact
from efforts.llm import recorded
from efforts.management.base import DatabaseCommand
from efforts.models import EffortState
from efforts.turns.demo import open_demo
from tests.fakes.provider import Reply
from tests.fakes.summariser import Summariser


class Command(DatabaseCommand):
    help = "Make the example with a model that drafts and checks by a script, keep its replies, and nothing else."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--look", action="store_true", help="keep nothing at all")

    def handle(self, *args: Any, **options: Any) -> None:
        found: dict[str, str] = {}
        model = scripted()

        def answer(self: object, request: Mapping[str, Any]) -> str:
            reply = model(dict(request))
            assert isinstance(reply, Reply)
            found[recorded.key_of(request)] = reply.text
            return reply.text

        with transaction.atomic(), patch.object(recorded.RecordedChat, "answer", answer):
            session, _ = open_demo(User.objects.create(username=f"example-{uuid4().hex}"))
            for row in Artifact.objects.filter(session=session).order_by("created_at"):
                self.stdout.write(judged(row))
            for state in EffortState.objects.filter(branch__session=session).order_by("pk"):
                self.stdout.write(f"{state.effort.slug}: {state.status}, {state.summary}. {state.draft}")
            transaction.set_rollback(True)
        if not options["look"]:
            recorded.REPLIES.write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


# By section the words of a sentence that is cited, what is claimed of it, and more of it, effort by effort.
CLAIMS: tuple[tuple[tuple[str, str, str, dict[str, str]], ...], ...] = (
    (
        (
            "result",
            "Ines confirmed",
            "The CSV export is in production, and Ines confirmed that her file is complete.",
            {},
        ),
        ("decision", "We decided to use a cursor", "The export uses a cursor with 2,000 rows.", {}),
        ("fact", "has LIMIT = 10_000", "exports/query.py had LIMIT = 10_000.", {}),
        ("fact", "took 14 seconds", "An export of 180,000 rows took 14 seconds and 90 MB of memory.", {}),
    ),
    (
        ("result", "the campaign budget is settled", "Marta signed the campaign budget.", {}),
        (
            "decision",
            "We decided: Leipzig",
            "Leipzig gets 6,000, the newsletter 4,000, search 13,000, and 1,000 stay in reserve until June.",
            {},
        ),
        ("fact", "search 310 orders", "Last year fairs brought 310 orders for 11,000.", {}),
    ),
    (
        (
            "result",
            "the login errors are solved",
            "The login errors are solved; logins are stable since Tuesday.",
            {},
        ),
        ("decision", "We decided to renew them", "Tokens are renewed automatically, with no button.", {}),
        ("fact", "nothing asks for a new one", "Nothing asked for a new token before the access token expires.", {}),
        ("fact", "A revoked token", "A revoked token ends at the sign-in page now.", {}),
    ),
    (
        ("result", "Otherwise it runs", "The payment webhook runs as it should.", {}),
        ("rule", "Never touch the production", "Never touch the production database by hand.", {}),
        (
            "open_work",
            "We still need an alert",
            "An alert when the dead-letter list grows is still needed.",
            {"ledger_ref": "e2"},
        ),
        (
            "decision",
            "We decided on a job queue",
            "A job queue with a retry limit of 3 is used.",
            {"ledger_ref": "e1"},
        ),
        ("fact", "The load test ran", "The load test ran 500 events in 41 seconds with no duplicates.", {}),
    ),
)


def scripted() -> Summariser:
    """What it writes holds, but for one figure of the campaign's budget, which it finds wrong when it checks."""
    model = Summariser()
    for claims in CLAIMS:
        for number, (section, words, text, more) in enumerate(claims, start=1):
            model.writes(section, words, text, id=str(number), **more)
    model.doubts("fairs brought 310", "contradicted", phrase="fairs brought 310 orders")
    return model


def judged(row: Artifact) -> str:
    run = row.gate_runs.latest("pk")
    missed = [
        f"{verdict['gate']} {verdict['outcome']}: {verdict['says']} {[one['text'] for one in verdict['failures']]}"
        for verdict in run.verdicts
        if verdict["outcome"] != "pass"
    ]
    return f"{row.effort.slug if row.effort else '-'} {row.kind}: {'; '.join(missed) or 'passes'}"
