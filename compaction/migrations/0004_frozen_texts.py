"""Artifacts of `compaction.v1` keep their texts for ever: what they stood by, and what that was expanded to."""

import json
import zlib

from django.db import migrations

TITLES = {
    "constraint": "Rules",
    "decision": "Decisions",
    "open_work": "Open work",
    "next_step": "Next",
    "changed": "Changed",
    "fact": "Facts",
    "risk": "Risks",
    "rejected": "Rejected",
}
MARKS = {"proposed", "superseded", "rejected", "blocked", "done", "dropped", "revoked", "unconfirmed"}


def line(text):
    return " ".join(text.split())


def body_of(document):
    """As the first form was rendered."""
    said = quotations(document["items"])
    lines = [document["headline"]]
    opening = document["opening"]
    asked = " … ".join(link["quote"].strip() for link in opening)
    if asked and not all(any(line(link["quote"]) in text for _, text in said) for link in opening):
        lines.append(f"Asked: “{asked}”")
    turns = document["kind"] != "seed"
    for section, title in TITLES.items():
        told = [item for item in document["items"] if item["section"] == section and not is_quotation(item)]
        if told:
            lines += [f"{title}:", *(f"- {line_of(item, turns)}" for item in told)]
    if said:
        lines.append("Said:")
        lines += [f"- {turn}: “{text}”" if turns else f"- “{text}”" for turn, text in said]
    return "\n".join(lines)


def is_quotation(item):
    return item["verbatim"] and item["ledger_ref"] is None


def line_of(item, turns):
    mark = item["status"] if item["section"] != "changed" and item["status"] in MARKS else ""
    note = ", ".join(part for part in (mark, f"turn {item['as_of_turn']}" if turns else "") if part)
    text = f"“{line(item['text'])}”" if item["verbatim"] else line(item["text"])
    return f"{text} ({note})" if note else text


def quotations(items):
    found = {}
    for item in items:
        if is_quotation(item):
            for link in item["links"]:
                if line(link["quote"]) in line(item["text"]):
                    found.setdefault((link["message"], link["part"]), []).append((link, item))
    return [quotation(pairs) for _, pairs in sorted(found.items())]


def quotation(pairs):
    text, end = "", -1
    for link in sorted((link for link, _ in pairs), key=lambda link: (link["start"], -link["end"])):
        if link["end"] > end:
            gap = "" if end < 0 else " " if link["start"] <= end + 1 else " … "
            text += gap + link["quote"][max(end - link["start"], 0) if end >= 0 else 0 :].strip()
            end = link["end"]
    return max(item["as_of_turn"] for _, item in pairs), line(text)


def freeze(apps, schema_editor):
    Artifact = apps.get_model("compaction", "Artifact")
    for row in Artifact.objects.only("pk", "packed", "standing", "kind").iterator(chunk_size=50):
        document = json.loads(zlib.decompress(bytes(row.packed)))
        Artifact.objects.filter(pk=row.pk).update(
            schema_version="compaction.v1",
            headline=row.standing or document["headline"],
            body=body_of(document),
            kind="range" if row.kind == "intentional" else row.kind,
        )


def keep_answers(apps, schema_editor):
    """What was answered stands in rows of its own from now on; what had been asked was not kept then."""
    DraftRun = apps.get_model("compaction", "DraftRun")
    ModelRequest = apps.get_model("compaction", "ModelRequest")
    for run in DraftRun.objects.exclude(attempts=[]).iterator(chunk_size=50):
        ModelRequest.objects.bulk_create(
            ModelRequest(
                run=run,
                place=place,
                step="half" if run.drafter == "judge" else "draft",
                packed=b"",
                answer=attempt.get("text", ""),
                stop_reason=attempt["stop_reason"][:20],
                usage=attempt["usage"],
                elapsed_ms=max(attempt["elapsed_ms"], 0),
                error=attempt["error"],
            )
            for place, attempt in enumerate(run.attempts)
        )


class Migration(migrations.Migration):
    dependencies = [
        ("compaction", "0003_checks"),
    ]

    operations = [
        migrations.RunPython(freeze, migrations.RunPython.noop),
        migrations.RunPython(keep_answers, migrations.RunPython.noop),
    ]
