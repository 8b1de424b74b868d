// The chat page: events from the socket to the log, commands from the person to the server.

import { arriveAt, named } from "./arrive.js";
import { branchesChanged, wroteHere } from "./branches.js";
import { Composer } from "./composer.js";
import { copyText, messageText } from "./copy.js";
import { Efforts } from "./efforts.js";
import { Files } from "./files.js";
import { showFound } from "./found.js";
import { post, whyNot } from "./http.js";
import { bind, TYPING } from "./keys.js";
import "./layers.js";
import { Log } from "./log.js";
import { readMissed } from "./missed.js";
import { Outbox } from "./outbox.js";
import { Pending } from "./pending.js";
import { Follower } from "./scroll.js";
import "./rules.js";
import "./tips.js";
import { Socket } from "./socket.js";
import { alert, connection, say, tellShortly } from "./status.js";
import { countWaiting } from "./waited.js";
import { worded } from "./words.js";

const CONTEXT_AFTER = 300;
const SEEN_AFTER = 1_000;
const LOG_AGAIN_AFTER = 1_500;

const shell = document.getElementById("shell");
const { session, branch, chat } = shell.dataset;
// What this browser keeps is kept by branch; of the main one under the conversation's id.
const [, place] = chat.match(/\/s\/(.+)\/$/);

const scroller = document.getElementById("scroller");
const log = new Log(chat, arrived, scroller);
const efforts = new Efforts(session, { refresh: (turn) => log.refresh(turn), reload: () => resync(), context: () => refreshContext() });
const pending = new Pending(takeBack);
const latest = document.getElementById("latest");
const follower = new Follower(scroller, latest, [log.node, pending.node], log);
const outbox = new Outbox(place, branch, { ready: () => ready, frame: (frame) => socket.send(frame), post: sendByPost }, showPending);
const files = new Files({ changed: filesChanged, leaving: () => outbox.items().flatMap((item) => item.files ?? []) });
const composer = new Composer(place, { send: write, stop, typed: () => refreshContext(), names: () => files.names });
const scheme = location.protocol === "https:" ? "wss" : "ws";
const socket = new Socket(`${scheme}://${location.host}/ws/s/${session}/`, { seq: () => seq, frame, live, down, ended });

let seq = log.seq;
let ready = false;
let state = "live";
// The log, while it is read again.
let reading = null;
let held = [];
// How the log was to be read when it could not be.
let unread = null;
let contextTimer = null;

// -- from the server

const EVENTS = {
  delta: (event) => log.append(event),
  thinking: (event) => log.append(event),
  "turn.sent": (event) => {
    efforts.refresh();
    settle(event.client_id, event.turn);
    for (const number of log.retryable) log.refresh(number);
    changed(event);
  },
  "turn.cancelled": changed,
  "file.added": () => files.reload(),
  "file.removed": () => files.reload(),
  "turn.moved": (event) => efforts.happened(event),
  "run.queued": changed,
  "run.started": (event) => {
    changed(event);
    efforts.refresh();
    say("Preparing the reply");
  },
  "plan.made": (event) => log.refresh(event.turn),
  "message.stands": changed,
  "run.stopping": (event) => {
    log.stopping(event.run);
    changed(event);
  },
  "run.ended": (event) => {
    changed(event);
    say(ENDINGS[event.state] ?? "");
    efforts.refresh();
    tell("conversations");
  },
  "run.judged": (event) => log.refresh(event.turn),
  "session.renamed": (event) => {
    retitle(event.title);
    tell("conversations");
  },
  "session.archived": () => tell("conversations"),
  "session.unarchived": () => tell("conversations"),
  "session.configured": () => {
    tell("configured");
    resync();
  },
};
const RUNS = new Set(["turn.sent", "turn.cancelled", "run.queued", "run.started", "run.ended"]);
const ENDINGS = {
  completed: "The reply is complete",
  stopped: "Stopped",
  failed: "The turn failed. Retry is below it.",
  interrupted: "The turn was interrupted. Retry is below it.",
  noted: "Noted",
};
const CONTROLS = {
  welcome: () => {},
  resync: () => resync(),
  ack: (message) => message.of === "send" && acknowledged(message),
  error: refused,
  gone: (message) => socket.end(message.code),
};

function frame(message) {
  if (message.kind in CONTROLS) CONTROLS[message.kind](message);
  else if (reading) held.push(message);
  else apply(message);
}

