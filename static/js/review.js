// The review page: from claim to claim, from a claim to its sources in the log and back.

import { bind } from "./keys.js";
import { alert, say } from "./status.js";
import * as store from "./store.js";
import { worded } from "./words.js";

const GROUP = "Reviewing";
const review = document.getElementById("review");
const wide = window.matchMedia("(min-width: 1100px)");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

// The claim that keys are about, by its id: rows are swapped under it.
let current = "claim-1";
let cycled = 0;

const claims = () => [...document.querySelectorAll("#claims .claim")];
const claim = () => document.getElementById(current) ?? claims()[0];
const spansOf = (node) => node?.dataset.spans?.split(" ").filter(Boolean) ?? [];
const marksOf = (number) => document.querySelectorAll(`#source-log mark[data-spans~="${number}"]`);

function reveal(node) {
  for (let folded = node.closest("details"); folded; folded = folded.parentElement.closest("details")) folded.open = true;
}

export function show(pane) {
  review.dataset.pane = pane;
  for (const button of document.querySelectorAll("button[data-pane]")) {
    button.setAttribute("aria-pressed", String(button.dataset.pane === pane));
  }
}

function goTo(node) {
  if (!node) return;
  if (!wide.matches) show(node.closest("#source-pane") ? "source" : "claims");
  else if (node.closest("#source-pane")) show("source");
  reveal(node);
  node.focus({ preventScroll: true });
  node.scrollIntoView({ block: "nearest" });
}

function scrollToSpan(number) {
  const [mark] = marksOf(number);
  if (!mark) return;
  reveal(mark);
  mark.scrollIntoView({ block: "nearest", behavior: still.matches ? "auto" : "smooth" });
}

function light(numbers, css) {
  for (const node of document.querySelectorAll(`#review .${css}`)) node.classList.remove(css);
  for (const number of numbers) {
    for (const node of marksOf(number)) node.classList.add(css);
  }
}

function lightOne(number) {
  for (const node of document.querySelectorAll("#review .cite.on")) node.classList.remove("on");
  document.getElementById(`span-${number}`)?.classList.add("on");
  claim()?.querySelector(`.cite[data-span="${number}"]`)?.classList.add("on");
}

function choose(node) {
  for (const other of document.querySelectorAll("#claims .claim.current")) other.classList.remove("current");
  for (const other of claims()) other.tabIndex = other === node ? 0 : -1;
  node.classList.add("current");
  if (current !== node.id) cycled = 0;
  current = node.id;
  light(spansOf(node), "on");
  if (!wide.matches) return;
  const [span] = spansOf(node);
  if (span) scrollToSpan(span);
  else if (node.dataset.place) document.getElementById(node.dataset.place)?.scrollIntoView({ block: "nearest" });
}

document.addEventListener("focusin", ({ target }) => {
  const row = target.closest?.(".claim");
  if (row && (row.id !== current || !row.classList.contains("current"))) choose(row);
  const entry = target.closest?.(".src");
  if (!row && !entry) return;
  for (const other of document.querySelectorAll("#source-log .src.current")) other.classList.remove("current");
  entry?.classList.add("current");
});

for (const kind of ["pointerover", "pointerout"]) {
  document.addEventListener(kind, ({ target }) => {
    const row = target.closest?.("#claims .claim");
    if (row) light(kind === "pointerover" ? spansOf(row) : [], "peek");
  });
}

