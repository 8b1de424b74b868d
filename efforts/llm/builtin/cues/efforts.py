"""What people say when they begin, leave, look up and put away pieces of work.

All are matched against `plain_text`: lower case, straight apostrophes.
"""

from __future__ import annotations

import re

from efforts.domain.resolution import phrases

STATUS = phrases(
    r"(?:which|what) (?:\w+ )?efforts?",
    r"(?:what|which)(?: ones?| of them| things| topics)?(?:'s| is| are)? (?:still |currently |all )*open",
    r"where (?:are|were) we|where was i|effort status|status of (?:my |the |our |all )*efforts",
    r"(?:list|show|name)(?: me)? (?:all |my |our |the )*(?:open |concluded |current )*efforts",
    r"what (?:are we|am i|were we|was i) (?:currently |all )*working on|what (?:do|have) (?:i|we) (?:have "
    r"|got )?open",
    r"welche (?:aufgaben|themen|efforts) sind (?:noch )?offen|wo (?:waren|sind) wir|où en (?:sommes-nous|est-on)",
    "どこまで(?:やった|進んだ)|何が開いて",
)

# An expanded effort goes back to its summary; alone where only one is expanded.
COLLAPSE = phrases(
    r"collapse|fold (?:\S+ ){0,6}(?:back|away|up|in|together)|fold (?:it|that|this|them)|(?:roll|pack|tuck|clear"
    r"|tidy|file|stow"
    r"|clean|wrap|shut|close) (?:\S+ ){1,6}(?:away|up|down|back)|put (?:\S+ ){1,7}(?:away|back|aside)",
    r"hide (?:it|that|this|them|the|all)|(?:minimi[sz]e|shrink|unload|unexpand|shelve) \S+|back to (?:its|the"
    r"|a) summary",
    r"(?:no longer |not )(?:have to|need to|must) (?:lie|be|stay|stand|sit|hang)(?: \S+){0,5}|out of (?:the way"
    r"|sight|view|here)",
    r"(?:can|may|could|should) (?:now |all |then )*(?:go|disappear|vanish|leave|be (?:closed|hidden|folded"
    r"|collapsed|put away))"
    r"(?: (?:now|again|away|back))?",
    r"(?:einklappen|zuklappen|pack \S+(?: \S+){0,3} weg)|guarda(?:r)? \S+|plier|range(?:r)?",
)
# Only with the name of what is expanded, or where nothing else is there to be let go.
LETS_GO = phrases(
    r"(?:don't|dont|do not|doesn't|does not|won't|needn't|no longer|not) (?:really |have to |)?(?:need|want|have"
    r"|require)"
    r"[^.?!]{0,60}(?:any ?more|any longer|now|in (?:front of|view|here))?",
    r"no longer need(?:ed)?|(?:that's|thats|that is|that was|it's|now) (?:quite )?enough|enough (?:about|of|on"
    r"|with|from)",
    r"(?:done|finished|through|good) (?:with|reading|looking at)|(?:seen|read|heard|had) enough|basta|genug"
    r"|(?:that's|thats) (?:all|everything) (?:i|we) (?:needed|wanted)|got (?:what|all|everything) (?:i"
    r"|we) (?:needed|wanted)",
    r"close|drop|remove|get rid of|take (?:\S+ ){1,6}(?:away|down|out)|any (?:more|longer)|anymore|let(?:'s"
    r"| us)? leave",
)
KEEPS = phrases(r"keep|leave (?:\S+ ){1,5}(?:open|there|here|visible)|still need")

REOPEN = phrases(
    r"re-?open|open (?:\S+ ){1,6}again|(?:pick|take) (?:\S+ ){1,6}(?:back )?up(?: again)?|resume|revive|restart",
    r"(?:is|are|'s|has|have) (?:back|broken again|happening again|failing again|returned|started again)"
    r"|comes? back|came back",
    r"(?:is|was|are|were)(?: not|n't) (?:over|done|fixed|solved|finished|settled)(?: after all)?",
    r"(?:fails|breaks|broke|hurts|failed|crashes|leaks|drops) again|again (?:since|today|this morning|tonight)",
    r"wieder (?:auf(?:machen|nehmen)|kaputt)|reabrir|rouvrir",
)

