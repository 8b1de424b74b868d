"""Sentences that sound like a settled decision or like work still to be done: suggestions, few rather than too many.

Offsets count characters of the message. What tools return is not listened to: nobody in the conversation said it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from .rules import LONGEST_SENTENCE, QUOTED_LINE, Span, one_line, sentence_spans, sounds_like_a_rule
from .sentences import FENCE

# A longer message is pasted; a longer reply is a document.
LONGEST = {"user": 4_000, "assistant": 8_000}
MOST = 3
# Letters of a sentence that can name its matter.
SHORTEST, SHORTEST_UNSPACED = 12, 6
UNSPACED = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
DAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tonight|tomorrow|noon|lunch|next \w+|this (?:week|afternoon"
    r"|evening|month)|the (?:end|weekend|\d+\w*)|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|\d[\w:. ]*)"
)
DO = (
    "(?:send|ask|call|ring|phone|write|e?mail|message|text|book|order|prepare|set up|fix|finish|draft|update|add|post"
    "|file|talk to|speak (?:to|with)|arrange|schedule|organi[sz]e|review|let \\w+ know|tell|bring|buy|submit|test"
    "|look into|find out|follow up|get back|check|contact|collect|pick up|hand in|upload|share|print|cancel"
    "|register|apply|pay|renew|clean up|document|deploy|release|migrate|merge)"
)
USE = (
    r"(?:use|go(?:ing)? (?:with|for)|take|keep|stay with|stick (?:with|to)|switch to|move to|drop|skip|start with|ship"
    r"|adopt|make it|call it|leave it at|settle (?:on|for)|choose|pick|have (?:the|that|this|one|two)\b)"
)
# "I'll take a look" and "let's keep going" choose nothing.
IDLE = r"(?! (?:a (?:look|break|walk|nap|moment)|care|notes?|it (?:slow|easy)|you|your|in (?:mind|touch)|going|trying))"
NOBODY_YET = r"(?<!not )(?<!n't )(?<!never )"


def any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


RECORDED = any_of(
    r"^(?:agreed|decision|decided|settled|resolved|verdict|entschieden|beschluss|décision|decisión)\s*:\s*\S",
    rf"\bwe(?: have|'ve)?(?: now| all| finally| just)* {NOBODY_YET}(?:decided|settled|agreed) (?:on|to|that|for"
    r"|against|not to)\b",
    r"(?:決定事項|決定)[::]",
)
CHOSEN = any_of(
    rf"\blet(?:'s|s| us) (?:just |rather |simply |not |all )*{USE}\b{IDLE}",
    rf"\b(?:we|i)(?:'ll| will| shall|'re going to| are going to) (?:just |rather |simply |not )*{USE}\b{IDLE}",
    r"\b(?:we|i)(?:'ve| have)?(?: now| just| finally| both| all)* (?:decided|settled on|opted for|chosen|chose|agreed)"
    r"\b(?! yet)",
    r"\bwe(?:'re| are)? (?:now )?(?:stay(?:ing)?|stick(?:ing)?|go(?:ing)?) with\b",
    r"^(?!.*\b(?:what|how|as|whatever|way|like|than|where|who) it is\b)[^,.!?]{2,40} it is(?:,? then)?(?=\W*$|[,;:.!])",
    r"^(?:no|nope|nah|actually|on second thought),? [^?]{3,80}\binstead\b",
    r"^(?:so |then |ok(?:ay)?,? |no,? )*(?:go with|make it|stick (?:with|to)|settle on) \S",
    r"\b(?:is|are|that's) (?:now )?(?:settled|decided|agreed|final)\b(?! (?:by|whether|yet))",
    r"\b(?:is|are) (?:out|off the table)(?=\W*$|, )",
    r"\bwe take \S[^?]{2,60} instead\b",
    r"\b(?:wir nehmen|nehmen wir|ich nehme|wir bleiben bei|bleiben wir bei|wir haben (?:uns )?(?:entschieden"
    r"|beschlossen"
    r"|geeinigt)|so machen wir|machen wir(?:'s| es) so|es bleibt bei|abgemacht:)(?!\w)",
    r"\b(?:on prend|on part sur|on garde|on reste sur|nous (?:prenons|gardons)|c'est décidé|on a décidé"
    r"|nous avons décidé|je prends|ce sera)\b",
    r"\b(?:vamos con|nos quedamos con|hemos decidido|decidimos|quedamos en|usaremos|me quedo con|está decidido)\b",
    "に決め(?:ました|た)|にしましょう|でいきましょう|で行きましょう|ことにし(?:ました|ます)|を採用し",
)
BLOCKED = any_of(
    r"\b(?:is|are|am|'m|'re|'s|still|be|we|i) (?:still )?(?:waiting|blocked) (?:for|on|by|until)\b(?! (?:you|me)\b)",
    r"\b(?:has|have|must|needs?) (?:to )?wait (?:for|until|till)\b|\bwaits for\b",
    rf"\b(?:can'?t|cannot|can not|won't be able to) (?!wait)[^?]{{3,80}}\b(?:until|before (?:we|i|the|that|{DAY}))\b",
    r"\b(?:warten? (?:noch )?auf|(?:erst|nicht), (?:wenn|bis))\b|\ben attente d|\bà la espera de\b"
    r"|\besperando (?:a|el|la)\b",
    "待ち(?:です|)(?:。|$)|待っています",
)
LEFT = any_of(
    r"^\[ \] \S",
    r"^(?:to[- ]?dos?|open|open (?:points?|items?|work|tasks?)|remaining|still (?:open|to do|missing)"
    r"|next(?: steps?| up)?"
    r"|action items?|follow[- ]?ups?|what remains[^:]{0,40}|offen|noch offen|à faire|reste à faire"
    r"|pendientes?)\s*:\s*\S",
    r"^TODO\b\W+\w",
    r"\bstill (?:to do|to be \w+|needs? (?:to|a|an|the|some)|have to|has to|must|outstanding|missing|open)\b",
    r"\b(?:is|are|has) (?:still )?not yet (?:\w+ed|done|there|written|sent|paid)\b|^not yet (?:there|done)\b",
    r"\bleft to do\b|\bremains? (?:to be|open)\b|\byet to be \w+",
    r"\b(?:steht|stehen|fehlt|fehlen) noch\b|\bnoch (?:offen|zu (?:tun|klären|erledigen))\b",
    r"\b(?:il )?reste à \w+|\ben suspens\b|\bqueda(?:n)? por\b|\bestá(?:n)? pendientes?\b",
    "未完了|まだ(?:です|終わって|できて)|残って(?:いる|います)|やること[::]",
)
OWED = any_of(
    rf"\bi(?:'ll| will|'m going to| am going to| have to| need to| must|'ve got to| should) (?:then |also |still )*"
    rf"{DO}\b(?! (?:to )?(?:know|understand|say|think|you (?:that|about)))",
    rf"\b(?:we|you|he|she|they|somebody|someone|[A-Z]\w+) (?:still )?(?:have to|has to|need to|needs to|must"
    rf"|should|will) "
    rf"[^?]{{3,120}}\b(?:by|before|until) {DAY}\b",
    rf"\b(?:can|could|would|will) you (?:please |also )*{DO} [^.!?]{{2,120}}\b(?:by|before|until) {DAY}\b",
    r"\b(?:has|have|needs?) to be \w+(?:ed|ne|en|t)\b",
    r"^(?:please )?(?:do not|don't) forget (?:to|the)\b|^(?:please )?remember to\b|\bremind me to\b",
    r"\b(?:muss|müssen|musst) (?:ich |wir |du |man )?[^?]{0,60}?noch\b|\bich (?:schicke|frage|rufe|schreibe|kümmere)\b",
    r"\b(?:je dois|il faut|on doit|nous devons) (?:encore )?(?:\w+er|\w+re|\w+ir)\b|\bn'oublie pas\b|\bj'appelle\b",
    r"\b(?:tengo que|tenemos que|hay que|falta) \w+|\bno olvides\b",
    "なければ(?:なりません|ならない|いけない)|する必要があ|しておきます|までに",
)
LATER = any_of(
    rf"\bi(?:'ll| will) [^?]{{3,120}}\b(?:later|tomorrow|next (?:time|week|session)|once|as soon as|by {DAY})\b",
)
ASKED = re.compile(r"[?？؟][\"'”’)\]*_\s]*$|か。?$")
REQUESTED = re.compile(r"\b(?:can|could|would|will) you\b", re.IGNORECASE)
CLAUSE = re.compile(r";\s+|\s[–—-]\s")
# Not settled, or not meant.
HEDGED = any_of(
    r"\b(?:maybe|perhaps|might|could|would|wouldn't|should we|shall we|whether|not sure|wondering|thinking (?:about|of)"
    r"|if (?:we|i|you)|unless|used to|haven't|hasn't|have not|has not|didn't|did not|can't (?:decide|choose)"
    r"|vielleicht|könnten|würde|peut-être|pourrait|quizás?|tal vez|podríamos)\b",
    "かもしれ|たぶん",
)
# Pasted text that gives orders to whoever writes things down.
TO_THE_WRITER = re.compile(
    r"\b(?:(?:to|for) (?:any |all |the )?(?:ai|assistants?|summari[sz]ers?|language models?)|your summary"
    r"|(?:your|all|any) (?:previous |prior )?instructions)\b",
    re.IGNORECASE,
)
LONG_AGO = re.compile(r"\b(?:last (?:year|month|time|week)|years? ago|back then|once decided)\b", re.IGNORECASE)
# Of others, of habits, or not meant to be done.
TOLD = any_of(
    r"\b(?:maybe|perhaps|might|i guess|if (?:we|i|you)|unless|used to|usually|every (?:time|day|morning|week)"
    r"|vielleicht"
    r"|peut-être|quizás?|tal vez)\b",
)


@dataclass(frozen=True, kw_only=True)
class Cue:
    """A sentence of a message and what it sounds like: an accepted decision, or open or blocked work."""

    kind: Literal["decision", "open_work"]
    status: Literal["accepted", "open", "blocked"]
    span: Span


def cues_in(text: str, *, role: str) -> tuple[Cue, ...]:
    """In the order of the message; one sentence may be both. A model's own plans and advice are neither."""
    if len(text) > LONGEST.get(role, 0):
        return ()
    # What is quoted was said by somebody else. Blanked and not cut out, so that offsets stay.
    own = QUOTED_LINE.sub(lambda line: " " * len(line[0]), text)
    return tuple(islice(all_cues(own, role=role), MOST))


