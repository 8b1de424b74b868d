// The page of one plan: its neighbours by key.

import "./layers.js";
import { post, whyNot } from "./http.js";
import { bind } from "./keys.js";
import { alert, say } from "./status.js";

function follow(rel) {
  const link = document.querySelector(`.bar a[rel=${rel}]`);
  link?.click();
  return Boolean(link);
}

bind("Plan", ",", "Previous call", () => follow("prev"));
bind("Plan", ".", "Next call", () => follow("next"));

// Pins are set here as on the chat page.
document.addEventListener("submit", async (event) => {
  const { target, submitter } = event;
  if (!target.matches("[data-act]")) return;
  event.preventDefault();
  const answer = await post(target.action, submitter?.name ? { [submitter.name]: submitter.value } : {});
  if (!answer.ok) alert(whyNot(answer));
  else say("Done. The next call is planned with it.");
  document.body.dispatchEvent(new Event("context"));
});
