"""What stands in a file, by language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workspaces.domain.languages import language_of
from workspaces.domain.outline import Outline, outline_of

PYTHON = '''"""About carts."""
from .money import add as plus
import shop.tax

LIMIT: int = 3
"""The most."""

class Cart(Base, shop.Box):
    """Holds items."""
    @property
    def total(self) -> int:
        return plus(self.net(), shop.tax.of(1))
'''
TYPESCRIPT = """import {add as plus} from './money';
/** Holds items. */
export class Cart extends Base implements Box {
  total(x: number): number { return plus(this.net(x)); }
}
export const half = (x: number) => x / 2;
interface Box { size(): number }
type Id = string;
"""
RUST = """//! About carts.
use crate::money::{add, sub as minus};
/// Holds items.
#[derive(Debug)]
pub struct Cart { items: u8 }
impl Cart { pub fn total(&self) -> u8 { add(self.net()) } }
const LIMIT: u8 = 3;
#[cfg(test)]
mod tests { #[test] fn adds() { total() } }
"""
GO = """package shop
import money "example.org/shop/money"
// Cart holds items.
type Cart struct { Box }
func (c *Cart) Total(x int) int { return money.Add(c.net()) }
const Limit = 3
"""


def outline(path: str, text: str) -> Outline:
    return outline_of(path, language_of(path), text)


def kinds(found: Outline) -> dict[str, str]:
    return {one.inside: str(one.kind) for one in found.definitions[1:]}


def references(found: Outline) -> set[tuple[str, str, str, str]]:
    return {(found.definitions[r.source].inside, str(r.kind), r.before, r.name) for r in found.references}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("shop/cart.py", PYTHON, {"LIMIT": "constant", "Cart": "class", "Cart.total": "method"}),
        (
            "src/cart.ts",
            TYPESCRIPT,
            {
                "Cart": "class",
                "Cart.total": "method",
                "half": "function",
                "Box": "type",
                "Box.size": "method",
                "Id": "type",
            },
        ),
        (
            "src/cart.rs",
            RUST,
            {"Cart": "class", "Cart.total": "method", "LIMIT": "constant", "tests": "module", "tests.adds": "function"},
        ),
        ("shop/cart.go", GO, {"Cart": "class", "Cart.Total": "method", "Limit": "constant"}),
    ],
)
def test_definitions_have_their_kind_and_stand_within_each_other(
    path: str, text: str, expected: dict[str, str]
) -> None:
    found = outline(path, text)
    assert kinds(found) == expected
    assert not found.broken


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "shop/cart.py",
            PYTHON,
            {
                ("", "imports", ".money", "add"),
                ("", "imports", "shop.tax", ""),
                ("Cart", "inherits", "", "Base"),
                ("Cart", "inherits", "shop", "Box"),
                ("Cart.total", "calls", "", "property"),
                ("Cart.total", "calls", "", "plus"),
                ("Cart.total", "calls", "self", "net"),
                ("Cart.total", "calls", "shop.tax", "of"),
            },
        ),
        (
            "src/cart.ts",
            TYPESCRIPT,
            {
                ("", "imports", "./money", "add"),
                ("Cart", "inherits", "", "Base"),
                ("Cart", "inherits", "", "Box"),
                ("Cart.total", "calls", "", "plus"),
                ("Cart.total", "calls", "this", "net"),
            },
        ),
        (
            "src/cart.rs",
            RUST,
            {
                ("", "imports", "crate::money", "add"),
                ("", "imports", "crate::money", "sub"),
                ("Cart.total", "calls", "", "add"),
                ("Cart.total", "calls", "self", "net"),
                ("tests.adds", "calls", "", "total"),
            },
        ),
        (
            "shop/cart.go",
            GO,
            {
                ("", "imports", "example.org/shop/money", ""),
                ("Cart", "inherits", "", "Box"),
                ("Cart.Total", "calls", "money", "Add"),
                ("Cart.Total", "calls", "c", "net"),
            },
        ),
    ],
)
def test_references_are_kept_as_they_are_written(
    path: str, text: str, expected: set[tuple[str, str, str, str]]
) -> None:
    assert references(outline(path, text)) == expected


@pytest.mark.parametrize(("path", "text"), [("a.py", PYTHON), ("a.ts", TYPESCRIPT), ("src/a.rs", RUST), ("a/b.go", GO)])
def test_a_card_has_signature_and_comment(path: str, text: str) -> None:
    (cart,) = (one for one in outline(path, text).definitions if one.inside == "Cart")
    assert "Cart" in cart.signature
    assert "olds items." in cart.doc


def test_what_holds_under_a_condition_says_so() -> None:
    by_name = {one.name: one for one in outline("src/cart.rs", RUST).definitions}
    assert by_name["tests"].conditions == ("#[cfg(test)]",)
    assert by_name["adds"].is_test
    assert not by_name["total"].is_test
    assert {one.name: one.conditions for one in outline("a.py", PYTHON).definitions}["total"] == ("@property",)


def test_items_that_a_macro_holds_are_definitions_too() -> None:
    found = outline(
        "src/clock.rs",
        """cfg_test!
{
    /// Stops the time.
    pub fn pause() { inner() }
    cfg_rt! { pub struct Clock; }
}
impl Clock { cfg_rt! { pub fn now(&self) -> u8 { 1 } } }
rules! { a => b }
""",
    )
    assert kinds(found) == {"pause": "function", "Clock": "class", "Clock.now": "method"}
    (pause,) = (one for one in found.definitions if one.name == "pause")
    assert (pause.lines, pause.doc, pause.signature) == ((4, 4), "Stops the time.", "pub fn pause()")
    assert references(found) == {("pause", "calls", "", "inner"), ("", "calls", "", "rules")}
    assert not found.broken


def test_each_variable_of_a_group_is_a_constant() -> None:
    found = outline(
        "shop/errors.go", "package shop\nvar (\n\t// ErrNone is nothing.\n\tErrNone = f()\n\tErrAll = g()\n)\n"
    )
    assert {one.name: (str(one.kind), one.lines, one.doc) for one in found.definitions[1:]} == {
        "ErrNone": ("constant", (4, 4), "ErrNone is nothing."),
        "ErrAll": ("constant", (5, 5), ""),
    }


def test_of_a_broken_file_what_can_be_read_is_there() -> None:
    found = outline("a.py", "def good():\n    pass\n\ndef bad(:\n    pass\n\nclass After:\n    pass\n")
    assert found.broken
    assert {"good", "After"} <= kinds(found).keys()


def test_a_text_has_sections_by_its_headings() -> None:
    found = outline("README.md", "Hello\n\n# Use\nRun it.\n## Options\nMany.\n")
    assert [(one.name, one.lines) for one in found.definitions[1:]] == [
        ("lines 1-2", (1, 2)),
        ("Use", (3, 4)),
        ("Options", (5, 6)),
    ]


@given(st.sampled_from(["a.py", "a.ts", "a.tsx", "a.js", "a.rs", "a.go", "a.md", "a.txt"]), st.text(max_size=300))
def test_any_text_has_an_outline_whose_lines_stand_in_it(path: str, text: str) -> None:
    found = outline(path, text)
    last = max(text.count("\n") + 1, 1)
    for place, one in enumerate(found.definitions):
        assert 1 <= one.lines[0] <= one.lines[1] <= last
        assert one.parent is None if place == 0 else one.parent is not None and one.parent < place
    assert all(0 <= one.source < len(found.definitions) for one in found.references)