document.addEventListener("click", (event) => {
  const { target } = event;
  const pane = target.closest("button[data-pane]");
  if (pane) return turnTo(pane.dataset.pane);
  if (target.closest("[data-to-checks]")) {
    event.preventDefault();
    return goTo(document.getElementById("checks-made"));
  }
  if (target.closest("[data-to-left-out]")) {
    event.preventDefault();
    const list = document.querySelector("#left-out-sentences > summary");
    goTo(list);
    return list?.scrollIntoView({ block: "start" });
  }
  const bar = target.closest(".map [data-to]");
  if (bar) return goTo(document.getElementById(bar.dataset.to));
  if (target.closest("[data-sentences]")) return openSentences(event);
  const cite = target.closest("#claims a.cite");
  if (cite) {
    event.preventDefault();
    return toSpan(cite.dataset.span);
  }
  const short = target.closest("#gates-in-short");
  if (short) return short.setAttribute("aria-expanded", String(short.getAttribute("aria-expanded") !== "true"));
  const gate = target.closest('a[href*="#gate-"]');
  if (gate) {
    event.preventDefault();
    return document.getElementById(gate.hash.slice(1)).click();
  }
  if (target.closest("[data-to-dropped]")) {
    event.preventDefault();
    target.closest("dialog")?.close();
    return document.getElementById("show-dropped").click();
  }
  const source = target.closest("a[data-to-source]");
  if (source) {
    event.preventDefault();
    return goTo(document.getElementById(source.hash.slice(1)));
  }
  const link = target.closest('a[href*="#claim-"]:not([hx-get])');
  const led = link && document.getElementById(link.hash.slice(1));
  if (!led) return;
  event.preventDefault();
  link.closest("dialog")?.close();
  goTo(led);
});

// Of two panes side by side each has the same buttons: the focus stays on the one that was pressed.
function turnTo(pane) {
  const ofPane = document.activeElement.closest?.(".pane.other");
  show(pane);
  if (ofPane) document.querySelector(`#${pane}-pane .other-head [data-pane="${pane}"]`)?.focus();
}

function toSpan(number) {
  show("source");
  scrollToSpan(number);
  lightOne(number);
}

function step(by, wanted = () => true) {
  const rows = claims();
  const at = rows.indexOf(claim());
  const ahead = by > 0 ? rows.slice(at + 1) : rows.slice(0, at).reverse();
  const fresh = at >= 0 && document.activeElement.closest(".claim") === null && wanted(rows[at]);
  const next = fresh ? rows[at] : ahead.find(wanted);
  walking = true;
  if (next) goTo(next);
  else say(by > 0 ? "That was the last one." : "That was the first one.");
}

function cycle(by) {
  const numbers = spansOf(claim());
  if (!numbers.length) return say("This claim cites no sentence of the log.");
  const lit = document.querySelector("#claims .cite.on") !== null;
  cycled = lit ? (cycled + by + numbers.length) % numbers.length : 0;
  walking = true;
  toSpan(numbers[cycled]);
}

// Whoever goes by letters goes with Tab from a claim to its source and back; else Tab is the browser's.
let walking = false;
document.addEventListener("pointerdown", () => (walking = false));

function otherPane(event) {
  if (!walking) return false;
  if (event.target.matches(".src")) return goTo(claim());
  const [mark] = spansOf(claim()).flatMap((number) => [...marksOf(number)]);
  goTo((mark ?? document.getElementById(claim()?.dataset.place) ?? document.querySelector("#source-log .src"))?.closest(".src"));
}

function inLog(by, event) {
  const rows = [...document.querySelectorAll("#source-log .src")];
  goTo(rows[rows.indexOf(event.target) + by]);
}

function openInChat() {
  const row = document.activeElement.closest(".src") ?? marksOf(spansOf(claim())[cycled] ?? 0)[0]?.closest(".src");
  for (let part = row; part; part = part.previousElementSibling) {
    const link = part.querySelector("[data-turn]");
    if (link) return link.click();
  }
  say("The conversation itself is open to its owner only.");
}

function press(id, otherwise) {
  const node = document.getElementById(id);
  if (node) node.click();
  else say(otherwise);
}

