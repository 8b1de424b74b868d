"""Where references lead, in each language by its own rules: within a package, between packages, and from tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspaces.conftest import indexed
from workspaces.domain.graph import SURE, FileName, Named, Names, Resolver, Written
from workspaces.domain.states import EdgeKind
from workspaces.models import Workspace
from workspaces.retrieval.naming import read_resolver, written_of

GO = {
    "go.mod": "module example.org/shop/v2\n\ngo 1.20\n",
    "shop.go": "package shop\n\nfunc Open() int { return limit() }\n",
    "limits.go": "package shop\n\nfunc limit() int { return 3 }\n",
    "shop_test.go": "package shop\n\nfunc TestOpen(t *T) { Open() }\n",
    "money/money.go": "package money\n\ntype Sum struct{}\n\nfunc (s *Sum) Add(x int) int { return plus(x) }\n",
    "money/plus.go": "package money\n\nfunc plus(x int) int { return x }\n",
    "cart/cart.go": (
        'package cart\n\nimport (\n\t"fmt"\n\t"example.org/shop/v2"\n\t"example.org/shop/v2/money"\n)\n\n'
        "type Cart struct { money.Sum }\n\ntype Box interface { Closer }\n\ntype Closer interface { Close() }\n\n"
        "func (c *Cart) Total() int { return shop.Open() + c.net() }\n\nfunc (c *Cart) net() int { return 1 }\n\n"
        "func (c *Cart) Print() { fmt.Println(c.net()) }\n"
    ),
}
RUST = {
    "Cargo.toml": '[package]\nname = "my-shop"\nversion = "1.0.0"\n',
    "src/lib.rs": "pub mod money;\npub mod cart;\npub use money::add;\npub fn open() {}\n",
    "src/money.rs": "pub fn add(a: u8) -> u8 { a }\npub trait Sum { fn total(&self) -> u8; }\n",
    "src/cart.rs": (
        "use crate::money::{add, Sum};\nuse crate::open;\npub struct Cart;\n"
        "impl Cart { pub fn new() -> Self { open(); Self::empty() } fn empty() -> Self { Cart } }\n"
        "impl Sum for Cart { fn total(&self) -> u8 { add(1) } }\n"
        "#[cfg(test)]\nmod tests { use super::*; fn made() -> Cart { Cart::new() } #[test] fn adds() { made(); } }\n"
    ),
    "tests/whole.rs": (
        "use my_shop::cart::Cart;\nuse my_shop::add;\n#[test]\nfn works() { Cart::new(); add(1); my_shop::open(); }\n"
    ),
}
PYTHON = {
    "__init__.py": "from shop.money import add\n",
    "money.py": "def add(a):\n    return a\n",
    "cart.py": "from shop import add\nfrom shop import money\n\n\ndef total():\n    return add(1) + money.add(2)\n",
    "desk.py": "import shop\n\n\ndef pay():\n    return shop.add(1)\n",
}


def sure_leads(workspace: Workspace) -> set[tuple[str, str, str]]:
    assert workspace.current is not None
    resolver = read_resolver(workspace.current)
    named = {id: one.qualified for id, one in resolver.names.symbols.items()}
    return {
        (named[one.source], one.kind, named[lead.target])
        for one in written_of(workspace.current)
        for lead in resolver.leads(one)
        if lead.confidence >= SURE
    }


def write_all(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            GO,
            {
                # Files of one folder are one package, that of the root too.
                ("shop.Open", "calls", "shop.limit"),
                ("shop.TestOpen", "calls", "shop.Open"),
                ("money.Sum.Add", "calls", "money.plus"),
                # Imports begin with the name of the module, whose version is no part of a name.
                ("cart", "imports", "shop"),
                ("cart", "imports", "money"),
                ("cart.Cart", "inherits", "money.Sum"),
                ("cart.Box", "inherits", "cart.Closer"),
                ("cart.Cart.Total", "calls", "shop.Open"),
                ("cart.Cart.Total", "calls", "cart.Cart.net"),
                # What comes from elsewhere leads nowhere.
                ("cart.Cart.Print", "calls", "cart.Cart.net"),
            },
        ),
        (
            RUST,
            {
                ("lib", "imports", "money.add"),
                ("cart", "imports", "money.add"),
                ("cart", "imports", "money.Sum"),
                ("cart", "imports", "lib.open"),
                ("cart.Cart.new", "calls", "lib.open"),
                ("cart.Cart.new", "calls", "cart.Cart.empty"),
                ("cart.Cart", "inherits", "money.Sum"),
                ("cart.Cart.total", "calls", "money.add"),
                ("cart.tests.made", "calls", "cart.Cart.new"),
                ("cart.tests.adds", "calls", "cart.tests.made"),
                # Tests beside the crate call it by its name, in which a hyphen is written as an underscore.
                ("tests.whole", "imports", "cart.Cart"),
                ("tests.whole", "imports", "money.add"),
                ("tests.whole.works", "calls", "cart.Cart.new"),
                ("tests.whole.works", "calls", "money.add"),
                ("tests.whole.works", "calls", "lib.open"),
            },
        ),
        (
            PYTHON,
            {
                # The folder is the package itself, whose modules name it in their imports.
                ("__init__", "imports", "money.add"),
                ("cart", "imports", "money.add"),
                ("cart", "imports", "money"),
                ("cart.total", "calls", "money.add"),
                ("desk", "imports", "__init__"),
                # What the package has imported itself, and gives on.
                ("desk.pay", "calls", "money.add"),
            },
        ),
    ],
    ids=["go", "rust", "python"],
)
def test_references_lead_across_files_by_the_rules_of_the_language(
    workspace: Workspace, root: Path, files: dict[str, str], expected: set[tuple[str, str, str]]
) -> None:
    write_all(root, files)
    assert sure_leads(indexed(workspace)) == expected


def test_a_package_gives_on_what_it_has_imported_with_a_star(workspace: Workspace, root: Path) -> None:
    given = "from shop.empty import *\nfrom shop.money import *\n"
    write_all(root, {**PYTHON, "__init__.py": given, "empty.py": ""})
    assert ("desk.pay", "calls", "money.add") in sure_leads(indexed(workspace))


def test_what_is_called_on_a_long_chain_is_no_function_of_that_name(workspace: Workspace, root: Path) -> None:
    chain = "first" + ".step(1)" * 40
    write_all(root, {"a.py": f"def build():\n    pass\n\n\ndef make():\n    return {chain}.build()\n"})
    assert ("a.make", "calls", "a.build") not in sure_leads(indexed(workspace))


def test_modules_that_import_each_other_in_a_long_row_are_followed_as_far_as_a_program_can() -> None:
    """As in a large project, where of most modules only what they export by default is imported."""
    many = range(600)
    names = Names(
        files={n: FileName(f"m{n}.js", "javascript", f"m{n}") for n in many},
        symbols={n: Named(n, n, "module", f"m{n}", f"m{n}", None, False) for n in many},
    )
    imports = {n: [Written(n, n, EdgeKind.IMPORTS, "default", f"./m{n + 1}", "X", 1)] for n in many[:-1]}
    call = Written(0, 0, EdgeKind.CALLS, "X", "", "", 2)
    assert Resolver(names=names, imports=imports, bases={}).sure(call) is None