DETAILS = phrases(
    r"exact(?:ly)?|precise(?:ly)?|details?|detailed|in full|word for word|verbatim|step by step|steps?"
    r"|walk me through|go over",
    r"show me|pull (?:\S+ ){0,8}up|pull up|bring (?:\S+ ){0,8}(?:back|up)|let me (?:see|read|look)|expand|unfold"
    r"|full (?:log|story|list|text)",
    r"remind me|again(?: please| pls)?|look (?:\S+ ){0,8}up|read me|recap|repeat|all the|the (?:whole|entire"
    r"|original)|side by side",
    r"what (?:\S+ )?did (?:we|i|you)|how (?:\S+ )?did (?:we|i|you)|which \S+(?: \S+)? did (?:we|i|you)"
    r"|why did (?:we|i|you)|what was|what were"
    r"|how we|what we|where we|who (?:was|did)",
    r"genau|nochmal|otra vez|exactamente|détails?|encore une fois",
    "詳しく|もう一度|正確に",
)

# The person goes to what is named after it.
GOES_TO = phrases(
    r"(?:back|return|returning|switch(?:ing)?|over|on|jump(?:ing)?|move|moving|turn(?:ing)?|go(?:ing)?"
    r"|get(?:ting)?) (?:\w+ )?(?:in)?to",
    r"(?:carry|go|move|press|push|get|going|crack) on with|(?:continue|resume|proceed|keep going"
    r"|pick up)(?: with| on)?",
    r"(?:let's|lets|let us|can we|could we|shall we|i want to|i'd like to|i would|i'd|rather|now|please|we) "
    r"(?:\w+ ){0,2}?(?:do|talk about|work on|look at|return to|take|discuss|focus on|tackle|speak about"
    r"|think about|get)",
    r"about|regarding|re:|as for|concerning|as to|for|on the|news (?:on|from|about)|update (?:on|from|about)|with",
    r"zurück (?:zu[rm]?|auf)|weiter mit|volvamos a|volver a|revenons à|retour à|torniamo a",
)
# Whatever stands before it is over for now, so what it names is not where the person goes.
ENOUGH = re.compile(
    r"\b(?:enough|so much for|that's it for|done with) (?:of |about |with )?(?:the |my |our |this |that )?"
    r"(?P<topic>[^.?!,;:]{1,40}?)(?: for (?:now|today|tonight|the moment))?[,.;:!]"
)

NEW_TOPIC = phrases(
    r"(?:different|another|other|new|separate|unrelated|second|next|one more) (?:thing|topic|question|subject"
    r"|matter|problem|project"
    r"|story|issue|task|construction site|one)|(?:something|anything) (?:else|different|new|completely different"
    r"|unrelated)",
    r"(?:totally |completely |entirely |not )?(?:un)?related|off[- ]topic|on (?:another|a different"
    r"|a separate) (?:note|topic)"
    r"|change (?:of|the) (?:topic|subject)|(?:change|switch)(?:ing)? (?:topics?|subjects?|gears)|separately"
    r"|by the way|btw"
    r"|on top of (?:that|it)|as if that (?:wasn't|weren't) enough|in other news|meanwhile|also|besides"
    r"|apart from that|new:",
    r"anderes thema|was anderes|otra cosa|autre chose",
    "別の話|話は変わ|ところで",
)

# Said of a detail as well as of something new.
IN_PASSING = frozenset(("btw", "by the way", "also", "besides", "meanwhile"))

