"""What ends a piece of work, what only leaves it, and what does neither."""

from __future__ import annotations

import pytest

from efforts.domain.effort.resolution import resolving_sentences, sounds_paused, sounds_resolved

ENDS = """
it works now
Done, the webhook works now
that's done, now let's plan the offsite
finished!
submitted it just now, 498 words
That answers my question, thanks
I got what I needed
we can close this, I think
you know what, forget it
we don't need to buy anything any more
the tent is no longer needed
the tax return is finally sent
I've sent it off this morning
we finished the essay last night
Ah, that did the trick
the problem is gone
handed it in an hour ago
close auth-bug
problem solved
it's booked, we fly tomorrow
can you close this one? it works
the door is settled by the way, it came this morning
erledigt, danke
listo, gracias
C'est réglé, merci
解決しました
""".strip().splitlines()
DOES_NOT_END = """
is it done?
is it done with that or do they want page 3 too
almost done, only the footnotes are left
when this is done we can go
if it works now we can close this
once it's fixed I'll tell you
it is not fixed
it's not working now
hasn't been solved
that should be fixed but it still crashes
it's done, but the logo is wrong
hold on, don't finish it yet
not done yet
what's done so far?
the first part is done
the login part is done, next the logout
The page looks right now. Next, the footer
I want to get it sorted before the frost
it will be done tomorrow
we need to get this done
I hope it works now
Tuesday works
the timeout is fixed at 30 seconds
it is paid, which form comes after that?
he sent me the file
noch nicht fertig
ist das erledigt?
まだ終わりました
""".strip().splitlines()
PAUSES = """
let's pause
pause
hold on
wait a second
brb
lunch first
I'll finish it tomorrow
let's switch to the vacation
actually let's work on the tax return instead
park this for now
that's all for today
done for today
let's leave it there for now
gotta run
put it on hold
something else: my knee hurts
machen wir morgen weiter
また明日
""".strip().splitlines()


@pytest.mark.parametrize("text", ENDS)
def test_these_words_end_the_work_and_are_no_pause(text):
    assert sounds_resolved(text)
    assert not sounds_paused(text)


@pytest.mark.parametrize("text", [*DOES_NOT_END, *PAUSES, "", "?!", "the 2019 one"])
def test_these_words_do_not_end_it(text):
    assert not sounds_resolved(text)


@pytest.mark.parametrize("text", PAUSES)
def test_these_words_leave_it(text):
    assert sounds_paused(text)


def test_the_sentence_that_ends_it_is_told_from_the_others():
    text = "The tooth is settled. So for the script, where do I put the images?"
    assert resolving_sentences(text) == ("the tooth is settled.",)
