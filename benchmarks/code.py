"""How well code is found: questions made of what a package says of its own symbols, with those words taken out of it.

    python -m benchmarks.code FOLDER [FOLDER ...] [--pages FOLDER] [--asked FILE] [--vectors FILE]

A question is the first sentence of the comment that a public symbol has, without the words of its name. It is asked
twice: of the package as it is, where the comment is one text among all others, and of a copy in which the comments of
all symbols that are asked about are blanked, so that no question stands in it. Nobody has chosen or worded a question;
which symbols are asked about is drawn by hash, among those of which no other has the same sentence. With `--pages`, the
documentation of a Python package by Sphinx, its pages make questions too (`benchmarks/code_questions.py`). Half of all
are held back, drawn by hash, and told apart. Recall@8: of how many questions the symbol is among the first eight.

With `--asked` the questions are those of a file instead, lines of JSON: package (the folder's name), question, path,
symbol, and others that answer it as well (also). `benchmarks/code_asked.jsonl` was worded by somebody who saw the
packages alone.

Where a model of meanings is connected (CCM_EMBEDDINGS_FOLDER, or CCM_EMBEDDINGS_URL and CCM_EMBEDDINGS_MODEL), symbols
get their vectors as the background gives them, and meanings are compared too. `--vectors` keeps what was embedded, so
that the model is asked for each text once.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.code_questions import Question, documented, without_name, written

FIRST = 8
QUESTIONS, OF_PAGES = 40, 100
# Lines above a definition that grep counts as its comment.
ABOVE = 40


def main(folders: Sequence[str], pages: Path | None, asked_in: Path | None = None, vectors: Path | None = None) -> None:
    home = tempfile.mkdtemp(prefix="ccm-code-")
    os.environ |= {"CCM_HOME": home, "CCM_WORKSPACE_ROOTS": home, "DJANGO_SETTINGS_MODULE": "ccmweb.settings"}
    import django

    django.setup()
    from django.core.management import call_command

    from efforts.models.threads import keep_for_good

    call_command("migrate", verbosity=0)
    # As a server does.
    keep_for_good()
    if connected(vectors):
        RANKERS["embeddings"] = by_meaning
    total: Counter[str] = Counter()
    asked = 0
    try:
        for folder in folders:
            one = Path(folder)
            found, questions = measure_asked(one, Path(home), asked_in) if asked_in else measure(one, Path(home), pages)
            total.update(found)
            asked += questions
        print(f"all: {asked} questions")
        for name, right in sorted(total.items()):
            print(f"  {name}: {right / max(asked, 1):.2f}")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def measure_asked(folder: Path, home: Path, asked_in: Path) -> tuple[dict[str, int], int]:
    from workspaces.indexing import worker

    whole, copy = attached(folder, home)
    worker.index(whole)
    embed_symbols(whole)
    found: Counter[str] = Counter()
    questions = [known(whole.current, one) for one in written(asked_in, folder.name)]
    print(f"{folder.name}:")
    ask("worded by hand", whole.current, copy, questions, found)
    return found, len(questions)


def known(snapshot: Any, question: Question) -> Question:
    """With the names that the index has for its answers; where it has none the question is missed."""
    from workspaces.models import Symbol

    names: list[str] = []
    for path, symbol in question.answers_at:
        rows = Symbol.objects.filter(snapshot.standing_by_file, file__path=path).values_list("qualified", flat=True)
        names += [name for name in rows if f".{name}".endswith(f".{symbol}")]
    return replace(question, qualified=(names or [""])[0], also=tuple(("", name) for name in names[1:]))


def attached(folder: Path, home: Path) -> tuple[Any, Path]:
    """The workspace, not indexed yet, and the copy that it is of."""
    from django.contrib.auth.models import User

    from efforts.actions import create_session
    from workspaces.actions import attach_folder
    from workspaces.indexing import worker

    copy = home / folder.name
    shutil.copytree(folder, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", "node_modules", "var"))
    owner, _ = User.objects.get_or_create(username="measured")
    started = worker.start
    worker.start = lambda workspace_id: None  # here, and not beside
    try:
        return attach_folder(create_session(owner), str(copy), actor=owner), copy
    finally:
        worker.start = started


def measure(folder: Path, home: Path, pages: Path | None) -> tuple[dict[str, int], int]:
    from workspaces.indexing import worker

    whole, copy = attached(folder, home)
    began, processor = time.monotonic(), time.process_time()
    worker.index(whole)
    took, worked = time.monotonic() - began, time.process_time() - processor
    embed_symbols(whole)
    snapshot = whole.current
    assert snapshot is not None
    size = os.path.getsize(home / "db.sqlite3")
    questions = list(drawn(snapshot))
    found: Counter[str] = Counter()
    out: Counter[str] = Counter()
    ask("their comments in place", snapshot, copy, questions, found)
    if pages:
        ask("worded by its pages", snapshot, copy, list(documented(pages, asked_of(snapshot), OF_PAGES)), Counter())
    blank(copy, snapshot, questions)
    began, processor = time.monotonic(), time.process_time()
    worker.index(whole)
    blanked = whole.current
    assert blanked is not None
    embed_symbols(whole)
    one = min((path for path in copy.rglob("*.*") if path.suffix in (".py", ".ts", ".rs", ".go")), key=str)
    one.write_text(one.read_text(errors="replace") + "\n")
    again, processor = time.monotonic(), time.process_time()
    worker.index(whole)
    print(
        f"{folder.name}: {snapshot.files:,} files, {snapshot.lines:,} lines, {snapshot.symbols:,} symbols; indexed in "
        f"{took:.1f} s ({worked:.1f} s of a processor); one file changed: {time.monotonic() - again:.2f} s "
        f"({time.process_time() - processor:.2f} s); {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB of "
        f"memory at most; database {size / 1e6:.0f} MB",
        flush=True,
    )
    ask("their comments taken out", blanked, copy, questions, out)
    for question in questions[:3]:
        print(f"    e.g. {question.text!r} -> {question.qualified}", flush=True)
    return {name: found[name] for name in found} | {name: out[name] for name in out}, len(questions)


def connected(vectors: Path | None) -> bool:
    """The installation's model of meanings, wherever the program asks for it."""
    from benchmarks.recall.remembered import Remembered
    from efforts.context import embedders
    from efforts.memory import vectors as passages

    embedder = embedders.embedder_of(None)
    if embedder and vectors:
        remembered = Remembered(embedder, vectors)
        for place in (embedders, passages):
            vars(place)["embedder_of"] = lambda endpoint: remembered
    return embedder is not None


