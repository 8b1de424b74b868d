"""Texts that are made to be slow to read: what repeats, what opens and never closes, what nests, what has no spaces."""

from __future__ import annotations

SIZE = 200_000

REPEATED = (
    *("http://a.", "www.a.de/", "mailto:a@b.", "a@b.", "https://a.de/(", "//a.", "http://", "http://a.de/[", "://"),
    *("[", "![", "[[", "]", "](", "[a](", "[a][b", "[a]: b ", "[a](<b", "![a](b ", "[x](y)", "[turn 1]", "[turn "),
    *("*a ", "**a", "_a ", "a_b", "*", "**a*", "~~a", "~", "`", "`a", "``a ", "\\`", "\\", "*a_ ", "***a"),
    *("<", "<a", "<a ", "<!--", "<![CDATA[", "<?", "<a href=", "<http://a", "&", "&amp;", "&#", "&lt", "&#x1F4A9;"),
    *(">", "> ", "- ", "1. ", "* * ", "+ a\n", "# ", "    a\n", "\n", "\n\n", " ", "\t", "\r\n", "- a\n  ", "> a\n"),
    *(
        "|",
        "a|b\n",
        "|a|b|\n|-|-|\n",
        "|-",
        "| a |\n",
        ":-:|",
        "||\n--\n",
        "```\n",
        "~~~\n",
        "```py\n",
        "---\n",
        "===\n",
    ),
    *("a", "a ", "1", "1.", "1,", "a.", "A. ", "e.g. ", "…", '"', "'", "“", "”", "(", ")", "{", "}", "$", "%", "@"),
    *("-", "--", "+", "/", "a/", "./", "/a/b", ":", ";", "=", "a=", "key=", "password ", "password is ", "token: "),
    *("sk-", "ghp_", "eyJ", "AKIA", "-----BEGIN ", "Bearer ", "Basic ", "hf_", "AccountKey=", "https://a:b@c "),
    *("user: ", "User:\n", "you said ", "decided ", "must not ", "never ", "TODO ", "2024-01-01 ", "1 May ", "at 5 "),
    *("ä", "漢", "漢字。", "🙂", "👩‍👩‍👧", "\u0301", "\u200b", "\u202e", "\x00", "\ufeff", "ي", "़"),
    *("/aside ", "/done\n", "@a ", "#1 ", "turn 1 ", "turns 1-", "1-2, ", "effort:", "a-b-", "a_b_c ", "aB", "a'b"),
)
# A beginning that leads on, and what follows it.
LED = (
    *(("```py\n", '"""'), ("```js\n", "`${"), ("```html\n", "<a "), ("```json\n", '{"a":'), ("```sh\n", "$(")),
    *(("```c\n", "/*"), ("```perl\n", "s{"), ("```ruby\n", "<<A\n"), ("```yaml\n", "- "), ("```sql\n", "'")),
    *(("[a]: <", "b"), ("[a](", "("), ("<a ", "b='"), ("http://a.de/", "(("), ("| a |\n|---|\n", "|" * 40 + "\n")),
    *(("password is ", "a"), ("-----BEGIN PRIVATE KEY-----\n", "a"), ("eyJ", "a."), ("https://", "a:")),
)


def hostile(size: int = SIZE) -> dict[str, str]:
    """Each of `size` characters, by what it is made of."""
    made = {part: part * (size // len(part)) for part in REPEATED}
    made |= {f"{first}{rest}": first + rest * ((size - len(first)) // len(rest)) for first, rest in LED}
    # Opened all at first and closed all at last.
    pairs = (("[", "]"), ("(", ")"), ("*", "*a"), ("> ", "a"), ("<", ">"), ("`", "a`"), ("![", "](a)"), ("{", "}"))
    made |= {
        f"{opened}…{closed}": opened * (size // 2 // len(opened)) + closed * (size // 2 // len(closed))
        for opened, closed in pairs
    }
    return made
