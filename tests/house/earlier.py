"""What was said in other words before: what is stored keeps the words that it was given, and pages know them."""

from __future__ import annotations

# Of what a reader doubts, up to the sixth version of the rules; the last of them was added in the seventh.
DOUBTS = (
    "the checker doubts claim {claim}",
    "the checker doubts claim {claim}: {why}",
    "the checker doubts claim {claim}; {sentence} says otherwise",
    "the checker doubts claim {claim}; {sentence} says otherwise: {why}",
    "the checker doubts claim {claim} in “{phrase}”",
    "the checker doubts claim {claim} in “{phrase}”: {why}",
    "the checker doubts claim {claim} in “{phrase}”; {sentence} says otherwise",
    "the checker doubts claim {claim} in “{phrase}”; {sentence} says otherwise: {why}",
    "the checker doubts claim {claim}, at “{phrase}”",
    "{doubted}; it names no sentence that says otherwise, so this may only be missing from the log",
    "{doubted}; it names no sentence that says otherwise, so this may only be missing from the log: {why}",
)
# What a person set aside then has kept even the first of its words.
CALLED_WRONG = (
    "claim {claim} is wrong",
    "claim {claim} is wrong: {why}",
    "claim {claim} is wrong; {sentence} says otherwise",
    "claim {claim} is wrong; {sentence} says otherwise: {why}",
    "claim {claim} is wrong in “{phrase}”",
    "claim {claim} is wrong in “{phrase}”: {why}",
    "claim {claim} is wrong in “{phrase}”; {sentence} says otherwise",
    "claim {claim} is wrong in “{phrase}”; {sentence} says otherwise: {why}",
)
RETENTION = (
    "Nothing to keep: no decision, open work or rule was listed for these turns.",
    "Not judged: nobody has listed what must not be lost; {kept} of {most} on your list are kept.",
    "{number} of {of} on your list",
    "Not judged: nobody has listed what must not be lost; of your list {kept} of {wanted} are kept.",
    "Lost: {missing}. Kept: {told}.",
    "Kept: {told}; inventory not proven.",
    "{number} open",
    "your list {kept} of {wanted}",
    "the inventory of {by} {kept} of {wanted}",
)
# Of an effort that faded: what is told of it between the turns is kept with it.
FADED = ("Excerpts stand for {effort} (not mentioned for {turns} turns)",)
# Of a turn that failed.
UNREACHED = ("No model answers at {base_url} ({error}).",)
# A draft that waits keeps why with it.
CHECKS = (
    "The check by {model} proves nothing. {why}",
    "It found {missed} planted error to be true.",
    "It found {missed} planted errors to be true.",
    "The log has changed meanwhile.",
)
SOURCES = (
    "1 claim traced to their sentences, read by {by}.",
    "{number} claims traced to their sentences, read by {by}.",
    "1 claim traced to their sentences; only sentences and values, as nobody has read them against the log.",
    "{number} claims traced to their sentences; only sentences and values, as nobody has read them against the log.",
)
SIZES = ("{tokens} tokens for {whole}; {asked}, within the caps.", "{tokens} tokens for {whole}; no model was asked.")
# What a tool answered is kept with its turn.
TOOLS = ("{path} has changed since it was indexed. Ask the user to index the folder again.",)