def embed_symbols(workspace: Any) -> None:
    """As the background does it, here and now."""
    from efforts.memory.vectors import SECONDS
    from workspaces.indexing.meanings import claim_batch, record_batch
    from workspaces.models import SymbolVector

    began, before = time.process_time(), SymbolVector.objects.count()
    while batch := claim_batch():
        record_batch(batch, batch.embedder.embed(batch.texts, seconds=SECONDS))
    if index := workspace.vector_indexes.first():
        print(
            f"  {index.symbols:,} symbols compared by meaning, {SymbolVector.objects.count() - before:,} new vectors, "
            f"{time.process_time() - began:.0f} s of this processor, {index.tokens:,} tokens so far",
            flush=True,
        )


def ask(label: str, snapshot: Any, folder: Path, questions: Sequence[Question], found: Counter[str]) -> None:
    milliseconds, held = 0.0, Counter[str]()
    for question in questions:
        for name, ranker in RANKERS.items():
            began = time.monotonic()
            hits = ranker(snapshot, folder, question.text)
            milliseconds += (time.monotonic() - began) * 1000 if name == "graph" else 0
            is_found = not question.answers.isdisjoint(hits[:FIRST])
            found[f"{label}: {name}"] += is_found
            held[name] += is_found and question.is_held_back
    shares = ", ".join(f"{name} {found[f'{label}: {name}'] / max(len(questions), 1):.2f}" for name in RANKERS)
    back = sum(question.is_held_back for question in questions)
    print(
        f"  {len(questions)} questions, {label}: {shares}; {milliseconds / max(len(questions), 1):.0f} ms each; of the "
        f"{back} held back {', '.join(f'{name} {held[name] / max(back, 1):.2f}' for name in RANKERS)}",
        flush=True,
    )