bind(GROUP, "j", "Next claim", () => step(1));
bind(GROUP, "k", "Previous claim", () => step(-1));
bind(GROUP, "s", "Next source", () => cycle(1));
bind(GROUP, "S", "Previous source", () => cycle(-1));
bind(GROUP, "Tab", "From a claim to its source, and back", otherPane, ".claim, .src");
bind(GROUP, "Escape", "Tab leads on through the page again", () => { walking = false; }, ".claim, .src");
bind(GROUP, "ArrowDown", "In the log: next entry", (event) => inLog(1, event), ".src");
bind(GROUP, "ArrowUp", "In the log: previous entry", (event) => inLog(-1, event), ".src");
const showsText = () => review.dataset.pane === "text" || (review.dataset.pane === "excerpts" && wide.matches);
bind(GROUP, "t", "What the prompt gets, and back to the log", () => turnTo(showsText() ? "source" : "text"));
bind(GROUP, "o", "Open the source in the conversation", openInChat);
bind(GROUP, "d", "Compare with the previous version", () => press("review-compare", "There is no previous version."));
for (const [index, letter] of [..."ABCDE"].entries()) {
  bind(GROUP, String(index + 1), `Gate ${letter}`, () => press(`gate-${letter}`, ""));
}
bind(GROUP, "p", "All reviews", () => inTurn(() => press("reviews", ""), true));
bind(GROUP, "J", "Next summary, when this one is decided", () => inTurn(() => press("review-next", "Submit or accept this one first, or press p for all reviews."), true));
bind(GROUP, "A", "Accept…", () => press("accept", "It is in use already. R rolls it back."));
bind(GROUP, "R", "What rolling back would change", () => press("rollback", "It is not in use, so there is nothing to roll back."));

// Verdicts. The next claim has the focus at once; the answer comes in behind it.

// By the ids of rows: what was said of them and is on its way, as their verdict until the answer is there.
const saying = new Set();
const isOpen = (row) => row.dataset.verdict === "" && !saying.has(row.id);

function onward() {
  const rows = claims();
  const at = rows.indexOf(claim());
  const next = [...rows.slice(at + 1), ...rows.slice(0, at)].find(isOpen);
  if (next) return goTo(next);
  goTo(claim());
  say("Every claim is decided. Ctrl and Enter submits the verdicts.");
}

function verb(name, ofGap = "") {
  const row = claim();
  const node = row?.querySelector(`[data-do="${name}"]`) ?? (ofGap && row?.querySelector(`[id$="${ofGap}"]`));
  walking = true;
  if (node) node.click();
  else say("This cannot be done with it.");
}

function takeOver() {
  const suggested = claim()?.dataset.suggested;
  if (suggested) verb(suggested);
  else say("No model has read this claim.");
}

function openSentences({ target }) {
  const button = target.closest(".claim")?.querySelector("[data-sentences]");
  if (!button || !target.matches(".claim, [data-sentences], [data-sentences] *")) return false;
  const sentences = document.getElementById(button.getAttribute("aria-controls"));
  sentences.hidden = !sentences.hidden;
  button.setAttribute("aria-expanded", String(!sentences.hidden));
}

// What is pressed goes out one at a time and in its order: each answer tells of all that came before it, and what is
// undone is what was done last.
let underway = null;
let waiting = [];

// `ofAll`: what is about all verdicts is not done where one did not arrive.
function inTurn(act, ofAll = false) {
  if (underway) waiting.push({ act, ofAll });
  else act();
}

const rowOf = (elt) => elt.closest("#claims .claim")?.id;
const isInTurn = (elt) => elt.closest("#claims, #desk form") !== null;

