"""How much a sentence by itself sounds like a decision, open work, a rule or a telling fact.

Wide where `efforts.domain.cues` is narrow: what is heard here is only ranked. Weights are relative to each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from efforts.domain.cues import TO_THE_WRITER, sounds_decided, sounds_open
from efforts.domain.rules import sounds_like_a_rule

from .phrases import total, weighed, words
from .units import Unit, stems_of

LEAD = (
    r"(?:(?:so|and|then|ok(?:ay)?|'kay|no|yes|yeah|well|but|please|just|alright|right|fine|good|also|now"
    r"|first|oh|instead|next|finally|otherwise)[,:]? )*"
)
VERBS = (
    "add|answer|apply|ask|assign|attach|avoid|book|bring|build|bump|buy|call|cancel|change|check|choose|clean"
    "|close|commit|compare|confirm|convert|copy|counter|create|cut|decide|decrease|define|delete|deploy|describe"
    "|disable|do|document|draft|drive|drop|enable|ensure|exclude|explain|find|finish|fix|fly|follow|forget"
    "|generate|get|give|go with|hand|have|hire|ignore|include|increase|install|investigate|invite|keep|leave|let"
    "|limit|link|list|locate|lock|log|look|lower|make|mark|measure|meet|mention|merge|migrate|minimise|minimize"
    "|monitor|move|name|note|offer|omit|open|order|paint|paste|phone|pick|pin|plan|plant|post|prefer|prepare"
    "|print|prioritise|prioritize|publish|pull|push|put|quote|raise|read|reckon|record|reduce|refactor|reject"
    "|remember|remove|rename|rent|repair|repeat|replace|replicate|report|rerun|reserve|restart|retry|return"
    "|revert|review|rewrite|ring|roll|rotate|run|save|schedule|scrap|send|separate|serve|set|ship|show|sign|skip"
    "|sort|split|start|stay|stick|stop|store|stream|submit|summarise|summarize|swap|switch|tag|take|talk|tell"
    "|test|track|translate|treat|trim|try|turn|update|upgrade|upload|use|validate|verify|wait|wrap|write"
)
IMPERATIVE = re.compile(rf"^{LEAD}(?:{VERBS})(?! (?:is|are|was|were|has|would|will))\b")
# How people settle things.
SETTLED = weighed(
    r"""
    3.0 (?:we|i|they)(?:'ve| have|'d)?(?: \w+)? (?:decided|agreed|settled|chose|chosen|opted|voted|concluded)
    3.0 (?:the )?(?:decision|conclusion|agreement|verdict|plan) (?:is|was|stands|will be)|it's decided
    3.0 let's|let us|we'll|we will|we shall|we're (?:gonna|going to|going with|using|keeping|staying)
    2.5 (?:agreed|right|ok|okay|good|fine|so|then),? (?:so |then )?(?:we|i|you) \w+
    2.5 (?:go|going|went) (?:ahead|for|with)|(?:stick|sticking|stay|staying) (?:with|to|at|on)
    1.5 so (?:the|it's|it is|that's|we're|there's|there is|there are|i) \w+
    2.5 we (?:won't|don't need|aren't (?:going|doing)|leave out|skip|drop)|(?:get|getting) rid of
    |(?:write|writing) off
    |eliminate|not (?:going to )?include|rule out
    2.5 instead|after all|rather than|no longer|then|settle (?:on|for)|go back to
    2.0 that's what we|that's (?:what|how) (?:i|we)'?(?:ll| will)?|(?:it|that) (?:stays?|remains?|is to)
    2.0 (?:i'd|i would|i'll|i will) (?:say|go|take|have|pick|choose|use|keep|prefer|put|make|do)|i'm (?:not )?\w+ing
    2.0 we (?:should|must|need|want|wanna|take|use|keep|go|do|don't|can't|have to|make|reserve|put|start|leave)
    2.0 (?:it|they|this|that|there|he|she|all|everything|nothing|no one)'?(?:ll| will| is to| are to| must)(?: not)?
    2.0 (?:will|should|must|has to|have to|needs? to|shall) (?:not )?(?:be|have|stay|get|go|sit|run|use|come|remain)
    1.5 (?:is|are|be|it|that's|looks?|sounds?) (?:fine|good|right|ok|okay|enough|great|perfect|out|in|best)|it is
    1.5 stays?|suits?|is off|not needed|no need|don't (?:need|want)|for sure|definitely
    1.5 so no|just|only|no more|either way|both|as (?:the|our|a)|per
    1.5 wir|ich|machen|nehmen|soll|sollen|bleiben|bleibt|reicht|reichen|passt|kommt|statt|lieber|doch|dann
    1.5 on|nous|je|prend|prendra|sera|fera|garde|passe|plutôt|finalement|alors|donc|va
    1.5 vamos|quedamos|mejor|entonces|será|haremos|prefiero|usaremos|hacemos|nos
    2.5 にします|にしましょう|ことにし|でいきます|決め|決定|使います|採用|やめ|お願いします
    """
)
# How they leave something to be done.
LEFT = weighed(
    r"""
    3.0 not (?:yet )?(?:begun|started|done|there|written|finished|built|ready|made|clear)
    |haven't [^.]{2,60} yet|to be done
    |(?:is|are) (?:checking|looking into|on it|working on)|that leaves|stays? open|so far not|still unclear
    3.0 still (?:have|has|need|needs|to|open|missing|must|not)|not yet|to-?dos?|remain(?:s|ing)?|left to do
    3.0 i'll|i will|i'm (?:gonna|going to)|i am going to|(?:he|she|they)'ll|(?:he|she|they) will|i'd better
    2.5 (?:i|we|you|he|she|they|someone|somebody|one|who) (?:still |also |all |each )*(?:have to|has to
    |need to|needs to
    |must|gotta|should|ought to)
    2.5 you'll (?:have|need)|you(?:'re| are) (?:gonna|going to)|(?:gonna|going to) (?:be )?\w+|we can't|i can't|cannot
    2.5 (?:can|could|would|will) (?:you|somebody|someone|i)|please|don't forget|remember to|make sure|remind
    2.5 wait(?:s|ing)? (?:for|until|on)|until|till|once|blocked|pending|as soon as|depends on|before that
    2.5 next (?:step|steps|week|month|meeting|time|session|stage|sprint|year)|tomorrow|tonight|later|this afternoon
    |afterwards
    2.0 by (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|noon|the end|next|then)|on (?:monday|tuesday
    |wednesday|thursday|friday|saturday|sunday)|deadline|due
    2.0 action (?:item|point)s?|follow up|look into|find out|figure out|sort (?:it|that|this)? ?out|(?:more )?research
    |work on|working on|investigate
    2.0 (?:has|have|needs?|is|are|ought) to (?:be )?\w+|to be \w+ed|should be \w+ed|responsible for|in charge of
    |take care of|takes care
    2.0 (?:i|we) (?:can|could) (?:register|do|try|ask|send|take|check|write|call|look|make|prepare|help|bring)|let me
    |try to|trying to
    2.5 \w+ will (?:do|make|send|give|write|take|check|prepare|look|bring|find|get|organi[sz]e|ask|call
    |talk)|(?:do|finish) yet
    2.5 you (?:write|do|take|make|send|prepare|check|rework|build|draft|add|handle|bring|call|ask|get|go)
    2.5 myself|on my (?:side|list|desk)|my job|needs? an? \w+
    1.5 (?:we|i) should|want to|wanna|plan to|planning|open (?:question|point)|missing|who could|would have to
    2.5 muss|müssen|musst|soll|sollte|noch|fehlt|fehlen|morgen|wochenende|später|bis|erst|kümmere|schicke|rufe|frage
    |mache|warten?
    2.5 dois|doit|faut|faudra|reste|demain|encore|avant|attend|appelle|réserver|note-le|peux pas|dès que|vais
    2.5 tengo|tenemos|hay que|falta|queda|mañana|pendiente|todavía|antes|espera|voy a|llamo
    2.5 まだ|必要があ|なければ|残って|明日|までに|予定|しておき|待ち|来週|お願い
    """
)
# Rules that are to last.
RULED = weighed(
    r"""
    3.0 never|must not|mustn't|must never|may not|shall not|under no circumstances|not allowed|forbidden|prohibited
    3.0 (?:ground )?rules?(?: [^:.]{0,50})? ?:|one (?:rule|condition) ?:
    3.0 do not|don't|always|no (?:more|less|later|earlier|\w+ing)|at (?:most|least)|at no time
    2.5 not (?:go )?(?:over|above|more|below|under|before|after|exceed)|nothing \w+|nobody|no one|only|exactly
    2.5 without (?:asking|my|our|permission|approval)|leave \S+(?: \S+)? alone|hands off|off limits
    2.0 must|cannot|can't|has to|have to|before (?:i|we)|until|should always|make sure|be sure|ensure|rule
    2.0 try to|when (?:you|editing|writing)|remember|avoid|prefer|minimi[sz]e|instead of|in (?:all|every|any)|budget
    |limit|maximum|minimum|cap
    3.0 budget(?: \w+)? ?: ?\d+|(?:max|maximum|höchstens|máximo) \d+
    2.0 no|all|every|any|each|strict(?:ly)?|ground rule
    3.0 (?:should|must|have to|has to|need to) (?:target|cost|stay (?:under|below|within)|be (?:under|below|within
    |ready))
    2.5 (?:has|have|needs?|ought) to (?:stay|be|remain)|at the latest|budget (?:is|of)|is fixed|are fixed
    |(?:is|are) a must
    2.5 keep (?:\w+ ){1,4}(?:out|off|away|secret|private|free)
    |not (?:be )?(?:touched|changed|edited|shared|mentioned|told)
    2.5 stays? (?:with|in|inside|between|among|private|confidential|secret|out of)
    2.5 not before|no one (?:but|except)|nothing (?:but|before|without)
    |no \w+ (?:before|after|without|until|on)|first ask
    2.5 (?:answer|reply|write|talk) (?:to me )?(?:only )?in \w+|stays? (?:as|where) (?:it|they) (?:is|are)|off-limits
    3.0 nie|niemals|auf keinen fall|darf(?:st)? (?:nicht|kein\w*)|bitte (?:nicht|kein\w*)|höchstens|maximal
    |mindestens|nur
    |immer|spätestens|kein\w* (?:\w+ )?(?:vor|nach|ohne|mehr)|nichts (?:vor|ohne)|nicht (?:vor|ohne|mehr als|über)
    1.5 nicht|kein\w*|muss|müssen|ne|pas
    3.0 jamais|toujours|interdit|uniquement|au maximum|pas (?:plus|de|avant|sans)|rien (?:avant|sans)|au plus tard
    3.0 nunca|siempre|no más|sólo|solo|máximo|mínimo|nada (?:antes|sin)|しないで|必ず|絶対|禁止|だけ|以内|以下
    |てはいけ
    |ないこと
    """
)
STATED = words(
    r"[a-z]+[\w-]*\d[\w.:/-]*|\d[\d.,:]*",
    r"\w+_\w+",
    r"(?:\w+/)+\w+",
    "because|since|cause|reason|found|measured|costs?",
)
# What only keeps talk going.
IDLE = re.compile(
    rf"^{LEAD}(?:thanks?|thank you|hello|hi|hey|bye|good (?:morning|night)|you're welcome|sorry|i see|i know"
    r"|i don't know|i dunno|really|wow|ha|haha|lovely|great|perfect|sleep well|have fun"
    r"|that's (?:it|all|that)|see you"
    r"|i'm back|i have to run|talk (?:to you )?(?:soon|later)|danke|merci|gracias|bonjour|hallo)\b[^;]{0,30}$"
)
# Opinions, stories and what might be.
LOOSE = weighed(
    r"""
    1.5 maybe|perhaps|might|could|would|probably|i guess|i suppose|not sure|wonder|if|vielleicht|könnte|peut-être
    1.5 was|were|had|did|said|told|thought|felt|knew|went|used to|yesterday|last (?:week|year|month|night|time)
    1.5 i (?:like|love|think|mean|feel|hope|believe)|it seems|looks like|usually|often|sometimes|generally
    1.5 (?:they|he|she|there|hm|hardly) \w+|the \w+(?: \w+)? (?:asked|told|said|contain)
    1.0 because|since|so that|which means|for example|that means|interesting|nice|cool|funny
    """
)
# Who tells what they or others do rules nothing.
TELLS = weighed(
    r"""
    2.0 (?:i|we|she|he|they|you|people|nobody|it)(?:'ll|'d)? (?:don't|doesn't|never|always|only|just|knows?)
    3.0 (?:has|have|had|was|were) (?:always|never|only|not)
    1.0 i think|i guess|just wanna
    """
)
ANNOUNCED = words("let's|let us|let me|we (?:should|will|need to|can now|have to)|i will|i'll|i'm going to|we'll")


@dataclass(frozen=True, kw_only=True)
class Heard:
    """Weights: 0 where nothing is heard."""

    decision: float
    open_work: float
    constraint: float
    fact: float


NOTHING = Heard(decision=0, open_work=0, constraint=0, fact=0)


def hear(unit: Unit) -> Heard:
    if IDLE.match(unit.plain) or TO_THE_WRITER.search(unit.plain) or not unit.stems:
        return NOTHING
    return of_record(unit) if unit.machine else of_speech(unit.plain, unit.said, unit.role, unit.asks)


# Talk repeats itself.
@lru_cache(maxsize=1 << 12)
def of_speech(plain: str, said: str, role: str, asks: bool) -> Heard:
    loose = total(LOOSE, plain, most=3.0)
    asked = 3.0 if asks else 0.0
    imperative = 2.5 * bool(IMPERATIVE.match(plain))
    decision = 4 * sounds_decided(said, role=role) + imperative + total(SETTLED, plain)
    open_work = 4 * sounds_open(said, role=role) + 0.8 * imperative + total(LEFT, plain)
    constraint = 3 * sounds_like_a_rule(said) + 0.5 * imperative + total(RULED, plain)
    return Heard(
        decision=decision - loose - asked,
        open_work=open_work - 0.5 * loose - asked,
        constraint=constraint - 0.5 * loose - 2 * asked - total(TELLS, plain),
        fact=0.75 * min(len(STATED.findall(plain)), 4) + 0.1 * min(len(stems_of(plain)), 10) - asked,
    )


RECORD_OF_DECISION = words(
    "decision|decided|agreed|accepted|resolved|board|committee|resolution|approved|ruling|minutes"
    "|entscheidung|beschluss|décision|decisión",
    "決定",
)
RECORD_OF_WORK = words(
    "to-?do|open|action items?|next steps?|remaining|follow-?ups?|pending|not done|offen|pendiente", "未完"
)
LEFT_IN_RECORD = re.compile(r"^\[ \] |(?:^|\W)todo\b|\bnot (?:yet )?done\b|\bstill (?:open|to do|missing)\b")
FAILED = words("error|failed|failure|exception|traceback|fatal|denied|not found|wrong")


def of_record(unit: Unit) -> Heard:
    """What a tool returned says of decisions and open work, in its words or by the heading over them."""
    label, _, rest = unit.plain.partition(":")
    about = f"{unit.title} {label if rest.strip() else ''}"
    todo = bool(LEFT_IN_RECORD.search(unit.plain))
    return Heard(
        decision=5.0 * bool(RECORD_OF_DECISION.search(about) or sounds_decided(unit.plain, role="assistant")),
        open_work=5.0 * bool(RECORD_OF_WORK.search(about) or todo),
        constraint=0,
        fact=1.5 * bool(FAILED.search(unit.plain)) + 0.25 * min(len(STATED.findall(unit.plain)), 4),
    )