def asked_of(snapshot: Any) -> dict[str, str]:
    """Path of each symbol that a page may name."""
    from workspaces.models import Symbol

    rows = Symbol.objects.filter(snapshot.standing_by_file, is_test=False, kind__in=["function", "method", "class"])
    return dict(rows.values_list("qualified", "file__path"))


def drawn(snapshot: Any) -> Iterator[Question]:
    from efforts.domain.text.canonical import sha256
    from efforts.domain.text.sentences import sentences
    from workspaces.models import Symbol

    rows = Symbol.objects.filter(snapshot.standing_by_file, is_test=False).exclude(doc="").select_related("file")
    rows = rows.filter(kind__in=["function", "method", "class"]).exclude(name__startswith="_")
    names = Counter(Symbol.objects.filter(snapshot.standing_by_file).values_list("qualified", flat=True))
    firsts = {row.pk: next(iter(sentences(" ".join(row.doc.split("\n\n")[0].split()))), "") for row in rows}
    # What is said of several symbols asks for none of them.
    said = Counter(firsts.values())
    asked = 0
    for row in sorted(rows, key=lambda row: sha256(row.qualified)):
        first = firsts[row.pk]
        text = without_name(first, row.name)
        if names[row.qualified] > 1 or said[first] > 1 or not text:
            continue
        yield Question(text, row.file.path, row.qualified)
        asked += 1
        if asked == QUESTIONS:
            return


def blank(copy: Path, snapshot: Any, questions: Sequence[Question]) -> None:
    """Without the comments of what is asked about; the numbers of lines stay."""
    from workspaces.models import Symbol

    by_path: dict[str, list[Any]] = defaultdict(list)
    wanted = Symbol.objects.filter(snapshot.standing_by_file, qualified__in=[one.qualified for one in questions])
    for row in wanted.select_related("file"):
        by_path[row.file.path].append(row)
    for path, rows in by_path.items():
        text = (copy / path).read_text(errors="replace")
        for row in rows:
            for line in {line.strip() for line in row.doc.split("\n") if len(line.strip()) > 3}:
                text = text.replace(line, "")
        (copy / path).write_text(text)


def by_text(snapshot: Any, folder: Path, query: str) -> list[str]:
    from workspaces.retrieval.search import Rankers, search

    found = search(snapshot, query, most=FIRST, rankers=Rankers(graph=False))
    return [found.rows[one.symbol].qualified for one in found.scored if one.symbol in found.rows]


def by_graph(snapshot: Any, folder: Path, query: str) -> list[str]:
    from workspaces.retrieval.search import search

    found = search(snapshot, query, most=FIRST)
    return [found.rows[one.symbol].qualified for one in found.scored if one.symbol in found.rows]


def by_cards(snapshot: Any, folder: Path, query: str) -> list[str]:
    """The cards that a prompt may show, of which it shows the first eight."""
    from efforts.domain.effort.policy import ContextMode
    from workspaces.joining import LOOKED_AT
    from workspaces.retrieval.cards import cards_of
    from workspaces.retrieval.search import search

    found = search(snapshot, query, most=LOOKED_AT)
    return [card.symbol.qualified for card in cards_of(snapshot, found, ContextMode.LIGHT)]