document.body.addEventListener("htmx:confirm", (event) => {
  const { elt, triggeringEvent } = event.detail;
  if (!underway || !isInTurn(elt)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  const pressed = triggeringEvent.submitter ?? elt;
  // Its row may be another by then.
  const again = pressed.id ? `#${CSS.escape(pressed.id)}` : `#${rowOf(elt)} [data-do="${pressed.dataset.do ?? "save"}"]`;
  inTurn(() => pressAgain(again), elt.closest("#desk") !== null);
});

let isAgain = false;
function pressAgain(selector) {
  isAgain = true;
  document.querySelector(selector)?.click();
  isAgain = false;
}

document.body.addEventListener("htmx:beforeSend", ({ detail: { elt, xhr } }) => {
  if (!isInTurn(elt)) return;
  const row = rowOf(elt);
  underway = xhr;
  xhr.addEventListener("loadend", () => answered(xhr.status, row));
});

function answered(status, row) {
  underway = null;
  saying.delete(row);
  const arrived = status >= 200 && status < 400;
  if (!arrived) waiting = waiting.filter(({ ofAll }) => !ofAll);
  // With 422 the row itself says what is wrong.
  if (row && !arrived && status !== 422) backTo(document.getElementById(row));
  while (waiting.length && !underway) waiting.shift().act();
}

// What waits was said, and is not lost with the page.
window.addEventListener("beforeunload", (event) => {
  if (waiting.length || (underway && underway.readyState < XMLHttpRequest.DONE)) event.preventDefault();
});

// The page says why; the claim is as undecided as it was.
function backTo(row) {
  if (!document.activeElement.matches("textarea, input")) goTo(row);
}

function undo() {
  const id = current;
  inTurn(() => {
    const own = document.getElementById(id)?.querySelector('[data-do="undo"]');
    if (own) own.click();
    else press("undo-last", "There is nothing to undo.");
  }, true);
}

function submitAll(event) {
  const edit = event.target.closest?.(".claim form.edit");
  if (edit) edit.requestSubmit();
  else if (event.target.matches("input, textarea")) return false;
  else inTurn(() => press("submit-verdicts", "There are no verdicts to submit yet."), true);
}

document.addEventListener("submit", ({ target, submitter }) => {
  if (isAgain || !target.matches("#claims form.verbs")) return;
  const row = target.closest(".claim");
  if (submitter?.value === "undo") return goTo(row);
  saying.add(row.id);
  onward();
});

// Words that are typed are kept in this browser until they are saved or given up.
const typedIn = (form) => `ccm.draft.${document.getElementById("current").value}.review${form.getAttribute("action")}`;
document.addEventListener("input", ({ target }) => {
  if (target.matches("#claims .claim textarea")) store.write(typedIn(target.form), target.value);
});
document.addEventListener("click", ({ target }) => {
  const form = target.closest("[data-cancel-claim]")?.closest("form");
  if (form) store.forget(typedIn(form));
});
document.body.addEventListener("htmx:afterRequest", ({ detail: { requestConfig, successful } }) => {
  if (successful && requestConfig.elt.matches("form.edit")) store.forget(typedIn(requestConfig.elt));
});

// Submitting leads to another page.
document.body.addEventListener("htmx:confirm", (event) => {
  if (!event.detail.elt.querySelector?.("#submit-verdicts")) return;
  const field = [...document.querySelectorAll("#claims .claim textarea")].find((one) => one.value !== one.defaultValue);
  if (!field) return;
  event.preventDefault();
  goTo(field.closest(".claim"));
  field.focus();
  alert("These words are not saved yet. Save them, or cancel the edit; then submit.");
});

// What a row or the list has instead of what had the focus.
let place = 0;
document.body.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
  if (target.id === "claims") place = claims().indexOf(claim());
});
document.body.addEventListener("htmx:afterSwap", ({ target: swapped, detail: { target, requestConfig } }) => {
  // What somebody does in the drawer beside it leaves the focus there.
  if (target.id === "claims" && requestConfig.triggeringEvent?.type === "claims") return choose(claim());
  if (target.id === "claims") return showList(requestConfig.verb === "post");
  if (!target.matches?.(".claim")) return;
  const row = document.getElementById(target.id);
  // What comes along with the answer says so too; one goes on once.
  if (swapped !== row) return;
  const field = row.querySelector("textarea");
  if (field) {
    current = row.id;
    field.value = store.read(typedIn(field.form)) ?? field.value;
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
    row.scrollIntoView({ block: "nearest" });
  } else if (target.querySelector("textarea")) {
    if (requestConfig.verb === "post") onward();
    else goTo(row);
  }
  if (row.id === current) choose(row);
});