// False where events are missing before this one: then the log is asked for again from the last good number.
function apply(event) {
  if (event.seq <= seq) return true;
  if (event.seq > seq + 1) {
    socket.reopen();
    return false;
  }
  seq = event.seq;
  if (DRAFTED.test(event.kind)) setTimeout(tell, SEEN_AFTER, "conversations");
  if (event.kind.startsWith("branch.")) ofBranches(event);
  else if (event.branch && event.branch !== branch) elsewhere(event);
  else if (event.kind.startsWith("effort.")) efforts.happened(event);
  else if (event.kind.startsWith("compaction.")) efforts.happened({ ...event, effort: event.id ?? (event.first ? `turns-${event.first}-${event.last}` : "seed") });
  else if (event.kind.startsWith("constraint.")) efforts.happened({ ...event, effort: `rule:${event.constraint}` });
  else if (event.kind.startsWith("ledger.")) efforts.happened({ ...event, effort: `entry:${event.entry}` });
  else if (event.kind.startsWith("hold.")) efforts.happened({ ...event, effort: `hold:${event.hold}`, moved: event.pinned_turn });
  else if (event.left) efforts.happened({ ...event, effort: `left:${event.left}`, moved: event.left });
  else EVENTS[event.kind]?.(event);
  return true;
}

// A draft that has ended marks its conversation as new, which it is not to whoever has it in sight.
const DRAFTED = /^(effort\.(summarised|digested|summary_waiting|summary_failed)|compaction\.(drafted|failed))$/;

// What happens in another branch: rules and the ledger are of all, and a turn may have a sibling now.
function elsewhere(event) {
  if (event.kind.startsWith("constraint.") || event.kind.startsWith("ledger.")) refreshContext();
  if (RUNS.has(event.kind)) branchesChanged();
  if (event.kind === "turn.sent" && log.turn(event.turn)) log.refresh(event.turn);
}

function ofBranches(event) {
  branchesChanged();
  // What another branch shares is not tried again.
  if (event.kind === "branch.forked") for (const number of log.retryable) log.refresh(number);
}

// Read the log again; what arrives meanwhile waits, and what the new log contains is skipped by its number.
async function resync(how = {}) {
  if (reading) return;
  reading = log.reload(how);
  const now = await reading;
  reading = null;
  const waiting = held;
  held = [];
  if (now === null) {
    unread = how;
    socket.reopen();
    return;
  }
  seq = Math.max(seq, now);
  // It may have been given one meanwhile, whose event is among those that the log contains.
  retitle(log.node.dataset.title);
  waiting.every(apply);
  refreshContext();
  efforts.refresh();
}

function live() {
  ready = true;
  outbox.ground();
  show("live");
  outbox.pump();
  readMissed();
  if (unread) setTimeout(resync, LOG_AGAIN_AFTER, unread);
  unread = null;
}

function down() {
  show(navigator.onLine ? "reconnecting" : "offline");
}

function ended(signedOut) {
  show("closed");
  composer.close({ keep: signedOut });
  if (signedOut) alert("You are signed out. What you were writing is kept in this browser.");
  else alert("This conversation was deleted. Nothing can be sent here any more.");
  if (signedOut) return;
  goOnOnceBack();
  tell("conversations");
}

// Whoever undoes its deletion may do so on another page: here it stands in the list again then.
function goOnOnceBack() {
  let missing = false;
  document.getElementById("conversations").addEventListener("htmx:afterSettle", () => {
    const listed = document.querySelector("#conversations li.current") !== null;
    missing ||= !listed;
    if (!missing || !listed) return;
    composer.reopen();
    location.reload();
  });
}

function show(next) {
  state = next;
  if (next !== "live") {
    ready = false;
    outbox.ground();
  }
  showPending();
}

// -- from the person

function send(text, how = {}) {
  document.getElementById("where")?.remove();
  const ids = files.ids;
  if (ids.length) files.clear();
  outbox.add(text, ids.length ? { ...how, files: ids } : how);
  toNewest();
}

// Whoever has words of their own needs no questions to try.
function write(text, how) {
  document.getElementById("suggestions")?.remove();
  send(text, how);
}

async function toNewest() {
  // What is being read is of where one was.
  while (reading && log.detached) await reading;
  if (log.detached) await resync({ newest: true });
  if (location.pathname !== chat) history.replaceState(null, "", chat);
  follower.pin();
}

latest.addEventListener("click", toNewest);

async function sendByPost(message) {
  const answer = await post(`${chat}send/`, message);
  if (answer.ok) acknowledged({ ...message, ...answer.data });
  else if (answer.status !== 0) refused({ client_id: message.client_id, text: whyNot(answer) });
}