def by_meaning(snapshot: Any, folder: Path, query: str) -> list[str]:
    from efforts.context.embedders import Wording
    from workspaces.retrieval.meanings import meaning_in
    from workspaces.retrieval.search import search

    session = snapshot.workspace.attachments.first().session
    asked = meaning_in(snapshot.workspace, Wording(session, query))
    assert asked.meant, asked.fault
    found = search(snapshot, query, most=FIRST, meant=asked.meant)
    return [found.rows[one.symbol].qualified for one in found.scored if one.symbol in found.rows]


def by_grep(snapshot: Any, folder: Path, query: str) -> list[str]:
    """What a person gets with ripgrep and ctags: definitions by how many words of the question stand in their lines,
    then in their names, then by how often."""
    from efforts.domain.text.terms import STOPWORDS

    words = {word.lower() for word in re.findall(r"\w{3,}", query)} - STOPWORDS
    tags = tags_of(folder)
    scores: Counter[tuple[str, int]] = Counter()
    for word in sorted(words):
        run = subprocess.run(
            ["rg", "-nioFw", "--no-heading", "--no-ignore", "--", word, "."],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
        )
        hit: set[tuple[str, int]] = set()
        for line in run.stdout.splitlines():
            path, _, rest = line.removeprefix("./").partition(":")
            number = rest.partition(":")[0]
            if number.isdecimal() and (tag := around(tags.get(path, ()), int(number))):
                hit.add((path, tag[0]))
                scores[path, tag[0]] += 1
        for one in hit:
            scores[one] += 1_000
        for path, several in tags.items():
            for first, _, name in several:
                if word in name.lower():
                    scores[path, first] += 1_500
    best = [place for place, _ in sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:FIRST]]
    return [name for path, line in best for name in qualified_at(snapshot, path, line)]


def around(tags: Sequence[tuple[int, int, str]], number: int) -> tuple[int, int, str] | None:
    """The innermost definition that holds a line."""
    holding = [tag for tag in tags if tag[0] <= number <= tag[1]]
    # A comment above a definition is of it, as a reader would say.
    below = [tag for tag in tags if number < tag[0] <= number + ABOVE]
    return min(below, default=None) if below and not holding else max(holding, default=None)


_tags: dict[Path, dict[str, list[tuple[int, int, str]]]] = {}


def tags_of(folder: Path) -> dict[str, list[tuple[int, int, str]]]:
    if folder not in _tags:
        run = subprocess.run(
            ["ctags", "-R", "--fields=+ne", "--kinds-Python=cfm", "-f", "-", "."],
            cwd=folder,
            capture_output=True,
            text=True,
            errors="replace",
        )
        found: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for row in run.stdout.splitlines():
            name, path, *_ = row.split("\t")
            begin, end = re.search(r"\tline:(\d+)", row), re.search(r"\tend:(\d+)", row)
            if begin:
                first = int(begin[1])
                found[path.removeprefix("./")].append((first, int(end[1]) if end else first, name))
        _tags[folder] = found
    return _tags[folder]


def qualified_at(snapshot: Any, path: str, line: int) -> list[str]:
    """Our name for what ctags found at a line."""
    from workspaces.models import Symbol

    rows = Symbol.objects.filter(snapshot.standing_by_file, file__path=path, first_line__lte=line, last_line__gte=line)
    return list(rows.order_by("-first_line").values_list("qualified", flat=True)[:1])


RANKERS: dict[str, Callable[[Any, Path, str], list[str]]] = {
    "bm25": by_text,
    "graph": by_graph,
    "cards": by_cards,
    "ripgrep+ctags": by_grep,
}

if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("folders", nargs="+")
    options.add_argument("--pages", type=Path)
    options.add_argument("--asked", type=Path)
    options.add_argument("--vectors", type=Path)
    chosen = options.parse_args()
    main(chosen.folders, chosen.pages, chosen.asked, chosen.vectors)
