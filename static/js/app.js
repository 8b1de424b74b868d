// Every page: theme, dialogs, menus, tabs, keys, copying, and words for failed requests.

import "./theme.js";
import "./dialogs.js";
import { enhance } from "./copy.js";
import { bind, showSheet, showWords } from "./keys.js";
import "./search.js";
import "./background.js";
import { missed } from "./missed.js";
import { alert } from "./status.js";
import * as store from "./store.js";
import { whyNot } from "./http.js";

const YEAR = 31_536_000;

const shell = document.getElementById("shell");
const narrow = window.matchMedia("(max-width: 699.98px)");
const wide = window.matchMedia("(min-width: 1100px)");

export function showTab(name) {
  shell.dataset.tab = name;
  for (const button of document.querySelectorAll(".tabs [data-tab]")) {
    button.setAttribute("aria-pressed", String(button.dataset.tab === name));
  }
}

export function showPanel(show = null) {
  const panel = document.getElementById("context");
  if (!panel) return;
  if (narrow.matches) return showTab(show ?? shell.dataset.tab !== "aside" ? "aside" : "main");
  const name = wide.matches ? "hide-aside" : "show-aside";
  const now = wide.matches ? !shell.classList.contains(name) : shell.classList.contains(name);
  const next = show ?? !now;
  shell.classList.toggle(name, wide.matches ? !next : next);
  document.querySelector(".bar [data-key=panel]")?.setAttribute("aria-expanded", String(next));
}

function focusFilter() {
  if (narrow.matches) showTab("side");
  document.getElementById("filter")?.focus();
}

const ACTIONS = {
  keys: () => showSheet(document.getElementById("dialog")),
  words: () => showWords(document.getElementById("dialog")),
  panel: () => {
    showPanel();
    // A cookie, so that the server draws it as it was left.
    if (wide.matches) document.cookie = `ccm_panel=${shell.classList.contains("hide-aside") ? "closed" : "open"}; path=/; max-age=${YEAR}; samesite=lax`;
  },
};

document.addEventListener("click", (event) => {
  const tab = event.target.closest(".tabs [data-tab]");
  if (tab) showTab(tab.dataset.tab);
  ACTIONS[event.target.closest("[data-key]")?.dataset.key]?.();
});

bind("Outside text fields", "/", "Filter conversations", focusFilter);
bind("Anywhere", "Alt+n", "New conversation", () => document.querySelector("[data-key=new]")?.click());
bind("Outside text fields", "?", "These keys and words", ACTIONS.keys);
if (document.getElementById("context")) bind("Anywhere", "Alt+p", "Context panel", ACTIONS.panel);

// The first message has arrived where it has led on: not where one has to sign in, nor where it is refused.
if (document.getElementById("side")) {
  if (store.readHere(store.SENT).length && !document.getElementById("first")) store.forget(store.START);
  store.writeHere(store.SENT, []);
}
document.addEventListener("submit", (event) => {
  if (!("forgetAll" in event.target.dataset)) return;
  document.body.dispatchEvent(new CustomEvent("forgotten"));
  store.forgetAll("ccm.");
});
document.body.addEventListener("htmx:afterRequest", (event) => {
  const { forget } = event.detail.elt.dataset ?? {};
  if (!forget || event.detail.xhr.status !== 204) return;
  store.forgetAll(`ccm.draft.${forget}`);
  store.forgetAll(`ccm.outbox.${forget}`);
  document.body.dispatchEvent(new CustomEvent("forgotten", { detail: forget }));
});
document.addEventListener("change", (event) => {
  const target = document.getElementById(event.target.dataset?.fills ?? "");
  if (target) target.value = event.target.value || target.defaultValue;
});

// A request that a newer one replaces, or that is left with its page, is no error: htmx says so as if it were one.
document.body.addEventListener("htmx:beforeSend", ({ detail: { xhr } }) => {
  const ended = xhr.onabort;
  xhr.onabort = () => {
    const { error } = console;
    console.error = () => {};
    ended();
    console.error = error;
  };
});
for (const name of ["htmx:responseError", "htmx:sendError"]) {
  document.body.addEventListener(name, ({ detail }) => missed(detail) || alert(whyNot({ status: detail.xhr.status })));
}

enhance(document.body);
