// What this browser keeps: drafts and unsent messages. A full or forbidden store falls back to memory.

const memory = new Map();

// What is written on the start page, and that it was sent from there.
export const START = "ccm.draft.start";
export const SENT = "ccm.sent";

export function read(key) {
  if (memory.has(key)) return memory.get(key);
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function write(key, value) {
  try {
    localStorage.setItem(key, value);
    memory.delete(key);
  } catch {
    memory.set(key, value);
  }
}

// For this tab alone: a list of strings.
export function readHere(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? [];
  } catch {
    return [];
  }
}

export function writeHere(key, list) {
  try {
    sessionStorage.setItem(key, JSON.stringify(list));
  } catch {
    // then it lasts until the page is left
  }
}

export function forget(key) {
  memory.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // nothing was stored
  }
}

export function keys(prefix) {
  const found = new Set(memory.keys());
  try {
    for (let at = 0; at < localStorage.length; at += 1) found.add(localStorage.key(at));
  } catch {
    // only memory then
  }
  return [...found].filter((key) => key.startsWith(prefix)).sort();
}

export function forgetAll(prefix) {
  for (const key of keys(prefix)) forget(key);
}
