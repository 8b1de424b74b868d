"""What is particular to each language that is parsed: queries for definitions and references, and how to read them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from inspect import cleandoc
from itertools import islice, takewhile
from operator import attrgetter

import tree_sitter_go
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Query, QueryCursor

from workspaces.domain.states import SymbolKind

CONTAINERS = (SymbolKind.CLASS, SymbolKind.TYPE)
SPACE = re.compile(r"\s+")
# From the last separator on a name: `a.b`, `a::b`, `a->b`, `a?.b`, `a!`.
SEPARATOR = re.compile(r"\?\.|::|\.|->")
WORD = re.compile(r"^[#\w$]+")
COMMENTS = ("comment", "line_comment", "block_comment")
# Characters of one, far more than are kept of it: the pattern would look at each space of a long gap again and again.
LONGEST_COMMENT = 4_000
COMMENT_MARKS = re.compile(r"^\s*(?:/\*\*?|\*/|\*(?!/)|//[/!]?)\s?|\s*\*/$", re.MULTILINE)


def text_of(node: Node | None) -> str:
    """What the node spans; empty where there is none."""
    return node.text.decode(errors="replace") if node is not None and node.text is not None else ""


def field(node: Node, *names: str) -> Node | None:
    """The first of the fields that is there."""
    return next((found for name in names if (found := node.child_by_field_name(name)) is not None), None)


class Grammar:
    """A language in which definitions have names, bodies and comments before them."""

    name_: str = ""
    definitions: str = ""
    references: str = ""

    def __init__(self, language: Callable[[], object]) -> None:
        self.language = Language(language())
        self.queries: dict[str, Query] = {}

    def parser(self) -> Parser:
        # One for each use: a parser is not to be shared among threads.
        return Parser(self.language)

    def parse(self, data: bytes) -> Node:
        return self.parser().parse(data).root_node

    def query(self, name: str) -> Query:
        if name not in self.queries:
            self.queries[name] = Query(self.language, getattr(self, name))
        return self.queries[name]

    def outer(self, node: Node) -> Node:
        """The definition with what is written before it as a part of it."""
        parent = node.parent
        return parent if parent is not None and parent.type in self.wrappers else node

    wrappers: Sequence[str] = ()

    def name(self, node: Node) -> str:
        return text_of(field(node, "name"))

    def kind(self, node: Node, capture: str) -> SymbolKind:
        return SymbolKind(capture)

    def receiver(self, node: Node) -> str:
        """The type that a method names as its own, where it stands outside of it."""
        return ""

    def implemented(self, node: Node) -> str:
        return ""

    def signature(self, node: Node) -> str:
        """One line, up to the body."""
        body = field(node, "body", "value")
        data = node.text or b""
        head = data[: body.start_byte - node.start_byte] if body else data
        return SPACE.sub(" ", head.decode(errors="replace")).strip().rstrip("{:= ")

    def doc(self, node: Node, outer: Node, siblings: Siblings) -> str:
        return comments_before(outer, siblings)

    def file_doc(self, root: Node) -> str:
        first = root.children[0] if root.children else None
        return comment_text(first) if first is not None and first.type in COMMENTS else ""

    def conditions(self, node: Node, outer: Node, siblings: Siblings) -> Iterator[str]:
        yield from ()

    def is_test(self, name: str, conditions: Sequence[str]) -> bool:
        return False

    def imports(self, node: Node) -> Iterator[tuple[str, str, str]]:
        """Module, the name in it (`*`: all; empty: the module itself), and how the file calls it."""
        yield from ()

    def bases(self, node: Node) -> Iterator[Node]:
        yield from ()

    def split(self, text: str) -> tuple[str, str]:
        """What stands before a name, and the name."""
        text = SPACE.sub("", text).rstrip("!")
        parts = SEPARATOR.split(text)
        word = WORD.match(parts[-1])
        return ".".join(parts[:-1]), word[0] if word else ""


class Siblings:
    """What stands before the nodes of one file. The library goes through all siblings for each that it is asked for: of
    thousands that takes seconds."""

    def __init__(self) -> None:
        self.below = dict[int, list[Node]]()

    def before(self, node: Node) -> Iterator[Node]:
        """The nearest first."""
        parent = node.parent
        if parent is None:
            return
        if parent.id not in self.below:
            self.below[parent.id] = parent.children
        siblings = self.below[parent.id]
        at = bisect_left(siblings, node.start_byte, key=attrgetter("start_byte"))
        yield from (siblings[place] for place in range(at - 1, -1, -1))


def comments_before(node: Node, siblings: Siblings) -> str:
    """Those that end on the line above, without a gap."""
    lines: list[str] = []
    line = node.start_point[0]
    for before in siblings.before(node):
        row, column = before.end_point
        # A comment up to the end of its line ends on the next one for some grammars.
        if before.type not in (*COMMENTS, "attribute_item", "decorator") or (row if column else row - 1) < line - 1:
            break
        line = before.start_point[0]
        if before.type in COMMENTS:
            lines.append(comment_text(before))
    return "\n".join(reversed(lines)).strip()


def comment_text(node: Node) -> str:
    return COMMENT_MARKS.sub("", text_of(node)[:LONGEST_COMMENT]).strip()


# Of Python: for each line of comments or without code its parser reads all such lines that follow.
WITHOUT_CODE = re.compile(rb"^(?:[ \t\f]*(?:#[^\n]*|\\?\r?)\n){200,}", re.MULTILINE)
NOT_A_LINE_END = re.compile(rb"[^\n]")


class Python(Grammar):
    definitions = """
        (class_definition) @class
        (function_definition) @function
        (module (expression_statement (assignment left: (identifier)) @constant))
        (module (type_alias_statement) @type)
    """
    references = """
        (call function: [(identifier) (attribute)] @call)
        (decorator [(identifier) (attribute)] @call)
        [(import_statement) (import_from_statement)] @import
    """
    wrappers = ("decorated_definition",)

    def parse(self, data: bytes) -> Node:
        """Nothing of an outline depends on comments: of many in a row only the place is left."""
        return super().parse(WITHOUT_CODE.sub(lambda lines: NOT_A_LINE_END.sub(b" ", lines[0]), data))

    def name(self, node: Node) -> str:
        return text_of(field(node, "name", "left"))

    def signature(self, node: Node) -> str:
        if node.type == "assignment":
            return SPACE.sub(" ", text_of(node))
        return super().signature(node)

    def doc(self, node: Node, outer: Node, siblings: Siblings) -> str:
        body = field(node, "body")
        if body is not None:
            return docstring(body)
        after = node.parent.next_sibling if node.parent else None
        return docstring_of(after) if after is not None else ""

    def file_doc(self, root: Node) -> str:
        return docstring(root)

    def conditions(self, node: Node, outer: Node, siblings: Siblings) -> Iterator[str]:
        if outer is not node:
            yield from (text_of(child) for child in outer.children if child.type == "decorator")

    def is_test(self, name: str, conditions: Sequence[str]) -> bool:
        return False

    def imports(self, node: Node) -> Iterator[tuple[str, str, str]]:
        module = text_of(field(node, "module_name"))
        for child in node.children_by_field_name("name"):
            name, alias = text_of(field(child, "name") or child), text_of(field(child, "alias"))
            if node.type == "import_statement":
                # `import a.b` gives the name `a`; what is called is written in full.
                yield name, "", alias or name
            else:
                yield module, name, alias or name
        if any(child.type == "wildcard_import" for child in node.children):
            yield module, "*", "*"

    def bases(self, node: Node) -> Iterator[Node]:
        named = field(node, "superclasses")
        if named is not None:
            yield from (child for child in named.named_children if child.type in ("identifier", "attribute"))


def docstring(body: Node) -> str:
    first = next((child for child in body.named_children if child.type not in COMMENTS), None)
    return docstring_of(first) if first is not None else ""


def docstring_of(statement: Node) -> str:
    string = (
        statement.named_children[0] if statement.type == "expression_statement" and statement.named_children else None
    )
    if string is None or string.type != "string":
        return ""
    return cleandoc("".join(text_of(child) for child in string.children if child.type == "string_content"))


class JavaScript(Grammar):
    definitions = """
        (class_declaration) @class
        [(function_declaration) (generator_function_declaration) (method_definition)] @function
        (program (lexical_declaration (variable_declarator name: (identifier)) @constant))
        (program (variable_declaration (variable_declarator name: (identifier)) @constant))
        (program (export_statement (lexical_declaration (variable_declarator name: (identifier)) @constant)))
        (program (expression_statement (assignment_expression
            left: (member_expression) right: [(function_expression) (arrow_function) (class)]) @function))
    """
    references = """
        (call_expression function: [(identifier) (member_expression)] @call)
        (new_expression constructor: [(identifier) (member_expression)] @call)
        (import_statement) @import
        (export_statement source: (string)) @import
        (variable_declarator value: (call_expression function: (identifier) @name) (#eq? @name "require")) @import
    """
    wrappers: Sequence[str] = ("export_statement",)
    functions = ("arrow_function", "function_expression", "generator_function")

    def outer(self, node: Node) -> Node:
        if node.type == "variable_declarator" and node.parent is not None:
            return super().outer(node.parent)
        return super().outer(node)

    def name(self, node: Node) -> str:
        if node.type == "assignment_expression":
            return text_of(field(field(node, "left") or node, "property"))
        return text_of(field(node, "name"))

    def kind(self, node: Node, capture: str) -> SymbolKind:
        value = field(node, "value", "right")
        if value is not None and value.type in self.functions:
            return SymbolKind.FUNCTION
        return SymbolKind.CLASS if value is not None and value.type == "class" else SymbolKind(capture)

    def receiver(self, node: Node) -> str:
        if node.type != "assignment_expression":
            return ""
        before = text_of(field(field(node, "left") or node, "object")).removesuffix(".prototype")
        return "" if before in ("exports", "module.exports", "module") else before

    def signature(self, node: Node) -> str:
        value = field(node, "value", "right")
        if value is not None and value.type in self.functions:
            data, body = node.text or b"", field(value, "body")
            head = data[: body.start_byte - node.start_byte] if body else data
            return SPACE.sub(" ", head.decode(errors="replace")).strip().rstrip("{=> ")
        if value is not None:
            return SPACE.sub(" ", text_of(node))
        return super().signature(node)

    def imports(self, node: Node) -> Iterator[tuple[str, str, str]]:
        source = text_of(field(node, "source")).strip("'\"`")
        if node.type == "variable_declarator":
            wanted = text_of(field(field(node, "value") or node, "arguments")).strip("()'\"` ")
            named_parts = field(node, "name")
            if named_parts is not None and named_parts.type == "identifier":
                yield wanted, "", text_of(named_parts)
            else:
                names = re.findall(r"[\w$]+", text_of(named_parts))
                yield from ((wanted, name, name) for name in names)
            return
        for child in walk(node, ("import_specifier", "export_specifier")):
            name, alias = text_of(field(child, "name")), text_of(field(child, "alias"))
            yield source, name, alias or name
        for child in walk(node, ("namespace_import", "namespace_export")):
            yield source, "", text_of(child).rpartition(" ")[2]
        for clause in node.children:
            if clause.type == "import_clause":
                yield from ((source, "default", text_of(one)) for one in clause.children if one.type == "identifier")
        if node.type == "export_statement" and any(child.type == "*" for child in node.children):
            yield source, "*", "*"

    def bases(self, node: Node) -> Iterator[Node]:
        for heritage in node.children:
            if heritage.type in ("class_heritage", "extends_type_clause"):
                yield from walk(heritage, ("identifier", "member_expression", "type_identifier"))


def walk(node: Node, types: Sequence[str]) -> Iterator[Node]:
    """The outermost nodes below of these types."""
    for child in node.children:
        if child.type in types:
            yield child
        elif child.type not in ("arguments", "type_arguments", "class_body"):
            yield from walk(child, types)


class TypeScript(JavaScript):
    definitions = (
        JavaScript.definitions
        + """
        (abstract_class_declaration) @class
        [(function_signature) (method_signature) (abstract_method_signature)] @function
        [(interface_declaration) (type_alias_declaration) (enum_declaration) (internal_module)] @type
        (ambient_declaration (lexical_declaration (variable_declarator name: (identifier)) @constant))
    """
    )
    wrappers = ("export_statement", "ambient_declaration")


# Of Rust: what a macro may hold, and how deep in others.
ITEMS = (
    *("function_item", "struct_item", "enum_item", "union_item", "trait_item", "impl_item", "mod_item"),
    *("type_item", "const_item", "static_item", "use_declaration", "macro_invocation"),
)
DEEPEST_MACROS = 3


class Rust(Grammar):
    definitions = """
        [(struct_item) (enum_item) (union_item) (trait_item)] @class
        (type_item) @type
        [(function_item) (function_signature_item) (macro_definition)] @function
        (impl_item) @impl
        (source_file [(const_item) (static_item)] @constant)
        (declaration_list (const_item) @constant)
        (mod_item body: (_)) @module
    """
    references = """
        (call_expression function: [(identifier) (scoped_identifier) (field_expression)] @call)
        (call_expression function: (generic_function function: [(identifier) (scoped_identifier)] @call))
        (macro_invocation macro: (_) @call)
        (use_declaration) @import
    """
    macros = """
        (source_file (macro_invocation (token_tree) @held) @macro)
        (declaration_list (macro_invocation (token_tree) @held) @macro)
    """

    def parse(self, data: bytes) -> Node:
        """Items that a macro holds are definitions as well (`cfg_rt! { pub fn spawn() … }`): what makes it one is
        blanked, and all keeps its place."""
        root = super().parse(data)
        for _ in range(DEEPEST_MACROS):
            blanked = self.without_macros(data, root)
            if blanked == data:
                break
            data, root = blanked, super().parse(blanked)
        return root

    def without_macros(self, data: bytes, root: Node) -> bytes:
        blanked = bytearray(data)
        found = QueryCursor(self.query("macros")).matches(root)
        for macro, held in ((nodes["macro"][0], nodes["held"][0]) for _, nodes in found):
            first, last = held.start_byte + 1, held.end_byte - 1
            inside = super().parse(data[first:last]) if data[held.start_byte : first] == b"{" else None
            if inside and not inside.has_error and any(child.type in ITEMS for child in inside.children):
                for begin, end in ((macro.start_byte, first), (last, macro.end_byte)):
                    blanked[begin:end] = NOT_A_LINE_END.sub(b" ", data[begin:end])
        return bytes(blanked)

    def implemented(self, node: Node) -> str:
        kind = field(node, "type")
        return text_of(field(kind, "type", "name") or kind) if kind is not None else ""

    def conditions(self, node: Node, outer: Node, siblings: Siblings) -> Iterator[str]:
        above = takewhile(lambda one: one.type in ("attribute_item", *COMMENTS), siblings.before(node))
        yield from reversed([text_of(one) for one in above if one.type == "attribute_item"])

    def is_test(self, name: str, conditions: Sequence[str]) -> bool:
        return any("test" in condition for condition in conditions)

    def file_doc(self, root: Node) -> str:
        lines = []
        for child in root.children:
            if child.type not in COMMENTS or not text_of(child).startswith(("//!", "/*!")):
                break
            lines.append(comment_text(child))
        return "\n".join(lines)

    def imports(self, node: Node) -> Iterator[tuple[str, str, str]]:
        argument = field(node, "argument")
        if argument is not None:
            yield from use_tree(argument, "")

    def bases(self, node: Node) -> Iterator[Node]:
        bounds = field(node, "bounds")
        if node.type == "trait_item" and bounds is not None:
            yield from walk(bounds, ("type_identifier", "scoped_type_identifier"))
        trait = field(node, "trait") if node.type == "impl_item" else None
        if trait is not None:
            yield field(trait, "type") or trait if trait.type == "generic_type" else trait


def use_tree(node: Node, before: str) -> Iterator[tuple[str, str, str]]:
    """Path, name and alias of each leaf of a `use`."""
    if node.type == "use_list":
        for child in node.named_children:
            yield from use_tree(child, before)
    elif node.type == "scoped_use_list":
        path = joined(before, text_of(field(node, "path")))
        listed = field(node, "list")
        if listed is not None:
            yield from use_tree(listed, path)
    elif node.type == "use_as_clause":
        path, _, name = joined(before, text_of(field(node, "path"))).rpartition("::")
        yield path, name, text_of(field(node, "alias"))
    elif node.type == "use_wildcard":
        yield joined(before, text_of(node).removesuffix("*").removesuffix("::")), "*", "*"
    else:
        path, _, name = joined(before, text_of(node)).rpartition("::")
        yield (path, name, name) if name != "self" else (path, "", path.rpartition("::")[2])


def joined(before: str, path: str) -> str:
    return f"{before}::{path}" if before and path else before or path


GO_VERSION = re.compile(r"/v\d+$")
NAMED_TYPES = ("type_identifier", "qualified_type")


class Go(Grammar):
    definitions = """
        (type_spec) @type
        (type_alias) @type
        [(function_declaration) (method_declaration)] @function
        (source_file (const_declaration (const_spec) @constant))
        (source_file (var_declaration (var_spec) @constant))
        (source_file (var_declaration (var_spec_list (var_spec) @constant)))
    """
    references = """
        (call_expression function: [(identifier) (selector_expression)] @call)
        (import_spec) @import
    """
    wrappers = ("type_declaration", "const_declaration", "var_declaration")

    def outer(self, node: Node) -> Node:
        parent = super().outer(node)
        # Of several in one declaration each has its own lines.
        return node if has_several(parent, node.type) else parent

    def kind(self, node: Node, capture: str) -> SymbolKind:
        kind = field(node, "type")
        is_class = node.type == "type_spec" and kind is not None and kind.type in ("struct_type", "interface_type")
        return SymbolKind.CLASS if is_class else SymbolKind(capture)

    def receiver(self, node: Node) -> str:
        of = field(node, "receiver")
        found = next(iter(walk(of, ("type_identifier",))), None) if of is not None else None
        return text_of(found)

    def signature(self, node: Node) -> str:
        if node.type in ("type_spec", "const_spec", "var_spec"):
            return SPACE.sub(" ", text_of(node).partition("{")[0]).strip()
        return super().signature(node)

    def file_doc(self, root: Node) -> str:
        clause = next((child for child in root.children if child.type == "package_clause"), None)
        return comments_before(clause, Siblings()) if clause is not None else ""

    def imports(self, node: Node) -> Iterator[tuple[str, str, str]]:
        path = text_of(field(node, "path")).strip('"`')
        # A version at the end of a path is no part of a name.
        yield path, "", text_of(field(node, "name")) or GO_VERSION.sub("", path).rpartition("/")[2]

    def bases(self, node: Node) -> Iterator[Node]:
        kind = field(node, "type")
        if kind is not None and kind.type == "interface_type":
            yield from (
                one for part in kind.named_children if part.type == "type_elem" for one in walk(part, NAMED_TYPES)
            )
        for listed in kind.named_children if kind is not None and kind.type == "struct_type" else ():
            for one in listed.named_children:
                # A field without a name is embedded.
                if one.type == "field_declaration" and field(one, "name") is None:
                    yield from walk(one, NAMED_TYPES)


def has_several(parent: Node, kind: str) -> bool:
    """Some declarations hold thousands, and each of these asks."""
    named = (parent.named_child(place) for place in range(parent.named_child_count))
    return len(list(islice((one for one in named if one is not None and one.type == kind), 2))) > 1


LANGUAGES: dict[str, tuple[type[Grammar], Callable[[], object]]] = {
    "python": (Python, tree_sitter_python.language),
    "javascript": (JavaScript, tree_sitter_javascript.language),
    "typescript": (TypeScript, tree_sitter_typescript.language_typescript),
    "tsx": (TypeScript, tree_sitter_typescript.language_tsx),
    "rust": (Rust, tree_sitter_rust.language),
    "go": (Go, tree_sitter_go.language),
}


@cache
def grammar_of(language: str) -> Grammar | None:
    """None where a language is read as plain text."""
    if language not in LANGUAGES:
        return None
    grammar, parser = LANGUAGES[language]
    return grammar(parser)
