"""Every question of a conversation asked as its next message: what is found, and what stands in the prompt."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks.importing import Imported, import_talk
from benchmarks.replay import Question, Talk, moment
from efforts.context.embedders import Wording, embedder_of, meaning_of
from efforts.context.planning import chosen_settings, draft_turn, plan_inputs
from efforts.context.recollections import recollect
from efforts.domain.effort.policy import RECALL_SHARES, ContextMode
from efforts.domain.prompt.plan import Plan
from efforts.domain.prompt.planner import plan
from efforts.domain.text.ranking import Found
from efforts.llm.builtin.transport import BUILTIN_MODEL
from efforts.llm.protocol import ModelError
from efforts.memory.vectors import SECONDS, claim, record_batch
from efforts.models import Message, Turn
from efforts.retrieval.efforts import search_efforts
from efforts.retrieval.search import search_branch

from .evidence import Told, held, pieces_in, sent_text, told_in
from .ranks import distinct


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """`share` of the budget: what recall may take at most; None: what the mode says. `meaning`: meanings are compared
    too, by the model that the installation names."""

    budget: int
    mode: ContextMode
    share: float | None = None
    meaning: bool = False

    @property
    def cap(self) -> float:
        return RECALL_SHARES[self.mode] if self.share is None else self.share


@dataclass(frozen=True, kw_only=True)
class Stage:
    """An imported conversation. `texts`: of the messages, by their rows; `today`: the day of its last session."""

    talk: Talk
    told: Told
    made: Imported
    chosen: Chosen
    texts: dict[int, str]
    today: date

    @property
    def next_turn(self) -> int:
        return self.made.turns + 1


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One question, and what was found for it, the best first: `messages` of the data, `efforts` by the numbers of the
    data's sessions. `quoted` messages stand in the prompt by recall, `standing` ones by that or in a layer."""

    question: Question
    messages: list[str]
    efforts: list[int]
    planned: Plan
    quoted: list[str]
    standing: list[str]


@contextmanager
def staged(talk: Talk, chosen: Chosen) -> Iterator[Stage]:
    """The conversation of somebody who was never there: all of it is gone afterwards."""
    with transaction.atomic():
        owner = User.objects.create_user(f"recall-{secrets.token_hex(4)}")
        made = import_talk(owner, talk, as_efforts=True)
        assert made
        settings = {"endpoint": None, "model": BUILTIN_MODEL, "budget": chosen.budget, "context_mode": chosen.mode}
        for name, value in settings.items():
            setattr(made.session, name, value)
        made.session.save(update_fields=settings)
        made.branch.refresh_from_db()
        texts = dict(Message.objects.filter(session=made.session).values_list("pk", "text"))
        today = moment(talk.dates[-1]).date()
        if chosen.meaning:
            embed(made)
        yield Stage(talk=talk, told=told_in(talk), made=made, chosen=chosen, texts=texts, today=today)
        transaction.set_rollback(True)


def embed(made: Imported) -> None:
    """As the background does it. Raises `ModelError`."""
    embedder = embedder_of(None)
    if embedder is None:
        raise ModelError("refused", "No model of meanings: set CCM_EMBEDDINGS_FOLDER or CCM_EMBEDDINGS_URL.")
    while (batch := claim(made.session.pk, embedder)) and batch.ids:
        record_batch(batch, embedder.embed(batch.texts, seconds=SECONDS))


def ask(stage: Stage, question: Question) -> Asked:
    branch = stage.made.branch
    found = search_efforts(branch, question.text, before=stage.next_turn, today=stage.today)
    ranked = found.search.ranked
    if stage.chosen.meaning:
        meant = meaning_of(stage.made.session, question.text).meant
        ranked = search_branch(branch, question.text, before=stage.next_turn, today=stage.today, meant=meant).ranked
    planned = next_plan(stage, question.text)
    sent = sent_text(planned.request)
    quoted = distinct(id for one in planned.recalled for id in held_in(stage, one.message.id, one.start, one.end, sent))
    return Asked(
        question=question,
        messages=distinct(id for one in ranked for id in parts(stage, one.found)),
        efforts=[stage.made.efforts[hit.slug] for hit in found.hits],
        planned=planned,
        quoted=quoted,
        standing=[*quoted, *in_layers(stage, planned, sent)],
    )


def parts(stage: Stage, found: Found) -> list[str]:
    """The messages of the data that a passage holds something of."""
    return pieces_in(stage.made.pieces[found.message], found.start, found.end)


def next_plan(stage: Stage, text: str) -> Plan:
    """What would be sent with `text` as the person's next message."""
    branch, chosen = stage.made.branch, stage.chosen
    inputs = plan_inputs(branch, chosen_settings(stage.made.session), current=draft_turn(branch, text))
    wording = Wording(stage.made.session, text) if chosen.meaning else None
    found = recollect(branch, plan(inputs), chosen.mode, today=stage.today, wording=wording)
    most = inputs.recall_most if chosen.share is None else chosen.share
    recalled = found.passages if found else ()
    return plan(replace(inputs, recalled=recalled, recall_share=chosen.cap, recall_most=most))


def held_in(stage: Stage, message: int, start: int, end: int, sent: str) -> Iterator[str]:
    return held(stage.texts[message], stage.made.pieces[message], start, end, sent)


def in_layers(stage: Stage, planned: Plan, sent: str) -> Iterator[str]:
    """Of the turns that stand as such; what was cut out of their messages is not in `sent`."""
    for entry in planned.recipe:
        if "turns" in entry:
            turns = Turn.objects.filter(session=stage.made.session, number__range=entry["turns"])
            for message in Message.objects.filter(turn__in=turns):
                yield from held_in(stage, message.pk, 0, len(message.text), sent)
