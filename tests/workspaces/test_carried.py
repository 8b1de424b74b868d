"""What is carried from one snapshot to the next is what a look at everything would find."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workspaces.conftest import indexed, write
from workspaces.domain.carried import Carried, Sure, carry, leads_of
from workspaces.domain.graph import FileName, Named, Names, Resolver, Written
from workspaces.domain.languages import language_of, module_of
from workspaces.domain.outline import outline_of
from workspaces.domain.roots import roots_of
from workspaces.indexing import finishing
from workspaces.indexing.forgetting import forget
from workspaces.indexing.symbols import Indexed
from workspaces.models import File, Workspace
from workspaces.retrieval import naming

Texts = Mapping[str, str]

# Few names and many ways to use them, so that a change of one file moves what others say.
NAME = st.sampled_from(["f", "g", "h", "K", "L", "M", "size"])
MODULE = st.sampled_from(["a", "b", "pkg", "pkg.c", ".", ".a", ".c"])
BODY = st.one_of(
    st.builds("{}()".format, NAME),
    st.builds("self.{}()".format, NAME),
    st.builds("{}.{}()".format, st.sampled_from(["a", "m", "K", "pkg", "pkg.c", "super()"]), NAME),
)
PYTHON = st.one_of(
    st.builds("from {} import {}\n".format, MODULE, st.one_of(NAME, st.just("*"), st.just("c"))),
    st.builds("from {} import {} as m\n".format, MODULE, NAME),
    st.sampled_from(["import a\n", "import pkg.c\n", "import b as m\n"]),
    st.builds("def {}():\n    {}\n".format, NAME, BODY),
    st.builds("class {}({}):\n    pass\n".format, NAME, NAME),
    st.builds("class {}({}):\n    def {}(self):\n        {}\n".format, NAME, st.sampled_from("KLm"), NAME, BODY),
    st.builds("def {}():\n    class {}:\n        def size(self):\n            {}\n".format, NAME, NAME, BODY),
    st.builds("{}\n".format, BODY),
)
GO = st.one_of(
    st.sampled_from(['import "shop/pkg"\n', 'import m "shop"\n', "type L interface { K }\n"]),
    st.builds("type {} struct {{ {} }}\n".format, st.sampled_from("KL"), st.sampled_from(["K", "m.L", "pkg.K"])),
    st.builds("func {}() {{ {}() }}\n".format, NAME, NAME),
    st.builds("func (k *{}) {}() {{ k.{}() }}\n".format, st.sampled_from("KL"), NAME, NAME),
    st.builds("func g() {{ {}.{}() }}\n".format, st.sampled_from(["m", "pkg"]), NAME),
)
RUST = st.one_of(
    st.builds("use crate::{}::{{{}}};\n".format, st.sampled_from("ab"), st.sampled_from(["f", "K", "L as m", "self"])),
    st.builds("struct {};\n".format, st.sampled_from("KL")),
    st.builds("trait {}: {} {{ fn size(&self); }}\n".format, st.sampled_from("KL"), st.sampled_from("KL")),
    st.builds("impl {} {{ fn {}(&self) {{ Self::{}(); }} }}\n".format, st.sampled_from("KL"), NAME, NAME),
    st.builds("fn {}() {{ {}::{}(); {}(); }}\n".format, NAME, st.sampled_from(["K", "m", "crate::a"]), NAME, NAME),
)
LANGUAGES = (
    (PYTHON, ("a.py", "b.py", "pkg/__init__.py", "pkg/c.py")),
    (GO, ("one.go", "two.go", "pkg/p.go")),
    (RUST, ("src/a.rs", "src/b.rs")),
)
ALWAYS = {
    "go.mod": "module shop\n",
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/lib.rs": "pub mod a;\npub mod b;\n",
}


def snapshots(*several: Texts) -> list[tuple[Resolver, list[Written]]]:
    """Of one folder: a version of a file has an id of its own, and those of its symbols."""
    versions: dict[tuple[str, str], int] = {}
    return [read(texts, versions) for texts in several]


def read(texts: Texts, versions: dict[tuple[str, str], int]) -> tuple[Resolver, list[Written]]:
    files, symbols, written = dict[int, FileName](), dict[int, Named](), list[Written]()
    for path, text in sorted(texts.items()):
        language = language_of(path)
        pk = versions.setdefault((path, text), len(versions) + 1)
        files[pk] = FileName(path, language, module_of(path, language, text))
        file = File(pk=pk, workspace_id=UUID(int=1), path=path, language=language, module=files[pk].module, text=text)
        one = Indexed(file, outline_of(path, language, text))
        for id, _, _, parent, kind, name, qualified, *_, is_test, _, _, _, _, _ in one.symbols():
            symbols[id] = Named(id, pk, kind, name, qualified, parent, is_test)
        written += (Written(*more) for _, *more in one.edges())
    imports, bases = defaultdict[int, list[Written]](list), defaultdict[int, list[Written]](list)
    for edge in written:
        if edge.kind == "imports":
            imports[edge.file].append(edge)
        elif edge.kind == "inherits":
            bases[edge.source].append(edge)
    modules = {file.path: file.module for file in files.values() if file.module}
    manifests = {path: text for path, text in texts.items() if path in ("go.mod", "Cargo.toml")}
    names = Names(files=files, symbols=symbols, roots=roots_of("shop", modules, manifests))
    return Resolver(names=names, imports=dict(imports), bases=dict(bases)), written


def carried(before: Texts, after: Texts) -> Carried | None:
    """As an index does it; compared with what is found by looking at everything."""
    (old, references), (new, written) = snapshots(before, after)
    found = carry(leads_of(old, references), old, new)
    if found is not None:
        left = (one for one in written if one.file in found.files or one.name in found.names)
        assert flat(found.leads) | flat(leads_of(new, left)) == flat(leads_of(new, written))
    return found


def flat(leads: Mapping[int, object]) -> set[Sure]:
    return {one for several in leads.values() for one in several}  # type: ignore[attr-defined]


@settings(max_examples=600)
@given(st.data())
def test_what_is_carried_is_what_a_look_at_everything_finds(data: st.DataObject) -> None:
    piece, paths = data.draw(st.sampled_from(LANGUAGES))
    texts = {path: data.draw(st.lists(piece, max_size=6), label=path) for path in paths}
    changed = data.draw(st.sampled_from(paths))
    at = data.draw(st.integers(0, len(texts[changed])))
    # One piece is put in, taken out, or written otherwise; or two change places.
    put = data.draw(st.lists(piece, max_size=1))
    out = data.draw(st.integers(0, 1))
    swapped = data.draw(st.booleans())
    pieces = [*texts[changed][:at], *put, *texts[changed][at + out :]]
    after = {**texts, changed: [*pieces[1:2], *pieces[:1], *pieces[2:]] if swapped else pieces}
    carried(*({**ALWAYS, **{path: "".join(several) for path, several in one.items()}} for one in (texts, after)))


BEFORE = {
    "money.py": "def add(a):\n    return a\n\n\nclass Sum:\n    def total(self):\n        return add(1)\n",
    "cart.py": "from money import Sum, add\n\n\nclass Cart(Sum):\n    def pay(self):\n        self.total(self.net())\n",
}


@pytest.mark.parametrize(
    ("path", "old", "new", "names"),
    [
        ("money.py", "return a\n", "return a + 0\n", set()),
        # What it says of itself: a name that is new, and one that is gone.
        ("money.py", "class Sum:", "def minus():\n    add(1)\n\n\nclass Sum:", {"minus"}),
        ("money.py", "def total", "def net", {"net", "total"}),
        ("cart.py", "def pay", "def pays", {"pay", "pays"}),
        # A class that others may inherit from, by a name that none of them uses yet.
        ("money.py", "class Sum:", "class Net(Sum):\n    pass\n\n\nclass Sum:", {"Net"}),
    ],
)
def test_a_change_of_one_file_leaves_the_others_unread(path: str, old: str, new: str, names: set[str]) -> None:
    found = carried(BEFORE, {**BEFORE, path: BEFORE[path].replace(old, new)})
    assert found is not None
    assert found.names == names
    assert len(found.files) == 1


USES_F = "from b import *\n\n\ndef g():\n    f()\n"
USES_L = "from b import *\n\n\nclass K(L):\n    def g(self):\n        self.size()\n"
M = "class M:\n    def size(self):\n        pass\n\n\n"
GO_FILE = "package shop\n\n"
NESTED = "    class M:\n        def size(self):\n            pass\n\n    class L(M):\n        pass\n"


@pytest.mark.parametrize(
    ("others", "path", "old", "new"),
    [
        ({"a.py": "from b import f as m\n\n\ndef g():\n    m()\n"}, "b.py", "", "def f():\n    pass\n"),
        ({"a.py": USES_L}, "b.py", M, f"{M}class L(M):\n    pass\n"),
        ({"a.py": USES_L}, "b.py", f"{M}class L:\n    pass\n", f"{M}class L(M):\n    pass\n"),
        (
            {"a.py": USES_L.replace("from b import *", "import b").replace("(L)", "(b.f.L)")},
            "b.py",
            f"class f:\n{NESTED}",
            f"def f():\n{NESTED}",
        ),
        ({"a.py": USES_F}, "b.py", "def f(): pass\n\nclass f: pass\n", "class f: pass\n\ndef f(): pass\n"),
        ({"a.py": USES_F.replace("*", "c"), "c.py": "def f(): pass\n"}, "b.py", "", "from c import f\n"),
        ({"a.py": "import b\n\n\ndef g():\n    b.f()\n", "c.py": "def f(): pass\n"}, "b.py", "", "from c import f\n"),
        (
            {"a.go": f"{GO_FILE}func (k *K) f() {{ k.g() }}\nfunc (k *K) g() {{}}\n"},
            "b.go",
            GO_FILE,
            f"{GO_FILE}type K struct{{}}\n",
        ),
        (
            {"b.go": f"{GO_FILE}func g() {{ f() }}\n", "c.go": f"{GO_FILE}func f() {{}}\n"},
            "a.go",
            "",
            f"{GO_FILE}func f() {{}}\n",
        ),
        (
            {"p/p.go": "package p\n\nfunc F() {}\n", "a.go": f'{GO_FILE}import m "shop/p"\n\nfunc g() {{ m.F() }}\n'},
            "go.mod",
            "module shop\n",
            "module other\n",
        ),
    ],
    ids=[
        "by another name",
        "a base that was not there",
        "a base has a base",
        "what is around a base",
        "the first of two",
        "imported where it was not",
        "passed on",
        "the type of methods",
        "before another of its name",
        "the name of the module",
    ],
)
def test_what_moves_elsewhere_is_found(others: Texts, path: str, old: str, new: str) -> None:
    carried({**others, path: old}, {**others, path: new})


def test_a_module_that_makes_another_ambiguous_has_all_looked_up() -> None:
    before = {"a.py": "import b\n\n\ndef g():\n    b.f()\n", "pkg/b.py": "def f(): pass\n"}
    assert carried(before, {**before, "other/b.py": ""}) is None


@pytest.mark.parametrize(
    "after",
    [
        {**BEFORE, "tax.py": ""},
        {"cart.py": BEFORE["cart.py"]},
        # What others import, or have imported through it.
        {**BEFORE, "money.py": BEFORE["money.py"].replace("add", "plus")},
        {**BEFORE, "cart.py": BEFORE["cart.py"].replace("Sum, add", "Sum")},
        {**BEFORE, "money.py": BEFORE["money.py"].replace("Sum:", "Sum(dict):")},
    ],
)
def test_what_may_move_references_anywhere_has_all_looked_up(after: Texts) -> None:
    assert carried(BEFORE, after) is None


def test_an_index_that_follows_reads_only_references_that_may_have_moved(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, **{path.replace(".", "_"): text for path, text in BEFORE.items()})
    indexed(workspace)
    resolved = list[str]()

    def looked_up(resolver: Resolver, references: object) -> dict[int, object]:
        written = list[Written](references)  # type: ignore[call-overload]
        resolved.extend(f"{resolver.names.files[one.file].path}: {one.name}" for one in written)
        return leads_of(resolver, written)  # type: ignore[return-value]

    monkeypatch.setattr(finishing, "leads_of", looked_up)
    write(root, money_py=BEFORE["money.py"].replace("def total", "def net"))
    indexed(workspace)
    assert sorted(resolved) == ["cart.py: net", "cart.py: total", "money.py: add"]


def test_more_new_files_than_one_question_may_name_are_read_with_all_others(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database takes some ten thousand values at once, and a folder has more files."""
    monkeypatch.setattr(naming, "MOST", 2)
    write(root, old_py="def old(): pass\n")
    indexed(workspace)
    write(root, **{f"new{number}_py": f"from old import old\ndef f{number}(): old()\n" for number in range(3)})
    with CaptureQueriesContext(connection) as asked:
        indexed(workspace)
    named = [re.findall(r'"file_id" IN \(([\d, ]+)\)', query["sql"]) for query in asked]
    assert max((ids.count(",") + 1 for found in named for ids in found), default=0) <= 2
    resolver = finishing.remembered[workspace.pk].resolver
    names = sorted(one.qualified for one in resolver.names.symbols.values())
    assert names == ["new0", "new0.f0", "new1", "new1.f1", "new2", "new2.f2", "old", "old.old"]
    assert len(resolver.imports) == 3


def test_what_is_remembered_of_a_folder_goes_with_it(
    workspace: Workspace, root: Path, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    write(root, a_py="x = 1\n")
    pk = indexed(workspace).pk
    assert pk in finishing.remembered
    with django_capture_on_commit_callbacks(execute=True):
        forget(workspace)
    assert pk not in finishing.remembered
