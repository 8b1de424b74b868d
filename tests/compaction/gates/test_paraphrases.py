"""What is said again in other words, truly: no gate of words refuses it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from compaction.domain.artifact import Section, Status
from compaction.domain.ledger import Entry, Span
from compaction.domain.verdicts import Gate, Judged
from efforts.domain.source_text import Part
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
EVERYDAY = [
    ("The newsletter goes out monthly, not weekly.", "Weekly is too much, let's send the newsletter once a month."),
    ("Nobody gets the admin password by mail.", "Never mail the admin password to anybody."),
    ("The crash happens only on Windows.", "It doesn't crash on Linux or the Mac, only on Windows."),
    ("Caching is switched off for logged-in users.", "For logged-in users don't cache anything."),
    ("The import is not repeated automatically.", "If the import fails, someone has to start it again by hand."),
    ("There is no budget for a second camera.", "A second camera isn't in the budget."),
    ("They do without a second camera.", "We can't afford a second camera, so one must do."),
    (
        "The logo may be used in black and white, but not in other colours.",
        "Black and white is fine for the logo, other colours are not.",
    ),
    ("Orders under 20 euros are not shipped.", "We only ship orders of 20 euros or more."),
    ("Orders of at least 20 euros are shipped.", "Don't ship orders under 20 euros."),
    ("Shipping is free from 50 euros on.", "Below 50 euros they pay for shipping, above that it's free."),
    ("The retry limit was raised from 3 to 5.", "3 retries were not enough, so I raised the limit to 5."),
    ("The deadline moves from 4 to 11 October.", "We can't make 4 October. The deadline is 11 October then."),
    ("The venue holds 120 people, 80 of them seated.", "It's 120 standing or 80 seated, the venue says."),
    ("The user does not want comments in the code.", "No comments in the code please, I don't read them anyway."),
    ("Comments are left out of the code.", "I don't want comments in the code."),
    ("The old API stays available until December.", "We don't switch off the old API before December."),
    ("The old API is switched off in December at the earliest.", "The old API must stay up until December."),
    ("Lisa is not coming to the dinner.", "Lisa can't make it to the dinner."),
    ("Lisa skips the dinner.", "Lisa won't come to the dinner, she's in Rome."),
    ("The dinner takes place without Lisa.", "Lisa isn't there on Friday, but we have the dinner anyway."),
    ("Two of three reviewers approved.", "Reviewer 3 hasn't approved yet, the other 2 did."),
    ("The third reviewer has not approved.", "We're still missing the approval of reviewer 3."),
    ("Every page needs a title.", "No page without a title, please."),
    ("No page goes live untested.", "We test every page before it goes live."),
    ("Passwords are never logged.", "Make sure that passwords don't show up in the logs."),
    ("The job must not run twice.", "The job has to run exactly once."),
    ("The job runs once a day at 02:30.", "It runs daily at 2:30 am, the job."),
    ("It is unclear whether the sensor is broken.", "I don't know if the sensor is broken or just badly mounted."),
    ("The sensor may be broken.", "Maybe the sensor is broken."),
    ("The sensor is not broken, only badly mounted.", "The sensor works, it was just mounted badly."),
    ("Das Fenster bleibt zu.", "Das Fenster darf nicht geöffnet werden, es bleibt zu."),
    ("Es gibt keinen zweiten Termin.", "Einen zweiten Termin wird es nicht geben."),
    ("Der zweite Termin entfällt.", "Den zweiten Termin machen wir nicht."),
    ("Pas de viande au menu.", "Le menu est végétarien, sans viande."),
    ("El perro no entra en la cocina.", "La cocina está prohibida para el perro."),
    ("予算は増やさない。", "予算はこのままで、増やしません。"),
    ("The team prefers tabs to spaces.", "Tabs, not spaces, that's what we all prefer."),
    ("The rule does not apply to contractors.", "Contractors are exempt from the rule."),
    ("The tests must pass before merging.", "Don't merge until the tests pass."),
    ("Merging waits for the tests.", "No merging unless the tests pass."),
    (
        "The first draft is due on Monday, the final one on Friday.",
        "Monday for the first draft, Friday for the final one.",
    ),
    ("Some of the photos are missing.", "Not all photos are there."),
    ("Not all photos are there.", "A few of the photos are missing."),
    ("Only half of the photos are there.", "Half of the photos are missing."),
    ("All photos but two are sharp.", "Two of the photos are blurred, the others are sharp."),
    ("The heater must be off at night.", "At night the heater can't be on."),
    ("The heater should not run at night.", "Please turn off the heater at night."),
    ("The user rejected the blue design.", "I don't like the blue design, let's not take it."),
    ("The blue design was turned down.", "We won't take the blue design."),
    ("The choir does not tour this year.", "No tour for the choir this year."),
    ("The choir stays at home this year.", "The choir isn't going on tour this year."),
    ("The deposit is not refundable.", "You don't get the deposit back."),
    ("The deposit is refunded unless something breaks.", "If nothing breaks, the deposit is paid back."),
    ("The lease may not be shared with others.", "The lease must not be passed on to others."),
    ("Guests are not to smoke on the balcony.", "Please tell the guests not to smoke on the balcony."),
    ("Smoking is forbidden on the balcony.", "Guests can't smoke on the balcony."),
    ("The bike is not repaired but replaced.", "Repairing the bike isn't worth it, we replace it."),
    ("The bike is replaced.", "We won't repair the bike, we replace it."),
    ("The class was cancelled for lack of interest.", "Nobody signed up for the class, so it's cancelled."),
    ("There was no interest in the class.", "Nobody signed up for the class."),
    ("The index is rebuilt nightly, not on every save.", "Don't rebuild the index on every save, do it at night."),
    ("The index is not rebuilt on every save.", "Rebuilding the index on every save is too slow, do it at night."),
    ("Email addresses stay private.", "Email addresses must not be shown to anybody."),
    ("The config file is read once at start.", "The config isn't read again after the start."),
    ("Changes to the config need a restart.", "Without a restart changes to the config have no effect."),
    (
        "Changes to the config have no effect without a restart.",
        "Changes to the config only take effect after a restart.",
    ),
    ("The user is not sure about the colour.", "I don't know about the colour yet."),
    ("The colour is still open.", "We haven't decided on the colour."),
    ("Five of the eight tasks are done.", "8 tasks, 5 done, 3 still to go."),
    ("Three tasks remain.", "8 tasks, 5 done, 3 still to go."),
    ("The gate is painted before the fence is put up.", "Paint the gate first, then put up the fence."),
    ("The fence is put up after the gate is painted.", "Before you put up the fence, paint the gate."),
    ("The limit of 10 MB holds for images, videos may have 50 MB.", "Images up to 10 MB, videos up to 50 MB."),
    ("Uploads over 10 MB are refused.", "We accept uploads up to 10 MB."),
    ("Der Schlüssel wird nicht nachgemacht.", "Den Schlüssel bitte nicht nachmachen lassen."),
    ("Wir fahren nicht mit dem Auto.", "Mit dem Zug, das Auto bleibt stehen."),
    ("Nous ne prenons pas l'avion.", "Pas d'avion, on y va en train."),
    ("No hay sitio para más invitados.", "Más invitados no caben."),
    ("猫はアレルギーのため飼わない。", "アレルギーがあるので猫は飼えません。"),
    ("The tutor needs no certificate.", "A certificate isn't required for the tutor."),
    ("The tutor must have a certificate.", "We can't take a tutor without a certificate."),
    ("They cannot take a tutor without a certificate.", "The tutor must have a certificate."),
    ("The pipeline no longer fails on main.", "The pipeline on main is green again."),
    ("Not everybody has answered.", "Some people haven't answered."),
    ("Hardly anybody has answered.", "Almost nobody has answered."),
    ("Only Ana has answered.", "Nobody has answered except Ana."),
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
            *EVERYDAY,
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


def test_what_the_ledger_has_of_the_same_words_is_no_other_matter() -> None:
    told = telling("Nothing goes out without permission.", "Don't send anything until I've said ok.")
    place = Span(message=20, part=Part.TEXT, start=0, end=39)
    known = Entry(
        id="k",
        section=Section.DECISION,
        status=Status.ACCEPTED,
        text="Nothing goes out without his permission.",
        spans=(place,),
    )
    assert [rule for _, rule, _ in refused(told)] == ["other_matter"]
    assert refused(replace(told, ledger=(*told.ledger, known))) == []