// The foot grows with the first verdict, and covers nothing that is worked on.
document.body.addEventListener("htmx:oobAfterSwap", () => {
  const row = document.activeElement.closest(".claim");
  row?.scrollIntoView({ block: "nearest" });
});

function showList(same) {
  const rows = claims();
  const next = rows[same ? Math.min(place, rows.length - 1) : 0];
  if (next) goTo(next);
  else document.getElementById("claims").focus();
}

document.body.addEventListener("chosen", ({ detail }) => goTo(document.getElementById(detail.value)));
// The dialog gives the focus back to the claim; where what had it is gone, it is where the answer stands.
document.body.addEventListener("settled", () => {
  if (document.activeElement === document.body) document.getElementById("standing")?.focus();
});

function toDropped() {
  const shown = document.querySelector(".filters [aria-current]")?.id === "show-dropped";
  press(shown ? "show-all" : "show-dropped", "What excerpts leave out is told below the quotes.");
}

// Whoever says that something is not needed says why.
document.addEventListener("toggle", ({ target }) => {
  if (target.matches("details.with-reason[open]")) target.querySelector("input[name=reason]").focus();
}, true);

// A key that is held down says it of one claim, not of all that come next.
function once(act) {
  return (event) => event.repeat || act(event);
}

bind(GROUP, "n", "Next undecided claim", () => step(1, isOpen));
bind(GROUP, "N", "Previous undecided claim", () => step(-1, isOpen));
bind(GROUP, "a", "Keep the claim, or add what was dropped", once(() => verb("kept", "-add")));
bind(GROUP, "e", "Edit it", once(() => verb("edit")));
bind(GROUP, "x", "Strike it, or say that it is not needed", once(() => verb("struck", "-not-needed")));
bind(GROUP, "w", "Take over what the checker suggests", once(takeOver));
bind(GROUP, "Enter", "Its sentences", openSentences, ".claim");
bind(GROUP, "q", "Flag its source: it does not say this", once(() => verb("needs source")));
bind(GROUP, "u", "Undo", once(undo));
bind(GROUP, "v", "What is missing, and back", toDropped);
bind(GROUP, "Mod+Enter", "Save the edit, or submit all verdicts", once(submitAll));
bind(GROUP, "Escape", "Leave the edit", () => document.querySelector("#claims [data-cancel-claim]").click(), ".claim textarea");

// How much of the log has been in sight; of a message that is higher than the screen a good part is enough.
const told = document.getElementById("seen");
const SEEN = `ccm.seen.${location.pathname}`;
const seen = new Set(store.readHere(SEEN));
const sight = new IntersectionObserver((rows) => {
  for (const { target, isIntersecting, intersectionRatio, intersectionRect } of rows) {
    if (isIntersecting && (intersectionRatio > 0.9 || intersectionRect.height > window.innerHeight / 3)) seen.add(target.id);
  }
  store.writeHere(SEEN, [...seen]);
  const all = document.querySelectorAll("#source-log .src");
  const count = [...all].filter((row) => seen.has(row.id)).length;
  const words = worded(`${count} of ${all.length} messages of the log seen`);
  if (told && all.length) told.textContent = ` · ${words}`;
}, { threshold: [0, 0.1, 0.25, 0.5, 0.75, 0.95] });
for (const row of document.querySelectorAll("#source-log .src")) sight.observe(row);

const [first] = claims();
if (first) first.tabIndex = 0;
const led = document.getElementById(location.hash.slice(1));
if (led?.matches(".claim, .conflicts, .src, #source-log .cite")) goTo(led);
else if (first?.matches(".doubted") && document.activeElement === document.body) goTo(first);
