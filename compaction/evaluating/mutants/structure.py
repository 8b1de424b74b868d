"""Bytes that are no draft, or not all of one (gate A)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from compaction.domain.artifact import STATUSES, Section
from compaction.domain.making import with_id
from compaction.domain.verdicts import Gate
from compaction.evaluating.offering import bytes_of, offered_document

from .kinds import Good, Mutant, kind, kinds_in

planted = partial(kind, Gate.STRUCTURE, least=50, by_turns=True)

CUTS = (0.25, 0.5, 0.75)
# What a model's reply ends with when it did not say all it had to say.
UNFINISHED = ("length", "content_filter", "refused", "timeout", "")


def document_of(good: Good) -> Any:
    return json.loads(bytes_of(good.draft))


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def changed_item(good: Good, **update: Any) -> str:
    """The bytes with other values in the first item."""
    document = document_of(good)
    document["items"][0].update(update)
    return dumped(document)


@planted()
def cut_short(good: Good) -> Iterator[Mutant]:
    """The bytes end somewhere, or lack the last brace."""
    text = bytes_of(good.draft)
    for length in (*(int(len(text) * cut) for cut in CUTS), len(text) - 1):
        yield good.with_text(text[:length], f"cut after {length:,} of {len(text):,} characters")


@planted()
def an_enum_that_is_none(good: Good) -> Iterator[Mutant]:
    for key, value in (("section", "todo"), ("status", "finished"), ("actor", "system"), ("section", "Decision")):
        yield good.with_text(changed_item(good, **{key: value}), f"{key} {value!r}")


@planted()
def a_status_of_another_section(good: Good) -> Iterator[Mutant]:
    item = good.items[0]
    wrong = "open" if item.section not in (Section.OPEN_WORK, Section.NEXT_STEP) else "accepted"
    assert wrong not in STATUSES[item.section]
    yield good.with_text(changed_item(good, status=wrong), f"{item.section} with status {wrong}")


@planted()
def a_status_that_only_code_gives(good: Good) -> Iterator[Mutant]:
    yield good.with_text(changed_item(good, status="unconfirmed"), "status unconfirmed in a draft")


@planted()
def a_key_missing(good: Good) -> Iterator[Mutant]:
    for key in ("headline", "headline_items", "items"):
        document = document_of(good)
        del document[key]
        yield good.with_text(dumped(document), f"no {key}")
    for key in ("id", "section", "status", "actor", "text", "quotes"):
        document = document_of(good)
        del document["items"][-1][key]
        yield good.with_text(dumped(document), f"an item without {key}")


@planted()
def a_key_too_many(good: Good) -> Iterator[Mutant]:
    yield good.with_text(dumped(document_of(good) | {"notes": ""}), "notes at the top")
    yield good.with_text(changed_item(good, confidence=0.9), "an item with confidence")


@planted()
def a_key_twice(good: Good) -> Iterator[Mutant]:
    text = bytes_of(good.draft)
    first = '"headline":'
    yield good.with_text(text.replace(first, f'{first}"Something else.",{first}', 1), "two headlines")
    item = dumped(good.items[0].text)
    yield good.with_text(text.replace(f'"text":{item}', f'"text":"?","text":{item}', 1), "an item with two texts")


@planted()
def an_id_twice(good: Good) -> Iterator[Mutant]:
    document = document_of(good)
    document["items"].append(document["items"][0])
    yield good.with_text(dumped(document), "the first item stands twice")


@planted()
def a_value_of_another_type(good: Good) -> Iterator[Mutant]:
    quotes = document_of(good)["items"][0]["quotes"]
    message = quotes[0]["message"]
    for value in (str(message), float(message) + 0.5, True, None, [message]):
        wrong = [quotes[0] | {"message": value}, *quotes[1:]]
        yield good.with_text(changed_item(good, quotes=wrong), f"message {value!r} for {message}")
    yield good.with_text(changed_item(good, quotes=quotes[0]), "one quotation in place of a list")
    yield good.with_text(changed_item(good, id=1), "id 1 for a text")


@planted()
def a_text_that_says_nothing(good: Good) -> Iterator[Mutant]:
    yield good.with_text(changed_item(good, text=None), "text null")
    yield good.with_text(changed_item(good, text=""), "text empty")
    yield good.with_text(dumped(document_of(good) | {"headline": ""}), "headline empty")


@planted()
def prose_around(good: Good) -> Iterator[Mutant]:
    text = bytes_of(good.draft)
    yield good.with_text(f"{text}\n\nLet me know if anything is missing.", "a sentence after it")
    yield good.with_text(f"Here is the summary:\n{text}", "a sentence before it")
    yield good.with_text(f"```json\n{text}\n```", "a fence around it")
    yield good.with_text(f"{text}{text}", "the document twice")


@planted()
def nearly_json(good: Good) -> Iterator[Mutant]:
    text = bytes_of(good.draft)
    yield good.with_text(f"\ufeff{text}", "a byte order mark")
    yield good.with_text(f"{text[:-1]},}}", "a comma at the end")
    yield good.with_text(text.replace('"', "'"), "other quotation marks")
    yield good.with_text(f"// summary\n{text}", "a comment")
    yield good.with_text(text.replace('"message":', '"message":NaN,"was":', 1), "NaN")


@planted()
def nothing_at_all(good: Good) -> Iterator[Mutant]:
    for text in ("", " \n", "null", "[]", "{}", '"done"'):
        yield good.with_text(text, f"the bytes are {text!r}")


@planted()
def an_end_that_is_none(good: Good) -> Iterator[Mutant]:
    """All the bytes are there, and the endpoint says that there should be more."""
    for reason in UNFINISHED:
        yield good.with_text(bytes_of(good.draft), f"stop reason {reason!r}", stop_reason=reason)


@planted()
def a_headline_of_items_that_are_not_there(good: Good) -> Iterator[Mutant]:
    document = document_of(good)
    document["headline_items"].append("i999")
    yield good.with_text(dumped(document), "headline_items names i999")


@planted()
def an_item_left_out_after_parsing(good: Good) -> Iterator[Mutant]:
    """What stands in the prompt is not what was offered."""
    fewer = good.artifact.model_copy(update={"items": good.artifact.items[:-1], "headline_items": ()})
    yield good.made_otherwise(with_id(fewer), "the artifact lacks the last item of the bytes")


@planted()
def a_text_changed_after_parsing(good: Good) -> Iterator[Mutant]:
    """What stands in the prompt is not what was offered."""
    first, *rest = good.artifact.items
    items = (first.model_copy(update={"text": f"{first.text} As agreed."}), *rest)
    yield good.made_otherwise(with_id(good.artifact.model_copy(update={"items": items})), "another text of an item")
    headline = good.artifact.model_copy(update={"headline": f"{good.artifact.headline} As agreed."})
    yield good.made_otherwise(with_id(headline), "another headline")


@planted()
def a_document_that_is_not_what_its_id_says(good: Good) -> Iterator[Mutant]:
    artifact = good.artifact.model_copy(update={"headline": f"{good.artifact.headline} As agreed."})
    judged = offered_document(good.case, artifact, good.run, count=good.count)
    yield Mutant(changed="a document changed after it got its id", judged=judged)


KINDS = kinds_in(globals())