def all_cues(own: str, *, role: str) -> Iterator[Cue]:
    for span in sentence_spans(own):
        words = one_line(span.of(own)).replace("’", "'")
        if is_sentence(words) and not sounds_like_a_rule(words) and not TO_THE_WRITER.search(words):
            yield from cues_of(words, span, role=role)


def is_sentence(words: str) -> bool:
    shortest = SHORTEST_UNSPACED if UNSPACED.search(words) else SHORTEST
    return shortest <= len(words) <= LONGEST_SENTENCE and not FENCE.match(words)


def cues_of(words: str, span: Span, *, role: str) -> Iterator[Cue]:
    if sounds_decided(words, role=role):
        yield Cue(kind="decision", status="accepted", span=span)
    if sounds_open(words, role=role):
        yield Cue(kind="open_work", status="blocked" if BLOCKED.search(words) else "open", span=span)


def sounds_decided(words: str, *, role: str) -> bool:
    """What a model says that it chose is advice; what it says that was decided is a record."""
    if ASKED.search(words) or LONG_AGO.search(words):
        return False
    clear = [clause for clause in CLAUSE.split(words) if not HEDGED.search(clause)]
    return any(RECORDED.search(clause) or (role == "user" and CHOSEN.search(clause)) for clause in clear)


def sounds_open(words: str, *, role: str) -> bool:
    """What a model says that it will do, it does most often at once."""
    if ASKED.search(words) and not (role == "user" and REQUESTED.search(words) and OWED.search(words)):
        return False
    if LEFT.search(words):
        return True
    if role == "user":
        return bool((BLOCKED.search(words) or OWED.search(words)) and not TOLD.search(words))
    return bool(LATER.search(words))
