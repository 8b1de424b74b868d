"""Whether a person's words end a piece of work, or only leave it for a while.

One rule with three uses: the engine's cue for concluding, the offer to conclude, and the guard on close_effort.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import zip_longest

# A capital letter is not asked for: many people write without.
SENTENCE = re.compile(r"(?<=[.!?…])[\"')\]]*\s+|(?<=[。！？])|\n+")
CLAUSE = re.compile(r"\s*[,;:]\s+|\s+[-–—]+\s+|、|\b(?:but|although|though|because|so|aber|pero|mais)\b")


def phrases(*patterns: str) -> re.Pattern[str]:
    """Whole words, where the script has words."""
    whole = (pattern if ord(pattern[0]) > 0x3000 else rf"\b(?:{pattern})(?!\w)" for pattern in patterns)
    return re.compile("|".join(whole))


ENDED = (
    "fixed|done|solved|resolved|settled|sorted(?: out)?|finished|completed?|concluded|over with|wrapped up|closed"
    "|booked|submitted|handed in|sent(?: off| out)?|mailed|posted|shipped|delivered|deployed|merged|published|signed"
    "|paid|filed|ordered|bought|cancell?ed|dealt with|taken care of|cleared up|out of the way|behind (?:me|us)"
    "|registered|reserved|printed|uploaded|released|returned|graded|approved|accepted|cured|healed|repaired|replaced"
)
ENDED_IT = (
    "fixed|solved|resolved|settled|sorted|finished|completed|booked|submitted|sent|mailed|posted|shipped|delivered"
    "|deployed|merged|published|signed|paid|filed|ordered|bought|cancell?ed|handed|turned|wrapped|dropped|uploaded"
    "|registered|reserved|printed|returned|repaired|replaced"
)
IT = "it|this|that|them|everything|these|those|all of (?:it|them)|(?:the|that|this) (?:whole )?thing|the lot"
NOW = "(?:now |finally |just |already |all |officially |completely |fully |basically |also |both |have )*"
# "Is fixed at 30 seconds" and "has done this before" end nothing.
ELSE_MEANT = (
    r"(?! (?:by(?! the way)|before|so far|wrong|at|me|us|him|her|you|price|rates?|to (?:me|us|him|her|you)|it"
    r"|this|that|with (?!(?:it|this|that|everything|all)\b)\w+|for (?!(?:good|me|us)\b)\w+|as|into|from|locally"
    r"|on (?:staging|test|dev|my|localhost|the (?:test|staging|dev))|off on"
    r"|tomorrow|soon|next|later)\b)"
)
PIECE = "(?:first|second|third|next|intro\\w*|chapter|page|part|step|draft|section|half|paragraph)"
RESOLVED = phrases(
    r"(?:is|are|was|were|'s|'re|am|i'm|been|got|all|now|finally|just|already|both|its|thats) "
    rf"{NOW}(?:{ENDED}){ELSE_MEANT}",
    rf"(?:i|we|have|'ve|has|'s) {NOW}(?:{ENDED_IT}) (?:{IT})(?! (?:to (?:me|us)|with))(?: (?:in|off|up|out|over))?",
    rf"(?:i|we|have|'ve) {NOW}(?:finished|solved|submitted|completed|handed in|turned in|resolved) "
    rf"(?:the|my|our|your)(?! {PIECE}\b)",
    rf"(?:problem|mystery|case|issue|bug|puzzle|riddle) (?:{ENDED})",
    r"(?:it|everything|all|they|which|now) (?:all |just |finally |now )*works?(?= ?$)",
    r"(?:works?|runs?|running|working|behaves?) (?:now|again|like (?:a charm|new|before)|perfectly|as it should"
    r"|fine now|just fine|flawlessly)(?! (?:on|with|in|for|at) )",
    r"(?:looks?|all|is|are|be) (?:good|fine|right|well|quiet) now|all (?:set|clear)(?= ?$)",
    r"(?:it's|it is|that's|all) over(?! (?:here|there|to)\b)",
    r"(?:that|this|it) (?:did it|was it|did the trick|fixed it|solved it|worked|nailed it|sorted it)(?= ?$| for)",
    r"(?:we|i|they|she|he) (?:did|nailed|made|cracked) it(?= ?$)",
    r"(?:pain|problem|error|bug|issue|symptoms?|leak|noise|smell)s? (?:(?:is|are|has|have|was) )?"
    r"(?:(?:completely|all|been) )*(?:gone|vanished|disappeared)",
    r"back to normal|up and running|back up again|good as new|case closed|mission accomplished|over and done with",
    r"(?:topic|matter|issue|case|chapter|file|ticket) (?:is |'s )?closed",
    r"that (?:answers|answered|settles|settled|resolves|covers|concludes|solves) "
    r"(?:my|our|the|it|this|that|everything)(?: \w+)?",
    r"(?:got|have|had|found|was|is|'s) (?:all |exactly |everything )*(?:what |that )?(?:i|we) "
    r"(?:needed|wanted|was after|were after)(?= ?$| to know| from)",
    r"(?:that's|thats|that is) (?:a wrap|all i needed|everything i needed|one less thing)",
    r"(?:went|gone|came|got) through(?= ?$)|(?:got|been|was) (?:accepted|approved|granted|refunded|repaid)(?= ?$)",
    r"(?:accepted|approved|confirmed|granted|refunded|signed) (?:the|our|my|their"
    r"|everything)(?: \w+){1,2}(?= ?$)",
    r"(?:got|landed) (?:the|my|our|a) (?:\w+ )?(?:job|visa|permit|flat|contract|refund|money|place|ticket|offer"
    r"|deposit|certificate"
    r"|licence|loan|grant|keys)(?: back)?|(?:is|are) (?:ours|mine|yours|history|in the (?:post|mail))",
    r"(?:opens?|closes?|starts?|runs?|fits?|loads?|prints?|shuts?|drives?) (?:\w+ )?(?:properly|fine|again"
    r"|smoothly) now",
    r"(?:flat|contract|deal|lease|papers) signed|(?:reservation|booking|order|appointment|cancellation"
    r"|date) (?:is )?confirmed",
    r"(?:it|that|this|everything) (?:all )?went (?:really |very |so )?(?:well|smoothly|perfectly)|the last of it"
    r"|got rid of it",
    r"(?:we're|i'm|we are) through(?= ?$| with (?:it|this|that))|so that can go",
    r"alive again|back to life|that concludes|all boxes ticked|off the list|mission complete|ready for the archive",
    r"everything (?:is |'s )?(?:now )?(?:in place|ready|settled|done|sorted|taken care of|set)(?= ?$)",
    r"(?:tickets?|seats?|table|room|hotel|flights?|appointment|place) (?:is |are |'s )?(?:booked|bought|reserved"
    r"|confirmed|secured)",
    r"all (?:tests |of them |checks |\d+ )(?:\w+ )?(?:pass|are green|green|done|through|passing)"
    r"|green across the board",
    r"(?:it|this|that|they|which) (?:has |have )?(?:all )?(?:resolved|solved|sorted|settled|fixed) (?:itself"
    r"|themselves)",
    r"(?:that's|thats|that is) (?:that|it from (?:me|my side)|it then)|deadline met|done and dusted"
    r"|appointment (?:made|booked)",
    r"(?:through|finished|done) with (?:this|it|that)(?: one)?(?= ?$)|(?:went|decided|settled|agreed) (?:with|on"
    r"|for) the \S+"
    r"(?: \S+)? in the end|chapter (?:is )?closed|call it (?:done|finished|a wrap)|came through(?: \w+)?(?= ?$)",
    r"signed and (?:sealed|sent)|in the bag|off my (?:plate|desk|list)|ticked off|crossed off",
    r"erledigt|fertig|gelöst|geklärt|abgehakt|abgeschickt|gebucht|abgeschlossen",
    r"(?:läuft|geht|funktioniert|klappt) (?:jetzt|wieder|nun)",
    r"ya (?:funciona|está)|listo|lista|resuelto|resuelta|solucionado|terminado|terminada|reservado|enviado",
    r"c'est (?:réglé|résolu|fait|fini|terminé|bon)|réglé|résolu|ça marche(?: maintenant)?",
    "解決し(?:ました|た)|終わ(?:りました|った)|完了(?:しました|です)|直(?:りました|った)|できました|予約しました|送りました|提出しました",
)
# At the very beginning one word is enough: "booked!", "done, it runs".
AT_ONCE = re.compile(
    r"^\W*(?:(?:and|ok|okay|yes+|yay|great|well|so|all|both|finally|just|it|its|woohoo|hurray|phew|got it)\b[\s,!]*)*"
    r"(?:"
    r"works(?= ?$)|took (?:it|them)(?= ?$)"
    rf"|(?:{ENDED}|passed|hecho|fini)(?= ?$| (?:everything|now|just now|yesterday|today|this morning|last night|here"
    rf"|an hour ago|and (?:\w+ )?(?:{ENDED}))(?!\w))"
    rf"|(?:{ENDED_IT}) (?:it|them|everything|both|one)(?!\w)(?! (?:to|with|of))"
    r"|(?:bought|booked|reserved|got) (?:the|a|two|three|four|them|tickets|'em|us|my|our)(?!\w)"
    r"(?! (?:first|idea|point)))"
)
# These hold a negation or a request of their own, which takes nothing back.
RELEASED = phrases(
    r"no longer (?:needed?|necessary|relevant|required|an issue|a problem|applies|matters|interested|want)",
    r"(?:don't|dont|do not|doesn't|does not|won't|needn't) (?:have to|need to|need|want to|want|matter)"
    r"[^.?!]{0,50}? any ?more",
    r"(?:can|could|let's|lets|let us|may|please|go ahead and) (?:now |then |please |safely |all )*"
    r"(?:close|conclude|wrap up|tick off|file|file away|check off|cross off|tick) (?:it|this|that|the|my|our)"
    r"(?! (?:window|tab|file|door)\b)[^?]{0,40}",
    r"(?:close|conclude) (?:it|this|that|the \S+(?: \S+)?)(?: one)?(?: (?:now|out|then|please))?(?= ?$)",
    r"(?<!.)(?:close|conclude) (?!.*\b(?:window|tab|file|door)\b)\S+(?: \S+){0,3}(?= ?$)",
    r"wrap (?:it|this|that) up|put (?:it |this |that )?to (?:bed|rest)|put a (?:lid|tick|check|bow) on|(?:draw"
    r"|drawn) a line under",
    r"(?:can|could|may|should) (?:now |all )*be (?:closed|archived|filed|ticked off|checked off|concluded)"
    r"|archive (?:it|this|that)",
    r"nothing (?:left|more|else|open)(?: on (?:the|my|our) list)?(?= ?$)|no (?:open|loose) (?:points|ends"
    r"|questions|items)",
    r"(?:that's|thats|that is|that was) (?:everything|the last (?:one|thing|item|point|piece|bit)|all of (?:it"
    r"|them))(?= ?$)",
    r"no (?:more )?(?:errors?|complaints?|timeouts?|crashes|pain|problems?|leaks?"
    r"|trouble)(?: any ?more)?(?: since|(?= ?$))",
    r"(?:consider|call|mark|count) (?:it|this|that|the \S+(?: \S+)?) (?:as )?(?:done|closed|finished|solved|settled)",
    r"(?:forget (?:about )?(?:it|that|this|the whole thing)|never ?mind(?: (?:it|that|this|then))?)(?= ?$)",
    r"(?:isn't|is not|not) (?:needed|necessary|wanted)(?: any ?more)?|called off|fell through"
    r"|no need (?:any ?more|to go on|for)"
    r"|(?:is|become|becomes) (?:moot|pointless|obsolete)|decided against (?:it|that)|(?:scrap|drop|cancel|bin"
    r"|shelve) (?:it|that|this)",
    r"(?:can|could|let's|may|should) (?:just |now )?(?:drop|leave|forget|scrap|skip|file|bury) (?:it|this"
    r"|that)(?: one)?(?= ?$)",
    r"(?:trip|party|event|deal|wedding|project|meeting|move|sale|thing) is off(?! (?:to|by))|not going after all"
    r"|takes care of it now",
    r"(?:nothing|not anything) (?:left|more|else) (?:to do|to fix)",
    r"(?:brauchen? (?:wir|ich)?|wird) ?nicht mehr(?: gebraucht)?|hat sich erledigt",
    r"ya no (?:hace falta|lo necesito)|plus besoin",
    "もう(?:必要ありません|いりません|大丈夫です)",
)
ASKS = re.compile(
    r"^\W*(?:(?:so|and|ok|okay|but|well|hey|wait|sorry|um|hm+|hold on|just|also|oh)\W+)*"
    r"(?:is|are|isn't|was|were|did|does|do|has|have|had|will|would|should|could|can|what|what's|whats|which|when|how"
    r"|where|who|why|ist|sind|hat|est-ce|está)\b"
)
QUESTION = re.compile(r"[?？]\W*$|か[?？。]?$")
TAG = re.compile(r"\b(?:right|ok|okay|yes|no|eh|isn't it|don't you think)\?\W*$")
CONDITION = re.compile(
    r"\b(?:if|unless|once|as soon as|whenever|until|till|whether|in case|assuming|provided|suppose|before"
    r"|when(?! (?:i|we|he|she|they) \w+(?:ed|ut|id)\b)|after (?:it|that|this|we|i)(?: is|'s| are| have)?"
    r"|wenn|falls|sobald|bis|si|cuando|quand|dès que)\b"
)
# Before the words, in the same clause: not ended, not yet, or not all of it.
BLOCKED = re.compile(
    r"\b(?:not|no|never|hardly|barely|nothing|none|nobody|neither|without|cannot|\w+n't|isnt|arent|wasnt|doesnt|dont"
    r"|will|would|should|could|might|may|must|shall|needs?|want(?:s|ed)?|ought|gonna|going to|have to|has to|had to"
    r"|to be|to get|get|getting|hop(?:e|es|ing)|wish|try|trying|plan(?:ning)?|expect|think it|supposed|about to"
    r"|please"
    r"|how|why|almost|nearly|half|halfway|partly|partially|mostly|kinda|sort of|seems?|maybe|perhaps|probably|soon"
    r"|far from|close to|only|first|parts?|some|most of|step|one of|another|looks? like"
    r"|nicht|keine?|fast|noch|soll|muss|bald|casi|aún|todavía|presque|pas|encore|bientôt)\b|'ll\b|まだ"
)
# Anywhere in the sentence: what was said to be ended is only a part, or has not stayed so.
UNDONE = re.compile(
    r"\b(?:still|not yet|yet to|except|apart from|other than|remains?|left to|\w+ left|remaining|one more"
    r"|another thing"
    r"|half of|part of it|that part|this part|first part|breaks?|broke|came back|comes back|is back|so far"
    r"|but (?:not|now|then|there|the|it|one|only|when|as|if|what)|noch nicht|todavía no|pas encore)\b|まだ"
)
# Right after it there is more of the same.
GOES_ON = re.compile(
    r"^\W*(?:(?:ok|okay|so|and|well)\W+)?"
    r"(?:next\b(?! (?:week|year|month))|now for the next|on to the next|one more|another one|then the)"
)
# Said outright: whatever else the message says, the work is left and not ended.
LEFT = phrases(
    r"(?:let's|lets|let us|we|i|please|to|and|can) (?:\w+ )?pause|pause (?:it|this|that|the|here|for)|paused?(?= ?$)",
    r"(?<!.)pause",
    r"(?:put|leave|set) [^.?!]{1,40}(?:on hold|aside|on ice|on the back burner)|on hold(?: for)?",
    r"park (?:it|this|that|the)|hold off|sleep on it|to be continued|let it rest",
    r"(?:pick|picking|(?:come|coming|get|getting) back|continue|continuing|finish|go on|carry on|resume|rest of"
    r"|more of)\b[^.?!]{0,40}\b(?:later|tomorrow|next week|tonight|another (?:time|day)|on monday"
    r"|after (?:lunch|dinner|work|the weekend))",
    r"(?:leave|drop|stop|rest|break)(?: (?:it|this|that|things))?(?: (?:here|there|at that|off))? "
    r"for (?:now|today|tonight|the moment|a while|a bit)",
    r"(?:wrap|close|shut|finish|call|pack|log)(?: \w+){0,3}? (?:for (?:now|today|tonight|the day|the moment)"
    r"|a day|a night)",
    r"(?<!booked )(?<!reserved )(?<!due )for (?:today|tonight|the moment|the time being|a bit|a while|a minute"
    r"|a sec)",
    r"(?:enough|done|finished|that's it|that's all|thats it|thats all|all)(?: [^.?!,]{1,30})? "
    r"for (?:now|today|tonight|this week|the moment|the day)",
    r"not (?:done|finished|over|ready|there|solved|closed|fixed|quite)(?: \w+)? yet",
    r"(?:take|need|have|taking) a (?:short |quick )?break|(?:don't|do not|dont) (?:close|conclude|finish|end)",
    r"(?:machen?|weiter) [^.?!]{0,20}(?:später|morgen)|(?:seguimos|continuamos) (?:luego|mañana|después)",
    r"on (?:continue|reprend) (?:plus tard|demain)",
    "また明日|続きは|休憩",
)
# Words.
SHORT = 15
# Somebody who leaves the desk says "done" and "all set" of other things.
LEAVES = phrases(
    r"brb|be right back|bbl|afk|(?:be|i'm|am|we're|are) back|back (?:soon|later)|back in (?:a|an|half|\d+|five"
    r"|ten|twenty|two)"
    r"|ttyl|gtg|talk (?:later|soon)|bye|battery",
    r"(?:gotta|got to|have to|need to|must|off to|time to) (?:go|run|leave|hop off|head out|dash|eat|sleep|pick"
    r"|get the"
    r"|bed|lunch)",
    r"(?:lunch|dinner|breakfast)(?: (?:first|time|is ready|is on)|'s (?:ready|on)|(?= ?$))|bedtime|doorbell",
    r"(?:baby|kids?|dog|boss|train|bus|meeting|phone|call)(?:'s| is| are) "
    r"(?:here|calling|crying|awake|waiting|coming|starting|ringing|barking|at)",
)
# Said in passing: it gives way where the same message says that the work has ended.
TURNS_AWAY = phrases(
    r"wait|hold on|hang on|later|brb|be right back|bbl|afk|back (?:in|soon|later)|ttyl|gtg|lunch|dinner|coffee break",
    r"tomorrow|tonight|another (?:time|day)|next week|good ?night|bedtime|interrupted",
    r"(?:gotta|have to|need to|must|got to) (?:go|run|leave|hop off|head out|dash)",
    r"(?:one|a|just a|1) (?:sec|second|moment|minute|min)|bear with me|stand by",
    r"(?:let's|lets|let us|can we|we|i'd rather|i would rather|please|to) (?:\w+ )?switch",
    r"switch(?:ing)? (?:to|over|back)",
    r"(?:work|talk|do|look|focus|go)(?: \S+){1,6} instead|instead(?= ?$)|change (?:the|of) (?:topic|subject)",
    r"something else|(?:different|other|another|unrelated) (?:thing|topic|question|subject|matter)|back to",
    r"später|morgen|warte|moment mal|espera|luego|mañana|más tarde|attends|plus tard|demain",
    "あとで|後で|待って",
)


def sounds_resolved(text: str) -> bool:
    """Whether the words say that a piece of work has ended, or is no longer wanted."""
    return bool(resolving_sentences(text))


def sounds_paused(text: str) -> bool:
    """Whether the words leave the work for later or for something else, and do not end it."""
    plain = plain_text(text)
    return bool(LEFT.search(plain)) or (bool(TURNS_AWAY.search(plain)) and not sounds_resolved(text))


def resolving_sentences(text: str) -> tuple[str, ...]:
    """The sentences that say so, as `plain_text`: an effort that one of them names is the one that has ended."""
    plain = plain_text(text)
    if LEFT.search(plain):
        return ()
    sentences = [sentence for sentence in SENTENCE.split(plain) if sentence and sentence.strip()]
    pairs = zip_longest(sentences, sentences[1:], fillvalue="")
    leaves = len(plain.split()) <= SHORT and bool(LEAVES.search(plain))
    return tuple(
        sentence
        for sentence, following in pairs
        if _resolves(sentence, only_released=leaves) and not GOES_ON.match(following)
    )


def plain_text(text: str) -> str:
    """The text as phrases are looked for in it: composed, without case, with straight apostrophes."""
    return unicodedata.normalize("NFC", text).casefold().replace("’", "'")


def _resolves(sentence: str, *, only_released: bool = False) -> bool:
    if UNDONE.search(sentence):
        return False
    clauses = tuple(_clauses(sentence))
    if any(RELEASED.search(clause) for clause in clauses):
        return True
    if only_released:
        return False
    asked = (QUESTION.search(sentence) and not TAG.search(sentence)) or ASKS.match(sentence)
    return not asked and any(_ends(clause) for clause in clauses)


def _clauses(sentence: str) -> Iterator[str]:
    """Those that hold on their own: what stands with a condition or after it does not, nor what goes on."""
    for clause in CLAUSE.split(sentence):
        if CONDITION.search(clause) or GOES_ON.match(clause):
            return
        yield clause.strip(" .!?…\"')")


def _ends(clause: str) -> bool:
    if AT_ONCE.match(clause):
        return True
    found = RESOLVED.search(clause)
    return found is not None and not BLOCKED.search(clause[: found.end()])
