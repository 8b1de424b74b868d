// The page of one plan: its neighbours by key.

import "./layers.js";
import { bind } from "./keys.js";

function follow(rel) {
  const link = document.querySelector(`.bar a[rel=${rel}]`);
  link?.click();
  return Boolean(link);
}

bind("Plan", ",", "Previous call", () => follow("prev"));
bind("Plan", ".", "Next call", () => follow("next"));