// What was a command has no turn; it may lead to another page.
function acknowledged({ client_id: clientId, turn, go }) {
  // A command leaves the files in the composer.
  if (!turn && outbox.settle(clientId)?.files) files.reload();
  if (go) location.assign(go);
  if (!turn) return;
  settle(clientId, turn);
  if (!log.turn(turn)) log.refresh(turn);
}

function settle(clientId, turn) {
  pending.sent(clientId, turn);
  if (outbox.settle(clientId)?.files) files.reload();
  pending.arrived((number) => log.turn(number));
}

function refused({ client_id: clientId, text, of }) {
  const item = clientId && outbox.settle(clientId);
  if (item) composer.putBack(item.text);
  if (item?.files) files.reload();
  if (of === "stop") refreshRunning();
  if (item?.text.startsWith("/")) composer.ask(text, item);
  else alert(text);
}

function takeBack(clientId) {
  const item = outbox.settle(clientId);
  if (item) composer.putBack(item.text);
  if (item?.files) files.reload();
}

function filesChanged() {
  composer.reading = files.busy;
  refreshContext();
}

async function stop() {
  const { run } = log.running?.dataset ?? {};
  if (!run) return;
  log.stopping(run);
  if (ready && socket.send({ kind: "stop", run })) return;
  const answer = await post(`${chat}runs/${run}/stop/`, {});
  if (!answer.ok) alert(whyNot(answer));
}

async function act(form, submitter) {
  const fields = submitter?.name ? { [submitter.name]: submitter.value } : {};
  const { turn } = form.closest(".turn")?.dataset ?? {};
  efforts.acted(form.dataset.effort);
  submitter?.setAttribute("disabled", "");
  const answer = await post(form.action, fields);
  if (!answer.ok) alert(whyNot(answer));
  // A key that is pressed shows nothing by itself: what it has changed to is told where it can be read.
  else if (answer.data?.says) (submitter?.matches("[data-next]") ? tellShortly : say)(answer.data.says);
  submitter?.removeAttribute("disabled");
  if (form.closest("#fit")) composer.focus();
  if (answer.data?.go) {
    composer.keepDraft();
    location.assign(answer.data.go);
    return;
  }
  // Nothing that is disabled keeps the focus.
  if (submitter?.id && document.activeElement === document.body) submitter.focus();
  if (turn) log.refresh(Number(turn));
  if (!turn || form.dataset.effort) efforts.refresh();
}

document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-suggest]")) {
    event.preventDefault();
    send(event.target.elements.text.value, { aside: true });
    const left = document.querySelectorAll("[data-suggest]").length - 1;
    (left ? event.target : document.getElementById("suggestions")).remove();
    return;
  }
  if (!event.target.matches("[data-act]")) return;
  event.preventDefault();
  const modes = event.target.closest("#modes");
  if (modes?.open) {
    modes.open = false;
    modes.querySelector("summary").focus();
  }
  act(event.target, event.submitter);
});
document.addEventListener("click", (event) => {
  const back = event.target.closest("[data-put-back]");
  if (back) putBack(back);
});
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  socket.reopen();
  resync();
});
document.body.addEventListener("forgotten", (event) => [session, null].includes(event.detail) && composer.clear());

async function putBack(button) {
  composer.putBack(button.parentElement.querySelector("template.raw").content.textContent);
  if (!button.dataset.files) return;
  const answer = await post(button.dataset.files, {});
  if (!answer.ok) alert(whyNot(answer));
  files.reload();
}

// -- on the page

function changed(event) {
  log.refresh(event.turn);
  refreshContext();
}

function refreshRunning() {
  if (log.running) log.refresh(Number(log.running.dataset.turn));
}

function arrived(node) {
  composer.running = Boolean(log.running);
  pending.arrived((number) => log.turn(number));
  efforts.arrived(document);
  if (node === log.node) follower.watch(node);
  placeWindow();
}

function showPending() {
  const items = outbox.items();
  pending.show(items, { state, flying: (id) => outbox.isFlying(id) });
  connection(state, items.length);
}

function retitle(title) {
  const shown = title || worded("New conversation");
  document.getElementById("title").textContent = shown;
  document.title = `${shown} · CCM Web`;
}

function tell(name) {
  document.body.dispatchEvent(new Event(name));
}

function refreshContext() {
  clearTimeout(contextTimer);
  contextTimer = setTimeout(() => tell("context"), CONTEXT_AFTER);
}