PROJECT = (
    "plan|organi[sz]e|write|draft|build|debug|fix|repair|design|prepare|create|set up|migrate|find|choose|pick"
    "|buy|book|compare"
    "|figure out|work out|sort out|learn|study|research|investigate|look into|tackle|start|begin|develop"
    "|implement|refactor"
    "|translate|move|rent|sell|renew|apply|claim|dispute|renovate|paint|cook|bake|train|lose|save|make|put together"
    "|come up with|decide|understand|upgrade|replace|clean|review|improve|optimi[sz]e|analy[sz]e|track"
    "|keep track|keep a"
    "|register|appeal|complain|negotiate|host|throw|assemble|diagnose|troubleshoot|solve|grow|plant|sew|knit|restore"
    "|cut down|get rid of|work on|work through|go through|go at|get (?:to the bottom|into|started|ready|fit"
    "|better|this|it|my|our|a|an|rid)"
    "|hand over|go from|convert our|fit|install|lay out|arrange|settle|revise|edit|rewrite|set|finance|insure"
    "|cancel|switch"
    "|adopt|teach|practi[sc]e|read up|brush up|catch up on|celebrate|reduce|speed up|automate|document|test"
    "|measure|model"
    "|map|scan|digiti[sz]e|archive|declutter|furnish|pack|invite|contest|object|sue|file|quit|leave my"
    "|change (?:my|our)"
)
DOING = (
    "planning|organi[sz]ing|writing|drafting|building|debugging|fixing|repairing|designing|preparing|creating"
    "|setting up"
    "|migrating|moving|looking for|looking to|looking into|trying to|thinking (?:of|about)|hosting|throwing"
    "|learning|studying"
    "|researching|applying|renovating|training|working on|making|buying|selling|renting|getting married|adopting"
    "|putting together|translating|training for|considering|starting|struggling with|dealing with|redoing"
    "|in charge of"
)
# Outright: they begin a piece of work also where another one is going on.
BEGINS = phrases(
    r"(?:can|could|would|will) you (?:please |maybe |perhaps )?(?:help|give (?:me|us) a hand)(?: (?:me"
    r"|us))?(?: (?:to|with|out))?",
    r"(?:help|assist) (?:me|us)(?: (?:to|with|out))?|(?:need|want|could use|like) (?:some |your "
    r"|a bit of )*(?:help|advice|assistance)"
    r"(?: (?:with|on|about|for))?|give (?:me|us) a hand with",
    rf"(?:let's|lets|let us) (?:now |then |also |finally |please |first |next |quickly |maybe )*(?:{PROJECT})",
    rf"(?:i|we)(?:'d|'ve| would| have| really| just| also| still| now| finally| definitely| urgently| actually"
    rf"| desperately)* "
    rf"(?:need|have|want|like|got|ought|must|should|plan|intend|hope|love|gotta|wanna|decided|promised"
    rf"|am supposed|am going)"
    rf"(?: to)? (?:finally |also |quickly |please |urgently )*(?:{PROJECT})",
    rf"(?:i'm|im|i am|we're|we are) (?:now |also |currently |finally |just |both )*(?:{DOING})",
    rf"(?:can|could|shall|may|might|should|would|will) (?:you|we) (?:please |maybe |perhaps |now "
    rf"|also )*(?:{PROJECT}|guide|take me through)",
    rf"(?:(?<=^)|(?<=[.!?:;,] )|(?<=\n))(?:i )?(?:really |also |just |still |gotta |got to )?(?:need|want|have"
    rf"|time|trying|planning"
    rf"|looking|hoping|wanting|going|would like|wanna|got)(?: to)? (?:{PROJECT})",
    r"ich (?:muss|möchte|will|brauche)|hilf mir|hilfst du mir|lass uns|necesito|quiero|ayúdame|voglio|vorrei"
    r"|je (?:dois|veux|voudrais)"
    r"|aide-moi|j'aimerais|vamos a",
    "手伝って|計画し(?:たい|よう)|したいです|書きたい|作りたい",
)
# Only where nothing else is going on, or with a word that says it is something new.
TROUBLE = phrases(
    r"(?:my|our|the|his|her|their|this|every|i|we|it|\w+s?) (?:\w+ ){0,2}?(?:keeps?(?: on)? \w+ing"
    r"|stays? (?:cold|dark|off|on|wet|red|empty"
    r"|down|stuck|open|shut|slow|black)|hurts?|aches?|itches|swells|died|broke|fails?|crash(?:es|ed)|hangs?"
    r"|leaks?|skips?|drops?|squeaks?"
    r"|times? out|timed out|stopped|won't|doesn't|don't (?:work|start|open|close|match|load)|isn't (?:working"
    r"|starting|loading)"
    r"|can't|cannot|overlap|loses?|smells?|rattles?|flickers?|makes? (?:a |strange |weird |funny )?noises?"
    r"|takes? (?:too long|hours|ages"
    r"|\w+ hours)|runs? out|is (?:dying|dead|broken|stuck|down|leaking|failing|crashing|slow|due|swollen|mouldy"
    r"|missing|gone|stolen)"
    r"|was stolen|went up|needs? (?:a|an|new|to be))",
    r"(?:has|have|'ve|is|are|been) (?:been )?(?:\w+ )?(?:hurting|aching|itching|broken|failing|crashing|leaking"
    r"|acting up|killing me|swollen"
    r"|bothering me|sore|stiff|waking up|throwing \w+|thrown)",
    r"(?:no|without) (?:hot water|heating|power|internet|signal|sound)|(?:pain|ache|bug|error|problem|trouble"
    r"|issue|leak|mould|deadline)"
    r"|stolen|can't sleep|tired all the time|(?:is|are) due (?:on|by|in|next|tomorrow|friday|monday)",
    r"(?:charges|sues?|owes|refuses|keeping|denied|rejected|cancelled) (?:me|us|my|our|to|the)",
)
WISHES = phrases(
    r"(?:i|we|you)(?:'d| would| really| just| also| still| now)* (?:need|want|love|like) (?:a|an|some|new|our|my"
    r"|text|rules|\d+)",
    r"(?:(?<=^)|(?<=[.!?:;,] )|(?<=\n))(?:also )?(?:need|want|wanted|looking for|in need of) (?:a|an|some|new"
    r"|help|text|ideas|\d+)",
    r"(?:i|we)(?:'d| would)? (?:like|love|want|hope) to|(?:my|our) (?:\w+ ){1,4}(?:needs?|wants?|is due|are due)",
    r"(?:i|we) (?:have|need|ought|must|got) to|(?:next|this) (?:year|month|summer|winter|spring|autumn) (?:we|i)",
    r"(?:deadline|due) (?:is|on|by|in)",
)
# Small things, done in one reply.
ONE_OFF = phrases(
    r"joke|pun|limerick|haiku|poem|rhyme|fun fact|riddle me|trivia|convert|in (?:cm|km|kg|lbs?|miles|celsius"
    r"|fahrenheit|inches|euros?|dollars?)",
    r"how (?:do|would) (?:you|i|we) (?:say|spell|pronounce|write)|what does \S+ mean|synonym|capital of"
    r"|what time|what day|how many \w+ (?:in|are)",
    r"just (?:curious|wondering|asking)|(?:need|want|have) (?:a |some |to )?(?:coffee|tea|break|nap|sleep|vent"
    r"|holiday|drink|beer|rest|lunch)",
    r"\d+ ?(?:[-+*/x×%^]|plus|minus|times|percent of) ?\d+|how (?:tall|old|far|big|high|long) (?:is|was|are)",
)

