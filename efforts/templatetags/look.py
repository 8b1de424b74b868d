"""How values look on a page: icons, ages, durations, numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.formats import date_format, get_format
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import get_text_list
from django.utils.translation import gettext, gettext_noop, ngettext

from efforts.context.connections import KeyUnreadable, choose_for_drafts, switchable, switched_to
from efforts.domain.effort.states import RunState
from efforts.domain.text.files import size_words
from efforts.domain.text.snippets import plainly
from efforts.models.said import said as in_readers_words
from efforts.models.said import words_of_scripts
from efforts.pages.themes import PANEL_COOKIE, THEME_COOKIE, THEMES, TIPS_COOKIE

if TYPE_CHECKING:
    from django.template.context import Context, RequestContext

    from efforts.models import Branch, Session
    from efforts.pages.presenters.chat import TurnView

register = template.Library()
register.filter(size_words)

# Of a figure, in whatever it stands.
SIGN = re.compile(r"(?<=\d)[.,](?=\d)")
DEEPEST = 3
AGES = (
    (timedelta(days=365), gettext_noop("y")),
    (timedelta(weeks=1), gettext_noop("w")),
    (timedelta(days=1), gettext_noop("d")),
    (timedelta(hours=1), gettext_noop("h")),
    (timedelta(minutes=1), gettext_noop("min")),
)
NUMBERED = re.compile(r"\b(turns?|Runden?) (\d)")
SPAN = re.compile(r"\b\d+-\d+\b")
ICON_OF_STATE = {
    "queued": "wait",
    "running": "spin",
    "completed": "check",
    "stopped": "stop",
    "failed": "alert",
    "interrupted": "bolt",
    "cancelled": "cross",
    "noted": "keep",
}


@register.simple_tag
def icon(name: str, css: str = "") -> SafeString:
    return format_html('<svg class="icon {}" aria-hidden="true"><use href="#i-{}"/></svg>', css, name)


@register.filter
def said(text: object) -> object:
    """A text that was made or stored in English, in the reader's language."""
    return in_readers_words(text)


@register.filter
def without_marks(text: str) -> str:
    """Words of a log without the marks of Markdown."""
    return plainly(text)


@register.simple_tag
def styles(*names: str) -> SafeString:
    """Style sheets of a page beside those that every page has, in their order."""
    sheets = ((static(f"css/{name}.css"),) for name in names)
    return format_html_join("\n    ", '<link rel="stylesheet" href="{}">', sheets)


@register.filter
def unended(text: object) -> str:
    """A sentence as part of a line, without its full stop."""
    return str(text).removesuffix(".")


@register.filter
def unbroken(text: object) -> str:
    """With turns and their numbers in one line: "turns 2-6" is read as one name."""
    return NUMBERED.sub("\\1\u00a0\\2", str(text))


@register.filter
def spans_whole(text: object) -> SafeString:
    """No line ends within a span of turns: a browser may break one behind its hyphen."""
    return mark_safe(SPAN.sub(r'<span class="whole">\g<0></span>', escape(str(text))))


@register.filter
def listed(texts: Iterable[object]) -> str:
    """Several texts as one, in the reader's language: "A, B and C"."""
    return get_text_list([str(said(text)) for text in texts], gettext("and"))


@register.filter
def either(texts: Iterable[object]) -> str:
    """The same of what one may choose from: "A, B or C"."""
    return get_text_list([str(said(text)) for text in texts], gettext("or"))


@register.simple_tag
def script_words() -> dict[str, str]:
    """The texts of scripts in the reader's language; none where that is English."""
    return words_of_scripts()


@register.filter
def has_drafter(session: Session) -> bool:
    """Whether a model could write its summaries. Asked by each note of a page, and looked up once."""
    known: dict[str, Any] = vars(session)
    if "has_drafter" not in known:
        try:
            known["has_drafter"] = choose_for_drafts(session).kind != "builtin"
        except KeyUnreadable:
            # There is one, and a draft says what is wrong with it.
            known["has_drafter"] = True
    return bool(known["has_drafter"])