// Where the address leads: a turn, an effort or a rule.
function arrive() {
  const id = named();
  const node = id ? document.getElementById(id) : null;
  if (node?.closest("#log")) follower.pinned = false;
  if (node) arriveAt(node);
  const { found } = log.node.dataset;
  if (node && found && id.startsWith("turn-")) {
    showFound(found);
    // A browser goes to what the address names once more, when all of the page is there.
    if (document.readyState !== "complete") window.addEventListener("load", () => setTimeout(() => showFound(found)), { once: true });
  } else if (!node && id.startsWith("effort-")) efforts.find(id);
  // A turn that this stretch of the log does not have; the stretch around it that has it not either is left alone.
  const [, number] = (!node && location.pathname === chat && id.match(/^turn-([1-9]\d{0,8})$/)) || [];
  if (number && !document.querySelector("#earlier[hidden]")) location.replace(`${chat}log/?around=${number}#${id}`);
  return Boolean(node);
}

// The hairline stands before the first turn that the next call would send.
function placeWindow() {
  const line = document.getElementById("window");
  const first = log.turn(document.querySelector(".context")?.dataset.window);
  if (!line) return;
  line.hidden = !first || Number(first.dataset.turn) === 1;
  if (!line.hidden && first.previousElementSibling !== line) first.before(line);
}

document.body.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "context") placeWindow();
});
// Earlier turns come in above what is being read, which stays where it is; later ones below.
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const { id } = event.detail.target;
  if ((id !== "earlier" && id !== "later") || !event.detail.shouldSwap) return;
  const asked = document.activeElement === event.detail.target;
  const reading = id === "earlier" ? messages().at(0) : messages().at(-1);
  const top = reading?.getBoundingClientRect().top;
  log.node.addEventListener("htmx:afterSwap", () => {
    log.moreCame(id);
    if (reading) scroller.scrollTop += reading.getBoundingClientRect().top - top;
    if (asked) reading?.focus({ preventScroll: true });
  }, { once: true });
});

function messages() {
  return [...log.node.querySelectorAll(".msg")];
}

function move(pick) {
  const all = messages();
  const at = all.indexOf(document.activeElement?.closest?.(".msg"));
  const next = all[Math.max(0, Math.min(all.length - 1, pick(at, all.length)))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
}

const GROUP = "Outside text fields";
bind(GROUP, "j", "Next message", () => move((at) => at + 1));
bind(GROUP, "k", "Previous message", () => move((at, all) => (at < 0 ? all : at) - 1));
bind(GROUP, "g g", "First message", () => {
  if (document.querySelector("#earlier:not([hidden])")) location.assign(`${chat}log/?around=1#turn-1`);
  else move(() => 0);
});
bind(GROUP, "G", "Last message", async () => {
  if (log.detached) await toNewest();
  move((_, all) => all - 1);
});
bind(GROUP, "y", "Copy the message", () => {
  const message = document.activeElement?.closest?.(".msg");
  return message ? copyText(messageText(message)) : false;
});
bind("Anywhere", "Alt+i", "What was recalled for the turn, and why", () => {
  // Of the turn that has the focus, else of the last one that was sent; where nothing was looked for, its plan says so.
  const sent = [...log.node.querySelectorAll(".turn:has([data-recall], [id^=plan-of-])")];
  const turn = document.activeElement?.closest?.(".turn") ?? sent.at(-1);
  const line = turn?.querySelector("[data-recall]") ?? [...(turn?.querySelectorAll("[id^=plan-of-]") ?? [])].at(-1);
  if (line) line.click();
  else alert("Nothing was sent here yet, so nothing was looked for.");
});
bind("Anywhere", "Alt+m", "Context mode: off, light, heavy", () => document.querySelector("#modes [data-next]").click());
bind(GROUP, "e", "Efforts", () => efforts.focus());
bind(GROUP, "Escape", "Stop the reply", ({ target }) => (log.running && !target.matches(TYPING) ? stop() : false));

composer.running = Boolean(log.running);
countWaiting();
// A draft of last time, which the page came without.
if (document.getElementById("text").value) refreshContext();
efforts.arrived(document);
placeWindow();
showPending();
// The words that a fork began with are a draft now, and not begun with again.
if (location.search.startsWith("?words=")) history.replaceState(null, "", location.pathname);
const writesOn = wroteHere();
if ((!arrive() || writesOn) && !window.matchMedia("(pointer: coarse)").matches) {
  composer.focus();
  // As with what is found: what the address names has the focus once more when all of the page is there.
  if (writesOn && document.readyState !== "complete") window.addEventListener("load", () => setTimeout(() => composer.focus()), { once: true });
}
if (follower.pinned) follower.pin();
window.addEventListener("hashchange", arrive);
document.getElementById("connection").hidden = true;
socket.open();
