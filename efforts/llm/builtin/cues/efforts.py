"""What people say when they begin, leave, look up and put away pieces of work.

All are matched against `plain_text`: lower case, straight apostrophes.
"""

from __future__ import annotations

import re

from efforts.domain.effort.resolution import phrases

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

SUGGEST_PIN = phrases(r"suggest(?: me)? (?:a|some|one|the)? ?pins?|what (?:should|shall|could) (?:i|we) pin")

# An expanded effort goes back to its summary; alone where only one is expanded.
COLLAPSE = phrases(
    r"collapse|fold (?:\S+ ){0,6}(?:back|away|up|in|together)|fold (?:it|that|this|them)|(?:roll|pack|tuck|clear"
    r"|tidy|file|stow"
    r"|clean|wrap|shut|close) (?:\S+ ){1,6}(?:away|up|down|back|again|from|off)|put (?:\S+ ){1,7}(?:away|back|aside)",
    r"no need (?:to keep|for|of)|hide (?:it|that|this|them|the|all)|(?:minimi[sz]e|shrink|unload|unexpand"
    r"|shelve) \S+|back to (?:its|the"
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
KEEPS = phrases(
    r"(?<!need to )(?<!have to )(?<!not )(?<!n't )keep|leave (?:\S+ ){1,5}(?:open|there|here|visible)|still need"
)

REOPEN = phrases(
    r"re-?open|open (?:\S+ ){1,6}again|(?:pick|take) (?:\S+ ){1,6}(?:back )?up(?: again)?|resume|revive|restart",
    r"(?:is|are|'s|has|have) (?:back|broken again|happening again|failing again|returned|started again)"
    r"|comes? back|came back",
    r"(?:is|was|are|were)(?: not|n't) (?:over|done|fixed|solved|finished|settled)(?: after all)?",
    r"(?:fails|breaks|broke|hurts|failed|crashes|leaks|drops) again|again (?:since|today|this morning|tonight)",
    r"wieder (?:auf(?:machen|nehmen)|kaputt)|reabrir|rouvrir",
)

DETAILS = phrases(
    r"(?:full|entire|whole|complete) \w+|exact(?:ly)?|precise(?:ly)?|details?|detailed|in full|word for word"
    r"|verbatim|step by step|steps?"
    r"|walk me through|go over",
    r"show me|pull (?:\S+ ){0,8}up|pull up|bring (?:\S+ ){0,8}(?:back|up)|let me (?:see|read|look)|expand|unfold"
    r"|full (?:log|story|list|text)",
    r"once more|one more time|another look|(?<=[,:] )(?:\\S+ ){1,8}(?:please|pls)|remind me|again(?: please"
    r"| pls)?|look (?:\S+ ){0,8}up|read me|recap|repeat|all the|the (?:whole|entire"
    r"|original)|side by side",
    r"what (?:\S+ )?did (?:we|i|you)|how (?:\S+ )?did (?:we|i|you)|which \S+(?: \S+)? did (?:we|i|you)"
    r"|why did (?:we|i|you)|what was|what were"
    r"|how we|what we|where we|who (?:was|did)",
    r"genau|nochmal|otra vez|exactamente|détails?|encore une fois",
    "詳しく|もう一度|正確に",
)

READS = phrases(r"read|re-?read|see|look|show|check|know|copy|compare")
QUESTION_WORD = phrases(r"what|whats|what's|which|who|who's|whose|where|when|why|how|recall|remember|forgot|remind")

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
# As before, and surely not part of another sentence.
LEADS = phrases(
    r"(?:back|return|switch|over|on) to|about|regarding|as for|concerning|news (?:on|from|about)|carry on with"
    r"|continue with|now for"
)
# Whatever stands before it is over for now, so what it names is not where the person goes.
LEAVES = re.compile(
    r"\b(?:pause|leave|forget|park|drop|stop|set aside|put) (?:the |my |our |this |that )?(?P<topic>[^.?!,;:]{1,40})"
)
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
    r"(?:quick |complete(?:ly)? |total(?:ly)? )?(?:change of (?:scene|topic)|side note|detour)|while (?:we're"
    r"|i'm) at it|aside from (?:that|this)"
    r"|leaving (?:that|this|it) aside|oh and|new (?:one|subject|task|job|thing|topic|problem|project)|(?:other"
    r"|another) (?:thing|one|topic)|next:"
    r"|apropos|on a different note|(?:forget|leave|park|drop|put) (?:that|this|it"
    r"|the \w+)(?: aside)? (?:for (?:a|the|now)|a (?:sec|moment|minute))",
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
    "|cut down|get rid of|work on|work through|put together|narrow down|narrow it down|understand what"
    "|go through|go at|get (?:to the bottom|into|started|ready|fit"
    "|better|this|it|my|our|a|an|rid)"
    "|hand over|go from|convert our|fit|install|lay out|arrange|settle|revise|edit|rewrite|set|finance|insure"
    "|cancel|switch|get on top of|get a grip on|get behind"
    "|adopt|teach|practi[sc]e|read up|brush up|catch up on|celebrate|reduce|speed up|automate|document|test"
    "|measure|model"
    "|map|scan|digiti[sz]e|archive|declutter|furnish|pack|invite|contest|object|sue|file|quit|leave my"
    "|change (?:my|our)"
)
DOING = (
    "planning|writing a|organi[sz]ing|writing|drafting|building|debugging|fixing|repairing|designing|preparing"
    "|creating"
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
    r"(?<!.)help(?= ?!)|(?:help|assist) (?:me|us)(?: (?:to|with|out))?|(?:need|want|could use|like) (?:some |your "
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
TROUBLE = phrases(
    r"(?!(?:i|we|you|it|that|this|they) )(?:(?:my|our|the|his|her|their|this|every) )?[\w'-]+ (?:[\w'-]+ ){0,3}?"
    r"(?:keeps?(?: on)? \w+ing|stays? (?:cold|dark|off|on|wet|red|empty|down|stuck|open|shut|slow|black)|hurts?"
    r"|aches?|itches"
    r"|swells|died|broke|fails?|failed|crash(?:es|ed)|hangs?|leaks?|skips?|drops?|squeaks?|chokes?|stinks?"
    r"|times? out|timed out"
    r"|stopped|won't|doesn't|does nothing|don't (?:work|start|open|close|match|load)|isn't (?:working|starting"
    r"|loading)|started"
    r" \w+ing|(?:has|have)n't (?:paid|worked|arrived|answered)|overlap|loses?|smells?|rattles?|flickers?|ringing"
    r"|clicking"
    r"|makes? (?:a |an )?(?:\w+ )?(?:noises?|sound)|takes? (?:too long|hours|ages|\w+ (?:hours|seconds|minutes"
    r"|days))|runs? out"
    r"|is (?:dying|dead|broken|stuck|down|leaking|failing|crashing|slow|clogged|due|swollen|mouldy|missing|gone"
    r"|stolen|a mess"
    r"|a jungle|\d+ years old)|was stolen|went up|gave up|raised|prints|wants \d+|refuses|rejected|ends|expires"
    r"|needs? (?:a|an|new|to be))",
    r"(?:has|have|'ve|is|are|been) (?:been )?(?:\w+ )?(?:hurting|aching|itching|broken|failing|crashing|leaking"
    r"|acting up"
    r"|killing me|swollen|swelling|bothering me|sore|stiff|waking up|throwing \w+|thrown|ringing|rejected"
    r"|refused|denied)",
    r"(?:no|without) (?:hot water|heating|power|internet|signal|sound)|(?:pain|ache|rash|bug|error|trouble|issue"
    r"|leak|mould)"
    r"|stolen|clogged|can't sleep|tired all the time|(?:is|are) due (?:on|by|in|next|tomorrow|friday|monday)"
    r"|wits' end|eating my",
    r"(?:charges|sues?|owes|refuses|rejected|refused|keeping|keeps|denied|cancelled|wants) (?:to |\d+|me|us|my"
    r"|our|the)|fine",
    r"ends? in|expires?|coming up|lost (?:a|my|our)|(?:getting|expecting) (?:a|our|married)|puts? up"
    r"|does nothing|moving (?:into|out"
    r"|in|house)|got the keys"
    r"|was accepted|got accepted",
)
# Somebody who has to do something, or would like to.
LOST = phrases(
    r"no (?:idea|clue)(?: (?:how|where|what|why))?|(?:don't|do not|didn't) know (?:how|where|what|why)"
    r"|haven't (?:got|started|written|found|a)"
    r"|never (?:done|did|made|written) (?:that|this|one|it|before)|(?:completely|totally|am|i'm|are|we're"
    r"|is) (?:lost|stuck"
    r"|overwhelmed|clueless|panicking|fed up)"
    r"|head is empty|blank page|at a loss|any (?:ideas|chance|tips)|ideas\?|what (?:should|could|can) (?:i"
    r"|we) do|must be possible"
    r"|(?:is|can) (?:that|this|he|she|they) (?:even |really )?(?:legal|allowed|do that)|money back|fight|object"
    r"|complain|unacceptable|unfair",
    r"(?:max(?:imum)?|under|up to|at most|around|budget|below|less than)(?: is| of|:)? ?(?:€|\$|£)?\d|(?:since"
    r"|for) (?:about |around |almost |over )?"
    r"(?:\w+ )?(?:weeks|months|days|january|february|march|april|may|june|july|august|september|october|november"
    r"|december|spring|summer"
    r"|autumn|winter|christmas|easter)",
)
# What people make or have to get ready: named without a verb it is begun all the same.
WORKS = phrases(
    r"(?:speech|letter|list|plan|page|presentation|essay|report|exam|thesis|application|proposal|budget"
    r"|invitations?|article|novel|story|song"
    r"|website|app|trip|holiday|vacation|party|talk|workshop|course|menu|portfolio|logo|script|quiz|guide"
    r"|interview|slides|toast|eulogy|cv"
    r"|contract|newsletter|brochure|poster|manual|handbook|schedule|timetable|itinerary|wedding|move|renovation"
    r"|redesign|rollout|migration)"
    r" (?:for|to|about|on|in|at|of)",
)
WISHES = phrases(
    r"(?:i|we)(?:'d|'ve|'m| would| have| am| really| just| also| still| now| finally| urgently"
    r"| actually)* (?:need|want|love"
    r"|like|have|got|must|should|ought|plan|intend|hope|gotta|wanna|supposed|decided|trying|going)(?: us)?(?: to"
    r"|(?<=must)|(?<=should)"
    r"|(?<=gotta)|(?<=wanna)) (?:finally |also |quickly |please )*\w+",
    r"(?:i|we|you|kids|they|she|he)(?:'d| would| really| just| also| still| now)* (?:need|wants?|love|like) (?:a"
    r"|an|some|new|our|my"
    r"|text|rules|\d+)",
    r"(?:(?<=^)|(?<=[.!?:;,] )|(?<=\n)|(?<=and )|(?<=but )|(?<=so ))(?:also |really )?(?:need|want|wanted|have"
    r"|gotta|must|should|would like"
    r"|time|wanna|ought)(?: to|(?<=must)|(?<=should)|(?<=gotta)|(?<=wanna)) \w+",
    r"(?:(?<=^)|(?<=[.!?:;,] )|(?<=\n))(?:also )?(?:need|want|wanted|looking for|in need of) (?:a|an|some|new"
    r"|help|text|ideas|\d+)",
    r"(?:won't|will not|not going to|don't want to|can't|refuse to) (?:accept|leave|put up with|stand|take|let)"
    r"|(?:can't|could) (?:use|do with) (?:a|some)",
    r"(?:my|our) (?:\w+ ){1,4}(?:needs?|wants?|is due|are due)|how (?:should|can|do) (?:i|we) (?:go about|fight"
    r"|get|deal)"
    r"|(?:i'm|i am|we're) (?:in charge of|responsible for|preparing|expected to)|let's (?:do|have a go at|catch"
    r"|get) (?:my|our|it)"
    r"|(?:next|first) (?:thing|up|item) on (?:my|our|the) list|new project",
)
# It will take more than one reply.
LASTING = phrases(
    r"over the (?:next|coming) (?:\w+ )?(?:days|weeks|months)|in the (?:next|coming) (?:\w+ )?(?:days|weeks"
    r"|months)|bit by bit|step by step"
    r"|together with you|with you|systematically|from scratch|budget|deadline|by (?:monday|tuesday|wednesday|thursday"
    r"|friday|saturday|sunday|may|march"
    r"|next \w+|the end of)|in (?:\w+ )?(?:days|weeks|months)|this week(?:end)?|next (?:week|month|year)|until \w+day"
    r"|(?:in|before|by|for) (?:january|february|march|april|may|june|july|august|september|october|november"
    r"|december|spring|summer|autumn"
    r"|winter|christmas|easter)|where (?:\w+ ){0,3}do (?:we|i) (?:start|begin)|what do (?:i|we) do (?:first|now)"
    r"|what now|what's possible"
    r"|go about|keep track|find out|to the bottom of|track (?:\S+ )?down|hunt (?:\S+ )?down|something about"
    r"|won't accept"
    r"|(?:don't|not) (?:want to )?(?:leave|accept) (?:it|that)|there's a (?:ton|lot)|get through|on (?:monday"
    r"|tuesday|wednesday|thursday|friday"
    r"|saturday|sunday)|for (?:tuesday|monday|wednesday|thursday|friday)"
)
SMALL_TALK = phrases(
    r"haha+|lol|hehe|rofl|:-?\)|(?:the|nice|lovely|bad) weather(?! forecast)|raining|(?:so|too) (?:hot"
    r"|cold) (?:today|here)|sunny|typical"
    r"|monday again|what a (?:day|week|night)"
    r"|(?:train|tram|bus|tube)(?: was| is)? late|my (?:cat|dog) (?:says|walked|is sitting)|(?:so"
    r"|really) tired(?: today)?|good night"
    r"|happy (?:new year|birthday|easter)|merry christmas|how are you|just (?:got back|had)|watched|our team won"
)
SAME_THING = phrases(
    r"(?:to|you|we|i|let's|can|please) (?:\w+ )?(?!do |get |say |think )\w+ (?:it|this|them|the (?:\w+ )?(?:one"
    r"|part|paragraph|first|second|last|other))",
    r"too|as well|either",
    r"it (?:should|must|has to|needs to|can|could)|the (?:second|last|first|other|next) (?:one|part|\w+)",
)
# Small things, done in one reply.
ONE_OFF = phrases(
    r"joke|pun|limerick|haiku|poem|rhyme|fun fact|riddle me|trivia|convert|in (?:cm|km|kg|lbs?|miles|celsius"
    r"|fahrenheit|inches|euros?|dollars?)",
    r"how (?:do|would) (?:you|i|we) (?:say|spell|pronounce|write)|what does \S+ mean|synonym|capital of"
    r"|what time|what day|how many \w+ (?:in|are)",
    r"just (?:curious|wondering|asking)|(?:need|want|have) (?:a |some |to )?(?:coffee|tea|break|nap|sleep|vent"
    r"|holiday|drink|beer|rest|lunch|go|leave|know|thank|say|ask|admit|eat)",
    r"\d+ ?(?:[-+*/x×%^]|plus|minus|times|percent of) ?\d+|how (?:tall|old|far|big|high|long) (?:is|was|are)",
)

# Of something that was said or done some time ago.
PAST = phrases(
    r"(?:got|have|had) (?:it|that|them|this) (?:somewhere|still|lying)|still (?:have|got|know|there)"
    r"|(?<!.)(?:so |and |hey |oh )?(?:that|those) \w+",
    r"was (?:it|that|he|she)|did (?:it|that|he|she|they)|it (?:was|went|took)|been through|in the end"
    r"|recommended|(?:told|said|promised) "
    r"(?:us|me)|that \w+ (?:with|for|about|from|that|where|we|you)|the \w+(?: \w+)? thing|(?:can't|cannot|don't"
    r"|do not) (?:quite )?recall",
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
# Said outright.
RECALLS = phrases(
    r"(?:did|had|have|didn't|hadn't|haven't|were) (?:the (?:two|both) of us|we|you)|you (?:once )?(?:told|said"
    r"|recommended|suggested|gave|sent"
    r"|mentioned|helped|explained|showed)|remember|remind|recall|again\?|back then|last time|once before|dig"
    r"|the two of us",
    r"(?:what|whats|what's|which|who|where|how)\b[^.?!]*\bagain|(?:what|which|who|where|when"
    r"|how)\b[^.?!]{0,40}\b(?:was|were|did)"
    r"|(?:we|you) once",
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