@register.simple_tag(takes_context=True)
def theme(context: RequestContext) -> str:
    chosen = context.request.COOKIES.get(THEME_COOKIE, "") if context.get("request") else ""
    # A cookie is the browser's to write, and this goes into an attribute.
    return chosen if chosen in THEMES else "system"


@register.simple_tag(takes_context=True)
def panel_open(context: RequestContext) -> bool:
    return bool(context.request.COOKIES.get(PANEL_COOKIE) == "open")


@register.simple_tag(takes_context=True)
def tips_read(context: RequestContext) -> bool:
    return TIPS_COOKIE in context.request.COOKIES


@register.simple_tag(takes_context=True)
def here(context: Context, name: str, *args: object) -> str:
    """An address of the branch that the page is about."""
    branch: Branch = context["branch"]
    return branch.address(name, *args)


@register.simple_tag
def models_of(session: Session) -> dict[str, object]:
    """What can answer, and which of it does; read once for a page."""
    if not hasattr(session, "_switch"):
        options = switchable(session)
        session._switch = {"options": options, "at": switched_to(session, options)}  # type: ignore[attr-defined]
    found: dict[str, object] = session._switch  # type: ignore[attr-defined]
    return found


@register.filter
def at(branch: Branch, name: str) -> str:
    """An address of that branch."""
    return branch.address(name)


@register.filter
def turn_at(branch: Branch, number: int) -> str:
    """The address of that turn, however far back it is."""
    return branch.address_of_turn(number)


@register.filter
def deep(depth: int) -> int:
    """As far as a list is indented."""
    return min(depth, DEEPEST)


@register.filter
def state_icon(state: str) -> str:
    return ICON_OF_STATE.get(state, "wait")


@register.filter
def state_label(state: str) -> str:
    """Of a run."""
    return RunState(state).label


@register.filter
def in_signs(figure: str) -> str:
    """A figure as English writes it, as the reader's language does."""
    share = figure.removesuffix("%")
    return in_percent(by_locale(share)) if share != figure else by_locale(figure)


def by_locale(figure: str) -> str:
    """With the reader's signs for thousands and decimals."""
    signs = {",": str(get_format("THOUSAND_SEPARATOR")), ".": str(get_format("DECIMAL_SEPARATOR"))}
    return SIGN.sub(lambda sign: signs[sign[0]], figure)


@register.filter
def number(value: float | None) -> str:
    return "" if value is None else by_locale(f"{value:,.0f}")


@register.filter
def in_tokens(value: int) -> str:
    return _tokens(number(value), value)


@register.filter
def signed_tokens(value: int) -> str:
    return _tokens(signed(value), value)


def _tokens(figure: str, value: int) -> str:
    return ngettext("%(figure)s token", "%(figure)s tokens", abs(value)) % {"figure": figure}


@register.filter
def signed(value: float) -> str:
    return by_locale(f"{value:+,.0f}".replace("-", "−"))


@register.filter
def percent(share: float | None) -> str:
    return "" if share is None else in_percent(by_locale(f"{100 * share:.1f}"))


@register.filter
def day(date: str) -> str:
    """Of an ISO date."""
    return date_format(datetime.fromisoformat(date), gettext("Y-m-d")) if date else ""


@register.filter
def in_percent(figure: object) -> str:
    return gettext("%s%%") % figure


@register.filter
def off(difference: float) -> str:
    """How far a count is, in percent, from the figure that it is measured by."""
    if abs(difference) < 0.05:
        return gettext("exact")
    share = by_locale(f"{abs(difference):.1f}")
    return (gettext("%s%% too high") if difference > 0 else gettext("%s%% too low")) % share


@register.filter
def call_number(turn: TurnView) -> int:
    """The model call whose text comes next: the one that streams, or else the one after those that stand."""
    return turn.live_call or len({part.message_id for part in turn.parts}) + 1


@register.filter
def duration(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    seconds = milliseconds / 1000
    return by_locale(f"{seconds:.1f} s") if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


@register.filter
def age(moment: datetime) -> str:
    passed = timezone.now() - moment
    return next((f"{passed // unit} {gettext(name)}" for unit, name in AGES if passed >= unit), gettext("now"))
