"""Small talk, questions about the engine itself, and cues that search the messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SEARCH = "search_messages"


def _phrase(pattern: str) -> re.Pattern[str]:
    """Spaced out for the reader: in the pattern itself a space is written `\\ `."""
    return re.compile(pattern, re.IGNORECASE | re.VERBOSE)


GREETING = _phrase(
    r"""(?: hi+ | hello | hey+ | good\ (?:morning|afternoon|evening|day) | greetings | hallo | hola | bonjour | ciao
          | servus | moin | 你好 | こんにちは )
        (?: \ (?:there|all|again|engine|everyone|you) )?
        (?: [,!.\ ]* (?: how\ are\ you (?:\ doing)? | how(?:'s|\ is)\ it\ going
          | what's\ up | how\ do\ you\ do ) )? [\W_]*"""
)
THANKS = _phrase(
    r"""(?! ok(?:ay)? [\W_]* $ )
        (?: (?: thanks? | thank\ you | thx | cheers | great | perfect | got\ it | i\ see | understood | clear
            | ok(?:ay)? )
            (?: \ (?: a\ lot | so\ much | very\ much | a\ bunch | now | you ) )* [,;.!\ ]*
        )+ [\W_]*"""
)
# Who says so has read the details that were brought back.
HAS_READ = _phrase(r"\b (?: got\ it | understood | i\ see | clear ) \b")
ABOUT_ITSELF = _phrase(
    r"""\b what\ (?:else\ )? can\ (?:you|i)\ (?:do|ask) \b
      | \b (?:who|what)\ are\ you \b
      | \b what\ is\ (?: this (?:\ app|\ place)? | ccm (?:\ web)? ) \?
      | \b are\ you\ (?:an?\ )? (?:real\ |large\ )?
        (?: ai | bot | human | person | llm | (?:language\ )?model | chatgpt | claude | gpt ) \b
      | \b how\ (?:do|does|can)\ (?:i|you|this(?:\ app)?|one)\ (?: work | use\ (?:you|this) | connect\ an?\ model ) \b
      | ^ help (?:\ me)? [\W_]* $"""
)
OVERVIEW = _phrase(
    r"""\b summar(?:y|i[sz]e) (?:\ of)?\ (?:this|our|the)\ (?:conversation|chat|talk|discussion) \b
      | \b what\ (?:have|did)\ we\ (?:been\ )?
        (?: talk(?:ed|ing)?\ about | discuss(?:ed)? | sa(?:id|y) ) (?:\ so\ far)? [\W_]* $"""
)
ASKS = _phrase(
    r"""(?: what | who | whose | whom | when | where | why | how | which | is | are | was | were | do | does | did | can
          | could | will | would | should | has | have | had | tell | show | list | find | search | look | explain
          | remind | give | describe | quote | summari[sz]e | recall | name | compare | repeat ) \b"""
)
SEARCH_FOR = _phrase(
    r"""\b (?:search|look) (?:\ back)? (?:\ (?:in|through))?
        (?: \ (?:our|the|all|my|your|these|earlier|past|old|older|previous) )*
        (?: \ (?:messages?|conversations?|chats?|history|turns?|talks?|log) )?
        \ for\ (?P<query>.+)"""
)
FIND_WHERE = _phrase(
    r"""\b find\ (?: where | what | when | the\ (?:place|turn|message)\ where )\ (?:we|i|you)\ (?:have\ )?
        (?:talked|spoke|wrote|said|discussed|mentioned|decided) (?:\ (?:about|of|on))?\ (?P<query>.+)"""
)


@dataclass(frozen=True, kw_only=True)
class Cue:
    """A phrase of the user's that calls a tool, where that tool is offered."""

    tool: str
    phrase: re.Pattern[str]
    arguments: Callable[[re.Match[str]], dict[str, Any]]


def _query(match: re.Match[str]) -> dict[str, Any]:
    return {"query": match["query"].strip(" \t\"'“”.?!")}


CUES = (
    Cue(tool=SEARCH, phrase=SEARCH_FOR, arguments=_query),
    Cue(tool=SEARCH, phrase=FIND_WHERE, arguments=_query),
)
