"""What is said in the example, what its model does, and what the person does between the turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from efforts import actions
from efforts.context.planning import main_branch
from efforts.domain.effort.states import EntryKind, HoldScope
from efforts.log.timelines import branch_turns
from efforts.models import ContextPointer, Message, Session
from efforts.standins import compacting

TITLE = "Example: a week with several pieces of work"

Call = tuple[str, dict[str, Any]]
Act = Callable[[Session], object]


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """What the person says, what is answered, the tools that the model calls before it answers, and what the person
    does afterwards: `then` before, and `later` when what it concluded has been drafted."""

    user: str
    reply: str
    calls: tuple[Call, ...] = ()
    then: tuple[Act, ...] = ()
    later: tuple[Act, ...] = ()


# The model's


def opens(name: str) -> Call:
    return "open_effort", {"name": name}


def closes(said: str = "", id: str = "") -> Call:
    """Without the person's words the model concludes it on its own."""
    return "close_effort", {"id": id, "said": said}


def switches(id: str) -> Call:
    return "switch_effort", {"id": id}


def expands(id: str) -> Call:
    return "expand_effort", {"id": id, "what": "raw"}


def records(kind: str, text: str) -> Call:
    return "record", {"kind": kind, "text": text}


# The person's


def notes(kind: EntryKind, words: str) -> Act:
    def act(session: Session) -> object:
        return actions.note_entry(place(session), said(session, words).pk, kind, words=words)

    return act


def pins(words: str) -> Act:
    """The turn in which this was said, for good."""

    def act(session: Session) -> object:
        return actions.pin_turn(place(session), said(session, words).turn.number, HoldScope.ALWAYS)

    return act


def rolls_back(slug: str) -> Act:
    def act(session: Session) -> object:
        branch = main_branch(session)
        standing = ContextPointer.objects.filter(branch=branch, effort__slug=slug, digest=False).last()
        # Where tokens are counted otherwise a draft may not pay, and then none stands.
        return standing and compacting.registered().roll_back(str(standing.artifact), session.owner, branch)

    return act


def place(session: Session) -> actions.Place:
    return actions.here(session, actor=session.owner)


def said(session: Session, words: str) -> Message:
    turns = branch_turns(main_branch(session))
    return Message.objects.filter(turn__in=turns, role=Message.Role.USER, text__contains=words).latest("pk")


