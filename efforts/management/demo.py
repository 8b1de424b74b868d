"""A working week with efforts: concluded, open, expanded, and talk that belongs to none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth import get_user_model
from django.db import transaction

from efforts import actions
from efforts.log import events
from efforts.management.scenes import Exchange, concludes, expands, opens, play, switches
from efforts.models import Event, Session

if TYPE_CHECKING:
    from django.contrib.auth.models import User

TITLE = "Demo: a week with several pieces of work"
KIND = "session.example"

SCRIPT = (
    Exchange(user="Good morning! Anything I should know?", reply="Good morning. Nothing is open yet. What is first?"),
    Exchange(
        user="Customers say that the CSV export cuts off after 10,000 rows. Let's find out why.",
        reply="I started an effort for it. The usual suspects are a limit in the query and a timeout of the proxy. "
        "Does the file end in the middle of a line?",
        acts=(opens("CSV export"),),
    ),
    Exchange(
        user="No, it ends cleanly after row 10,000, with every customer.",
        reply="Then it is a limit and no timeout. Look for a page size: `grep -rn 10_000 exports/` should show it.",
    ),
    Exchange(
        user="Found it: exports/query.py has LIMIT = 10_000 from the days when we held all rows in memory.",
        reply="Replace the limit by a server-side cursor and write the file in pieces of 2,000 rows; memory then stays "
        "flat whatever the size.\n\n```python\nfor rows in cursor.itersize(2_000):\n    writer.writerows(rows)\n```",
    ),
    Exchange(
        user="I changed it to a cursor with 2,000 rows. An export of 180,000 rows took 14 seconds and 90 MB of memory.",
        reply="180,000 rows in 14 seconds is fine. Still open: a note in the changelog for the customers who asked.",
    ),
    Exchange(
        user="Deployed to production, and Ines confirmed that her file is complete. The CSV export is fixed.",
        reply="Concluded: the export streams from a cursor, and Ines has her complete file.",
        acts=(concludes(),),
    ),
    Exchange(user="How many working days are there in March, by the way?", reply="23 in 2027, holidays not counted."),
    Exchange(
        user="My lower back has been hurting since I moved the desk. What can I do about it?",
        reply="I opened an effort for it. Is it worse when you sit, or when you get up? Numbness in a leg would be a "
        "reason to see a doctor at once.",
        acts=(opens("Back pain"),),
    ),
    Exchange(
        user="Only after an hour of sitting, no numbness. The new desk is 76 cm high and I am 1.68 m tall.",
        reply="76 cm is high for 1.68 m: about 67 cm would suit you. Lower the desk or raise chair and feet, and stand "
        "up for two minutes every 30 minutes.",
    ),
    Exchange(
        user="The desk can't be lowered, so I ordered a footrest and set the chair to 52 cm.",
        reply="Good: 52 cm with a footrest of 9 cm gives the same angle. Give it a week.",
    ),
    Exchange(
        user="Next, the budget for the spring campaign. Help me to split 24,000 euros over three channels.",
        reply="An effort for it is open. What did each channel bring last year, and is anything fixed already?",
        acts=(opens("Campaign budget"),),
    ),
    Exchange(
        user="Last year: search 310 orders for 9,000, newsletter 120 orders for 1,500, fairs 60 orders for 11,000.",
        reply="That is 29 euros an order by search, 12.50 by newsletter and 183 at fairs. The newsletter is cheapest, "
        "but a list of 8,000 readers does not grow with money alone.",
    ),
    Exchange(
        user="One fair is fixed, in Leipzig, for 6,000. The rest is free.",
        reply="Then: Leipzig 6,000, newsletter 4,000 with a prize draw to grow the list, search 14,000. Expect about "
        "480 orders from search and 200 from the newsletter.",
    ),
    Exchange(
        user="Back to my back for a moment: five days with the footrest, and it hardly hurts any more.",
        reply="Five days without much pain: the height was the cause. Keep standing up every 30 minutes.",
        acts=(switches("back-pain"),),
    ),
    Exchange(
        user="That solved it, thank you. No more pain today.",
        reply="Glad to hear it. I concluded the effort; the campaign budget is active again.",
        acts=(concludes(),),
    ),
    Exchange(
        user="We decided: Leipzig 6,000, newsletter 4,000, search 13,000, and 1,000 in reserve until June.",
        reply="Noted: 6,000, 4,000, 13,000 and 1,000 in reserve, together 24,000. Who signs it?",
    ),
    Exchange(
        user="Marta signed it this morning, so the campaign budget is settled.",
        reply="Concluded: 24,000 euros, signed by Marta.",
        acts=(concludes(),),
    ),
    Exchange(
        user="What is the difference between gross and net margin again?",
        reply="Gross margin leaves out what it costs to run the firm; net margin is what remains after everything.",
    ),
    Exchange(
        user="I need to move our mail to the new provider before 1 June. Where do we begin?",
        reply="An effort for the move is open. First the list: how many mailboxes, how much mail, which domains?",
        acts=(opens("Mail migration"),),
    ),
    Exchange(
        user="41 mailboxes, 310 GB, two domains: the main one and the one for newsletters.",
        reply="310 GB over a line of 200 Mbit/s is about four hours of pure copying; plan two nights. Lower the TTL of "
        "the MX records to 300 seconds two days before.",
    ),
    Exchange(
        user="The TTL is at 300 now. Which mailboxes should go first?",
        reply="Three that can bear trouble: yours, info@ and one of the sales team. Next: a test of calendar "
        "invitations between old and new, because that is what breaks.",
    ),
    Exchange(
        user="The three are moved. Mail works, but invitations from the old server arrive as plain text.",
        reply="The old server sends them without `method=REQUEST`. The switch is called “legacy calendar format”; turn "
        "it off for the time of the move.",
    ),
    Exchange(
        user="Something else: help me plan the summer party for 45 people, best outdoors.",
        reply="I opened an effort for the party; the mail migration stays open. Which month, and is there a budget?",
        acts=(opens("Summer party"),),
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
    ),
    Exchange(
        user="What exactly did we change for the CSV export? Finance asks about their file.",
        reply="Its log is expanded: the limit of 10,000 rows in exports/query.py gave way to a cursor that writes "
        "2,000 rows at a time; 180,000 rows took 14 seconds.",
        acts=(expands("csv-export"),),
    ),
    Exchange(
        user="Thanks, that is what they wanted. Let's go back to the mail migration.",
        reply="The mail migration is active. Three of 41 mailboxes are moved; last we talked about the calendar.",
        acts=(switches("mail-migration"),),
    ),
    Exchange(
        user="With the legacy format off, invitations arrive as they should. The other 38 go on Tuesday and Wednesday.",
        reply="19 a night then. Remaining: the MX records on Thursday; the old server stays up for 14 days.",
    ),
    Exchange(
        user="Who tells the staff that they must sign in anew on their phones, and that the CSV export works?",
        reply="Nobody yet. I would send it on Monday at noon, with the two settings that change: server name and port.",
    ),
    Exchange(
        user="I send it on Monday. Remind me to keep the old passwords valid until Thursday.",
        reply="Noted for this effort: old passwords valid until Thursday, your message on Monday at noon.",
    ),
)


def open_demo(owner: User) -> tuple[Session, bool]:
    """The owner's demo conversation, and whether it was made just now."""
    with transaction.atomic():
        # Two first calls at once would make two.
        get_user_model().objects.select_for_update().get(pk=owner.pk)
        if found := find_demo(owner):
            return found, False
        session = actions.create_session(owner, title=TITLE)
        play(session, SCRIPT)
        events.append(session.pk, KIND, {"turns": len(SCRIPT)}, actor=owner)
    return session, True


def find_demo(owner: User) -> Session | None:
    # By how it was made: it may have another title by now. The example project is marked as one.
    filled = Event.objects.filter(session__owner=owner, session__is_example=False, kind=KIND).select_related("session")
    first = filled.order_by("id").first()
    return first.session if first else None
