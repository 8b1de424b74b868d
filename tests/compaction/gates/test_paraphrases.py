"""What is said again in other words, truly: no gate of words refuses it."""

from __future__ import annotations

from typing import Any

import pytest

from compaction.domain.verdicts import Gate, Judged
from tests.compaction.gates import cases
from tests.compaction.gates.broken import after
from tests.compaction.gates.cases import draft_with, judged


def telling(text: str, *quotes: str, section: str = "decision", status: str = "accepted", **changes: Any) -> Judged:
    """An item that quotes messages of the user, each whole."""
    said = [(20 + number, "user", quote) for number, quote in enumerate(quotes)]
    item = {
        "id": "x",
        "section": section,
        "status": status,
        "actor": "user",
        "text": text,
        "quotes": [{"message": message, "quote": quote} for message, _, quote in said],
    }
    return judged(draft_with({**item, **changes}), source=after(*said))


def refused(given: Judged) -> list[tuple[Gate, str, str]]:
    return [
        (gate, failure.rule, failure.text)
        for gate in (Gate.TRACEABILITY, Gate.CONTRADICTION)
        for failure in cases.verdict(given, gate).failures
    ]


DENIED_OTHERWISE = [
    ("Remember to renew the certificate.", "Don't forget to renew the certificate in May."),
    ("The certificate must not be forgotten in May.", "Remember the certificate in May, please."),
    ("The export runs without a lock.", "The export takes no lock."),
    ("The export takes no lock.", "The export goes ahead with no need for a lock."),
    ("The export no longer takes a lock.", "We stopped taking a lock in the export."),
    ("No lock in the export any more.", "The lock goes out of the export from today."),
    ("Carpet is not laid in the hall.", "The carpet stays out of the hall, whatever mother says."),
    ("The invoices are sent by post, not by mail.", "Invoices go by post, mail is off the table."),
    ("Mail is not used for invoices.", "Invoices only go by post, please."),
    ("The garden party is held indoors.", "We're not doing the garden party outside, indoors it is."),
    ("Nobody objects to the new seating plan.", "Fine with everybody, the new seating plan."),
    ("Everybody agrees with the new seating plan.", "Nobody has anything against the new seating plan."),
    ("The shipment cannot start until the label is printed.", "The shipment waits for the label to be printed."),
    ("The shipment waits for the printed label.", "We can't start the shipment until the label is printed."),
    ("Shipping starts only after the label is printed.", "No shipping before the label is printed."),
    ("Shipping does not start before the label is printed.", "Shipping starts once the label is printed."),
    ("The old index is kept.", "Don't drop the old index yet, keep it."),
    ("The old index is not dropped.", "Leave the old index where it is."),
    ("The old index is not touched.", "Hands off the old index."),
    ("The old index stays as it is.", "Nothing changes with the old index, leave it."),
    ("The widget does not show prices.", "Hide the prices in the widget."),
    ("Prices are hidden in the widget.", "The widget shouldn't show prices."),
    ("The report is drawn up without the second chapter.", "We leave the second chapter out of the report."),
    ("The second chapter is left out of the report.", "No second chapter in the report, then."),
    ("The second chapter is not part of the report.", "The report is fine as it is, drop the second chapter."),
    ("The trial fails without the patch.", "With the patch the trial passes, and without it it doesn't."),
    ("The speaker cannot come in June.", "The speaker is only free from July on, so June is impossible."),
    ("The speaker is not available in June.", "The speaker has turned June down."),
    ("There is no speaker in June.", "June goes by with the panel alone, the speaker comes in July."),
    ("The door is left unlocked during the day.", "Don't lock the door during the day."),
    ("The door is not locked during the day.", "During the day the door stays unlocked."),
    ("Nothing is nailed to the wall.", "The wall must be kept free of nails."),
    ("The price does not include breakfast.", "Breakfast is extra, on top of the price."),
    ("Breakfast is not included in the price.", "The price excludes breakfast."),
    ("The tent is not bought but borrowed.", "We borrow the tent, we needn't buy it."),
    ("The tent is borrowed instead of bought.", "We borrow the tent. Buying one would be silly."),
    ("It is not known who pays for the tent.", "Who pays for the tent is still open."),
    ("Who pays for the tent is not settled.", "The question who pays for the tent comes next week."),
    ("They do not want a bigger tent.", "A bigger tent? We are happy with the tent we have."),
    ("The cat isn't allowed in the kitchen.", "The kitchen is forbidden for the cat."),
    ("No cat in the kitchen.", "Keep the cat out of the kitchen."),
    ("The build does not need the network.", "The build works offline, that's what the vendored folder is for."),
    ("The build works without the network.", "The build doesn't need the network."),
    ("The build is not slowed by the new check.", "The new check costs the build nothing."),
    ("Tests are not skipped on Fridays.", "Tests run every day, Fridays too."),
    ("The review is not optional.", "The review is mandatory, even for small things."),
]
DENIED_ELSEWHERE = [
    ("The hall is booked, but without the stage lights.", "I booked the hall. No stage lights, they're broken."),
    ("The hall is booked for Friday.", "The hall, which isn't heated, is booked for Friday."),
    (
        "The hall, which has no heating, is booked.",
        "I booked the hall for Friday. It isn't heated, there's no heating.",
    ),
    ("The choir sings in the hall, the band doesn't.", "In the hall only the choir sings, not the band."),
    ("The choir sings in the hall.", "The band doesn't sing in the hall, the choir does."),
    (
        "The numbers are stored as text.",
        "Not as integers, no: the numbers are stored as text, zeros don't survive else.",
    ),
    ("Sums are rounded at the end.", "We round the sums at the end, never in between."),
    ("Sums are not rounded in between.", "We round the sums at the end, and only there."),
    ("Ana writes the minutes because Tom can't come.", "Tom can't come on Monday, so Ana writes the minutes."),
    ("Ana writes the minutes.", "Ana writes the minutes. She didn't write them last time."),
    ("Ana writes the minutes this time.", "I don't mind: Ana writes the minutes this time, not me."),
    ("If Tom does not come, Ana writes the minutes.", "Ana writes the minutes unless Tom comes."),
    ("Ana writes the minutes unless Tom comes.", "When Tom doesn't come, Ana writes the minutes."),
    ("Logs are kept for a month, and no longer than that.", "Keep the logs for a month at most."),
    (
        "There is no reason to move the meeting.",
        "The meeting needn't be moved, there is no reason not to meet on Monday.",
    ),
    ("The bridge is closed to lorries.", "Lorries can't use the bridge, it's closed for them."),
]
SEVERAL_QUOTES = [
    (
        "The cups are glazed in blue.",
        "I don't want the cups glazed in red.",
        "Blue, then: the cups are glazed in blue.",
    ),
    (
        "The cups are glazed in blue, the plates stay plain.",
        "The cups are glazed in blue.",
        "The plates aren't glazed, they stay plain.",
    ),
    (
        "The kiln is not fired at night, as the neighbours complained.",
        "The neighbours complained that the kiln is fired at night.",
        "OK, we don't fire it at night any more.",
    ),
    (
        "The kiln is fired on Tuesday.",
        "The kiln can't be fired on Monday.",
        "Let's say we fire the kiln on Tuesday, nobody's there on Monday.",
    ),
    (
        "The kiln gets a new thermostat for 240 euros.",
        "A new thermostat for the kiln is 240 euros.",
        "The other shop wanted 310 euros for the thermostat of the kiln. We take the first.",
    ),
]
LANGUAGES = [
    ("Der Vertrag wird nicht verlängert.", "Den Vertrag lassen wir auslaufen."),
    ("Der Vertrag läuft aus.", "Wir verlängern den Vertrag nicht, er läuft aus."),
    ("Ohne Anmeldung kommt niemand hinein.", "Nur mit Anmeldung kommt man hinein."),
    ("Die Anmeldung ist nicht nötig.", "Eine Anmeldung braucht es nicht."),
    ("Der Vorhang bleibt geschlossen.", "Den Vorhang bitte nicht öffnen, er bleibt geschlossen."),
    ("Die Probe beginnt erst nach der Pause.", "Vor der Pause fangen wir mit der Probe nicht an."),
    ("Die Küche wird nicht blau, sondern grün gestrichen.", "Die Küche streichen wir grün statt blau."),
    ("Le contrat n'est pas renouvelé.", "On laisse le contrat expirer, tant pis."),
    ("Le contrat expire en juin.", "Le contrat ne sera pas renouvelé, il expire en juin."),
    ("La salle est réservée, sans le piano.", "La salle est réservée. Pas de piano, il est désaccordé."),
    ("On part en train plutôt qu'en voiture.", "On ne prend pas la voiture, on part en train."),
    ("No se renueva el contrato.", "El contrato se deja vencer en junio."),
    ("El mural se pinta sin andamio.", "Para el mural no hace falta andamio, se pinta con escalera."),
    ("会議は延期しない。", "会議は予定どおり行います。"),
    ("会議は月曜日に行う。", "会議は火曜日ではなく月曜日に行います。"),
    ("サーバーは再起動しない。", "サーバーの再起動は不要です。"),
    ("Die Rechnung wird per Post verschickt.", "The invoice is not sent by mail, it goes by post."),
    ("The contract is not renewed.", "Den Vertrag lassen wir einfach auslaufen."),
]
VALUES = [
    ("The pool closes at 9 pm instead of 8 pm.", "The pool closed at 8 pm so far. Make it 9 pm."),
    (
        "The pool has six lanes, two of them for children.",
        "There are 6 lanes in the pool, and 2 lanes are for children.",
    ),
    ("The pool has a dozen lanes.", "The pool has twelve lanes."),
    ("Three of the five lanes are closed.", "Of the 5 lanes 3 are closed, the other 2 are open."),
    ("The fee went up from 12 to 15 euros.", "The fee was 12 euros. It is 15 euros from now on."),
    ("The fee is 15 euros, no longer 12.", "The fee was 12 euros. It is 15 euros from now on."),
    ("The fee of 15 euros is paid at the desk.", "15 euros at the desk for the fee, 12 euros for students."),
    ("Half of the lanes are closed.", "3 of 6 lanes are closed."),
    ("The pool is 1.5 km from here.", "It's 1500 m to the pool, about 1.5 km."),
    ("The second lane is for children.", "Lane 2 is for children, lane 1 for everybody."),
    ("The lanes are cleaned twice a week.", "The lanes are cleaned 2 times a week."),
    ("The course takes 90 minutes.", "The course takes an hour and a half, 90 minutes."),
    ("The course begins on the 3rd of May.", "The course begins on 3 May, and the next one on 7 June."),
    ("The course starts at 14:30.", "The course starts at 14:30, not at 14:00."),
    ("Version 2.1.0 of the app is released.", "We release version 2.1.0 of the app, 2.0.9 is withdrawn."),
]
BINDING = [
    ("The form has to be signed.", "The form must be signed."),
    ("The form must be signed.", "The form needs to be signed."),
    ("The form is to be signed by Friday.", "Can you make sure that the form is signed by Friday?", "By Friday, yes."),
    ("The form needs to be signed by Friday.", "You should sign the form by Friday."),
    ("The form will be signed by Friday.", "I might as well sign the form by Friday, ok."),
    ("The user will try the blue form.", "You might want to try the blue form. Yes, I'll try it."),
    ("Only members may sign the form.", "Nobody but members may sign the form."),
    ("All members sign the form.", "Every member signs the form, without exception."),
    ("The form is always signed by two members.", "The form never goes out without two members signing it."),
    ("Each member gets a copy of the form.", "All members get a copy of the form."),
    ("The form may be signed later.", "It's fine to sign the form later, if you must."),
    ("Guests may not sign the form.", "The form must not be signed by guests."),
]
ORDER = [
    ("The choir sings before the speech.", "The speech comes after the choir has sung."),
    ("After the speech the choir sings.", "First the speech, then the choir sings."),
    ("The speech is held before dinner.", "Dinner is after the speech."),
    ("The speech is held until noon at the latest.", "The speech must be over by noon."),
    ("From May on the choir meets on Mondays.", "The choir meets on Mondays, starting in May."),
]
WORK = [
    ("Tom gets hold of the key of the vault.", "Tom fetches the key of the vault on Monday."),
    ("Find out what the paint costs.", "Nobody knows what the paint costs, so I'll ask."),
    ("The offer of the painter has not come yet.", "We're still waiting for the offer of the painter."),
    ("Ask the painter for an offer.", "I haven't asked the painter for an offer."),
    ("The painter's offer is outstanding.", "The painter hasn't sent the offer."),
    ("Buy the tickets for the ferry.", "What I can't do yet is the tickets for the ferry."),
    ("Whether the ferry runs in May is not known.", "Somebody has to check whether the ferry runs in May."),
    ("Decide on the ferry; not decided yet.", "Let's decide on the ferry next week."),
]


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        (text, quotes)
        for text, *quotes in (
            *DENIED_OTHERWISE,
            *DENIED_ELSEWHERE,
            *SEVERAL_QUOTES,
            *LANGUAGES,
            *VALUES,
            *BINDING,
            *ORDER,
        )
    ],
)
def test_a_true_paraphrase_is_not_refused(text: str, quotes: list[str]) -> None:
    assert refused(telling(text, *quotes)) == []


@pytest.mark.parametrize(("text", "quote"), WORK)
def test_open_work_may_be_told_in_other_words(text: str, quote: str) -> None:
    assert refused(telling(text, quote, section="open_work", status="open")) == []


@pytest.mark.parametrize(
    "text",
    [
        "Wir nehmen kein Redis, es sei denn, niemand hat etwas dagegen.",
        "Why don't we see how the others do it, nothing else works without it.",
        "The form may be signed by all guests, only some of them must not, before or after lunch.",
        "会議は延期しないが、場所は変わらないわけではない。",
        "Ce n'est pas la peine, sauf si personne ne vient.",
    ],
)
def test_what_is_repeated_word_for_word_is_never_refused(text: str) -> None:
    assert refused(telling(text, text, ledger=None)) == []
    assert refused(telling(f"{text} {text}", text)) == []