WEEK = (
    Exchange(user="Good morning! Anything I should know?", reply="Good morning. Nothing is open yet. What is first?"),
    # Summarised, and opened again at the end of the week.
    Exchange(
        user="Customers say that the CSV export cuts off after 10,000 rows. Let's find out why.",
        reply="I started an effort for it. The usual suspects are a limit in the query and a timeout of the proxy. "
        "Does the file end in the middle of a line? A timeout cuts wherever it happens to be, a limit cuts between two "
        "rows. It would also help to know whether every customer loses the same rows. "
        "If they do, the cut is in our code and not on the way; if the number differs from one download to the next, "
        "I would look at the load balancer, at the worker that writes the file and at the browser of the customer, in "
        "this order.",
        calls=(opens("CSV export"),),
    ),
    Exchange(
        user="No, it ends cleanly after row 10,000, with every customer. The export of last night shows the same.",
        reply="Then it is a limit and no timeout. Look for a page size: `grep -rn 10_000 exports/` should show it. If "
        "the number stands in more than one place, tell me, because then somebody has worked around it before. "
        "It is worth a look at the tests as well: a test that makes an export of five rows passes whatever the limit "
        "is, and nobody ever sees that the file of a large customer is not whole, because it opens without any "
        "complaint and ends with a complete line.",
    ),
    Exchange(
        user="Found it: exports/query.py has LIMIT = 10_000 from the days when we held all rows in memory.",
        reply="Replace the limit by a server-side cursor and write the file in pieces of 2,000 rows; memory then stays "
        "flat whatever the size.\n\n```python\nfor rows in cursor.itersize(2_000):\n    writer.writerows(rows)\n```\n\n"
        "The header line is written once, before the loop, and the file is moved to its place when it is complete, so "
        "that nobody downloads half of it. "
        "A cursor keeps its transaction open for as long as the export takes, so run it on the replica and not on the "
        "main database, where a long transaction holds up the clean-up of old rows and makes everything else slower "
        "after a while.",
    ),
    Exchange(
        user="We decided to use a cursor with 2,000 rows. An export of 180,000 rows took 14 seconds and 90 MB of "
        "memory.",
        reply="180,000 rows in 14 seconds is fine, and 90 MB leaves room for three exports at once on the small "
        "machine. "
        "The old limit is gone from the query, and nothing else in the code refers to it. "
        "I would still write a test with more rows than the old limit, small ones so that it stays quick, and compare "
        "the number of lines with the number of rows, because that is the one thing that went wrong here without "
        "anybody noticing for a year.",
    ),
    Exchange(
        user="Deployed to production, and Ines confirmed that her file is complete. The CSV export is fixed.",
        reply="Concluded: the export streams from a cursor, and Ines has her complete file.",
        calls=(closes("The CSV export is fixed."),),
    ),
    Exchange(user="How many working days are there in March, by the way?", reply="23 in 2027, holidays not counted."),
    # Short, quoted, and gone from the prompt by the end of the week.
    Exchange(
        user="My lower back has been hurting since I moved the desk. What can I do about it?",
        reply="I opened an effort for it. Is it worse when you sit, or when you get up? Numbness in a leg would be a "
        "reason to see a doctor at once.",
        calls=(opens("Back pain"),),
    ),
    Exchange(
        user="Only after an hour of sitting, no numbness. The new desk is 76 cm high and I am 1.68 m tall.",
        reply="76 cm is high for 1.68 m: about 67 cm would suit you. Lower the desk or raise chair and feet, and stand "
        "up for two minutes every 30 minutes.",
    ),
    Exchange(
        user="The footrest and a chair at 52 cm solved it, thank you. No more pain today.",
        reply="Glad to hear it. I concluded the effort.",
        calls=(closes("solved it, thank you. No more pain today."),),
    ),
    # Its summary fails: a claim is wrong.
    Exchange(
        user="Next, the budget for the spring campaign. Help me to split 24,000 euros over three channels.",
        reply="An effort for it is open. What did each channel bring last year, and is anything fixed already? With "
        "orders and costs of each I can say what one order costs, and that is the figure to compare. If a channel is "
        "booked already, take its sum away first and split only what is left. "
        "It also matters what a new customer is worth to you after the first order: where people come back without "
        "being asked, an order may cost more than it brings, and a channel that looks dear in its first year can be "
        "the cheapest one in its third.",
        calls=(opens("Campaign budget"),),
    ),
    Exchange(
        user="Last year: search 310 orders for 9,000, newsletter 120 orders for 1,500, fairs 60 orders for 11,000.",
        reply="That is 29 euros an order by search, 12.50 by newsletter and 183 at fairs. The newsletter is cheapest, "
        "but a list of 8,000 readers does not grow with money alone. Fairs are dear by this figure; they may still pay "
        "where an order is larger than elsewhere, or where people come back without being asked. "
        "A word about the limits of such figures: they are averages, and the next euro never does as well as the last "
        "one did, because the people who are easiest to reach have been reached already. I would expect search to "
        "cost more for each order as it grows.",
    ),
    Exchange(
        user="One fair is fixed, in Leipzig, for 6,000. The rest is free. Orders at fairs are no larger than others.",
        reply="Then: Leipzig 6,000, newsletter 4,000 with a prize draw to grow the list, search 14,000. Expect about "
        "480 orders from search and 200 from the newsletter. The second fair of last year would have to bring 200 "
        "orders to be as good as search, and it brought 25. "
        "With search I assume that an order costs about as much as last year, although there will be more of them; if "
        "it gets dearer by a tenth in the first month, stop there and give what is left to the newsletter, where a "
        "good prize draw has never failed yet.",
    ),
    Exchange(
        user="We decided: Leipzig 6,000, newsletter 4,000, search 13,000, and 1,000 in reserve until June.",
        reply="Noted: 6,000, 4,000, 13,000 and 1,000 in reserve, together 24,000. The reserve is for the channel that "
        "does best by the end of May. Who signs it? "
        "Look at the orders of each channel once a week and not every day, since single days say little and tempt "
        "people to turn knobs, and write down beforehand which figure would make you move the reserve, so that nobody "
        "has to argue about it in June.",
    ),
    Exchange(
        user="Marta signed it this morning, so the campaign budget is settled.",
        reply="Concluded: 24,000 euros, signed by Marta.",
        calls=(closes("so the campaign budget is settled."),),
    ),
    Exchange(
        user="What is the difference between gross and net margin again?",
        reply="Gross margin leaves out what it costs to run the firm; net margin is what remains after everything.",
    ),
    # Its summary stood, and the person took it back.
    Exchange(
        user="Users are logged out after about an hour, always with a 401. Can you see why from this?\n\n"
        "    access_token: lifetime 3600 s\n    refresh_token: lifetime 30 d, requested: never",
        reply="I opened an effort for it. The access token lives 3,600 seconds and nothing asks for a new one before "
        "it "
        "expires, so the first call after an hour gets a 401. Request a refresh token at sign-in, and renew the access "
        "token when fewer than five minutes are left. A single renewal must be under way at a time, or two tabs of one "
        "person throw each other out. "
        "That last case is easy to miss, because it never shows with one tab: both of them see that the token is "
        "nearly over, both send the same refresh token, the server takes the first and refuses the second, and the "
        "second tab believes that its session has been stolen. "
        "So the fix has two halves: ask for a refresh token with every sign-in, which is one word more in the scope "
        "of the request, and let the tabs of one browser agree on who renews. The second half is the one to test with "
        "care, with two windows side by side and a lifetime that you have set to one minute.",
        calls=(opens("Login errors"),),
    ),
    Exchange(
        user="We decided to renew them automatically, no button. Two tabs share one renewal through local storage.",
        reply="Good. Then no page has to know about tokens at all: the client renews before it sends, and a page that "
        "was asleep overnight renews with its first call. If the renewal is refused, the person signs in again and "
        "comes back to the page where they were, with what they had typed. "
        "Keep what was typed in the tab and not on the server, where drafts of people who never come back would "
        "gather, and leave out the fields for passwords and for cards. A form that was half filled in when the "
        "session ended is the thing that people complain about most, more than about signing in.",
    ),
    Exchange(
        user="A revoked token ends at the sign-in page now, and what was typed is still there afterwards.",
        reply="That was the case that worried me. The client gives up after the first refusal instead of trying again, "
        "so the server sees one request and not a storm of them. The log shows the reason of each refusal, without the "
        "token itself. "
        "I would watch the number of refusals for a week, since a client that is refused and gives up quietly looks "
        "from outside like a person who has gone home, and only the reasons in the log tell the two apart. The usual "
        "ones are a revoked token, a changed password and a clock that is wrong. "
        "A clock that is ten minutes behind renews too late every time, and its owner tells you that logins are "
        "broken on one machine only. Take the lifetime that the server names and count it from the moment at which "
        "the token came, instead of comparing two clocks. Sessions that were open before the change keep their old "
        "tokens, so for a day some people are still thrown out once; tell the support team before they ask.",
    ),
    Exchange(
        user="Logins have been stable since Tuesday, the login errors are solved.",
        reply="Concluded: refresh tokens were never requested; now they are, and they are renewed five minutes early.",
        calls=(closes("the login errors are solved."),),
        later=(rolls_back("login-errors"),),
    ),
    # The model concludes it on its own: its summary waits for the person.
    Exchange(
        user="The payment webhook times out after 30 seconds, but only for the first event in the morning.",
        reply="I opened an effort for it. That smells of a cold connection: the first call of the day pays for setting "
        "it up. What does the handler do before it answers, and how long does the gateway wait? "
        "If the connection is kept open for the rest of the day and closed at night when nothing happens, the first "
        "event of the morning is the one that pays, which fits what you see. A timeout on their side does not mean "
        "that the work was not done on ours, so look for events that were posted twice.",
        calls=(opens("Payment webhook"),),
    ),
    Exchange(
        user="It parses the event, posts it to the ledger and then returns 202. Never touch the production database by "
        "hand.\n\n```python\nasync def webhook(request):\n    event = parse(request)\n"
        "    await ledger.post(event)  # 28 s when cold\n    return Response(status=202)\n```",
        reply="The gateway waits for your reply while you wait for the ledger. Store the event, answer at once, and "
        "post "
        "to the ledger in a job. Events are stored by their id, so a second delivery of the same event is ignored. "
        "Your "
        "rule is noted: repairs go through the replay command. "
        "The job can take as long as it likes, because nobody waits for it any more, and when the ledger is slow or "
        "away the events gather in the table instead of getting lost on the way. Answer with 202 only after the event "
        "is stored, or a crash between the two loses it.",
        calls=(records("constraint", "Never touch the production database by hand."),),
    ),
    Exchange(
        user="We decided on a job queue with a retry limit of 3. Between the tries we wait 10, 60 and 300 seconds.",
        reply="Then an event that fails three times goes to the dead-letter list. Nobody looks at that list yet. I "
        "would "
        "give it to whoever is on call, with an alert when it holds more than five events. "
        "The replay command reads the list, tries each event once more and takes it off the list only when the ledger "
        "has confirmed it, so it can be started as often as anybody likes. What should not happen is that the list "
        "grows for a week because everybody believes that somebody else looks at it.",
        then=(
            notes(EntryKind.DECISION, "We decided on a job queue with a retry limit of 3."),
            pins("retry limit of 3"),
        ),
    ),
    Exchange(
        user="The on-call person gets the list: Priya this week, Tom next week. The load test ran: 500 events in 41 "
        "seconds, no duplicates, two retries.",
        reply="Two retries in 500 is well within the limit, and no duplicates means that storing by event id works. "
        "Staging had the ledger slowed to 28 s, which is the case that failed in the morning. "
        "I would keep this test and run it before every release, with the same slow ledger, because a queue that "
        "keeps up on an ordinary day says nothing about the first minutes after a night in which the ledger was away "
        "and everything comes at once.",
    ),
    Exchange(
        user="We still need an alert when the dead-letter list grows. Otherwise it runs as it should.",
        reply="I concluded the effort, since all that is left is the alert. Its summary waits for you.",
        calls=(closes(),),
        then=(notes(EntryKind.OPEN_WORK, "We still need an alert when the dead-letter list grows."),),
    ),
    # Open to the end.
    Exchange(
        user="I need to move our mail to the new provider before 1 June. Where do we begin?",
        reply="An effort for the move is open. First the list: how many mailboxes, how much mail, which domains?",
        calls=(opens("Mail migration"),),
    ),
    Exchange(
        user="41 mailboxes, 310 GB, two domains: the main one and the one for newsletters.",
        reply="310 GB over a line of 200 Mbit/s is about four hours of pure copying; plan two nights. Lower the TTL of "
        "the MX records to 300 seconds two days before.",
    ),
    Exchange(
        user="The three are moved, yours truly first. Mail works, but invitations from the old server arrive as text.",
        reply="The old server sends them without `method=REQUEST`. The switch is called “legacy calendar format”; turn "
        "it off for the time of the move.",
    ),
    Exchange(
        user="Something else: help me plan the summer party for 45 people, best outdoors.",
        reply="I opened an effort for the party; the mail migration stays open. Which month, and is there a budget?",
        calls=(opens("Summer party"),),
    ),
    Exchange(
        user="Early July, 2,500 euros, and half of them don't eat meat.",
        reply="2,500 euros for 45 people is 55 each: enough for a garden with a caterer. Ask for a half vegetarian "
        "buffet, and for a roof within reach.",
    ),
    Exchange(
        user="The garden of the boat club is free on 3 July for 400 euros. They want an answer by Friday.",
        reply="400 leaves 2,100 for food and drinks, 46 a head. I would take it. Still open: an answer to the boat "
        "club by Friday, and two offers from caterers.",
        calls=(records("open_work", "They want an answer by Friday."),),
    ),
    Exchange(
        user="What exactly did we change for the CSV export? Finance asks about their file.",
        reply="The limit of 10,000 rows in exports/query.py gave way to a cursor that writes 2,000 rows at a time; "
        "180,000 rows took 14 seconds.",
        calls=(expands("csv-export"),),
    ),
    Exchange(
        user="Thanks, that is what they wanted. Let's go back to the mail migration.",
        reply="The mail migration is active. Three of 41 mailboxes are moved; last we talked about the calendar.",
        calls=(switches("mail-migration"),),
    ),
    Exchange(
        user="With the legacy format off, invitations arrive as they should. We agreed that the other 38 go on Tuesday "
        "and Wednesday. Who tells the staff, and that the CSV export works?",
        reply="Nobody yet. I would send it on Monday at noon, with the two settings that change: server name and port. "
        "19 mailboxes a night then, the MX records on Thursday; the old server stays up for 14 days.",
    ),
)
# Said in other words, which begins a branch.
OTHERWISE_AT = 14
OTHERWISE = Exchange(
    user="What if we gave the newsletter 6,000 and search 11,000, with the same reserve?",
    reply="Then Leipzig keeps 6,000 and the reserve 1,000, together 24,000 again. I would expect about 380 orders from "
    "search and 280 from the newsletter: a little fewer for certain, and more later if the list grows.",
)
# The built-in engine has to find the answers to these in there, in words that they share.
PROMPTS = (
    "What was decided about the retry limit?",
    "Why were users logged out after an hour?",
    "How much of the campaign budget goes to Leipzig?",
)