# Of something that was said or done some time ago.
PAST = phrases(
    r"(?:did|had|have|were|was|hadn't|haven't|didn't) (?:the (?:two|both) of us|we|you (?:say|tell|send|give"
    r"|recommend|suggest|mention|once))",
    r"you (?:told|said|recommended|suggested|gave|sent|mentioned|helped|explained|showed|wrote|found|named"
    r"|advised|once|had)",
    r"we (?:\w+ )?(?:did|used|had|found|decided|settled|figured|ran|agreed|talked|discussed|chose|wrote|looked"
    r"|worked|picked|came|got|went"
    r"|made|fixed|solved|tried|put|set|bought|booked|paid|planned|noted|calculated|ended|handled|dealt|spoke)",
    r"(?:got|helped|made|fixed|sent|brought|sold|repaired|upset|recommended) (?:us|our|me|my|the)",
    r"(?:what|who|which|where|how|when|why)(?:'s| is| was| were| did|s)?\b[^.?!]*\bagain|again\?|whats it again"
    r"|once (?:before|more)|back then"
    r"|last (?:time|year|month|week|spring|summer|autumn|winter|fall)|(?:some|a long|long) time ago"
    r"|a while (?:ago|back)|ages ago|once|earlier"
    r"|(?:days|weeks|months|years) ago|the other (?:day|week)|at some point|before|already|used to|in the past"
    r"|the time (?:we|i|when)",
    r"remember|remind|recall|forgot(?:ten)?|dig (?:\S+ ){0,4}(?:out|up)|find (?:\S+ ){0,6}(?:again|back)"
    r"|look (?:\S+ ){0,4}up|called",
    r"damals|nochmal|war das|hatten wir|la otra vez|l'autre (?:jour|fois)",
    "前に|以前|あの時",
)
IMPERATIVE = phrases(
    r"(?:^|[.!?,;:] |please |can you |could you |now )(?:show|tell|give|pull|bring|list|find|remind|walk|read"
    r"|repeat|expand|unfold|open"
    r"|dig|look|search|quote|explain|recap|summari[sz]e|get|let me see)"
)
FIND_EFFORT = re.compile(
    r"\b(?:search|look through|go through) (?:(?:our|the|all|my|old|past|concluded"
    r"|earlier) )*efforts? for (?P<query>.+)"
    r"|\b(?:find|which is) (?:the|that|an?) efforts? (?:where|in which|about|on|with|that) (?P<about>.+)"
)
