// Requests to our own server. An answer is {ok, status, data}; status 0 means that there was none.

const token = () => JSON.parse(document.body.getAttribute("hx-headers"))["x-csrftoken"];

export async function post(url, fields, { signal } = {}) {
  const headers = { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": token() };
  return answer(() => fetch(url, { method: "POST", headers, body: JSON.stringify(fields), signal }), json);
}

// A form with files in it; the answer is a part.
export async function send(url, form) {
  const headers = { "HX-Request": "true", "X-CSRFToken": token() };
  return answer(() => fetch(url, { method: "POST", headers, body: form }), (response) => response.text());
}

export async function part(url) {
  return answer(() => fetch(url, { headers: { "HX-Request": "true" }, cache: "no-store" }), (response) => response.text());
}

export async function data(url) {
  return answer(() => fetch(url, { headers: { Accept: "application/json" }, cache: "no-store" }), json);
}

async function answer(ask, body) {
  try {
    const response = await ask();
    // A redirect of a part is the sign-in page: this person is signed out.
    if (response.redirected) return { ok: false, status: 401, data: null };
    return { ok: response.ok, status: response.status, data: await body(response) };
  } catch (error) {
    if (error.name === "AbortError") return { ok: false, status: -1, data: null };
    return { ok: false, status: 0, data: null };
  }
}

async function json(response) {
  try {
    return await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return null;
  }
}

export function whyNot({ status, data }) {
  if (data?.text) return data.text;
  if (status === 0) return "No connection. Nothing was changed.";
  if (status === 401 || status === 403) return "You are signed out, or this page is too old. Reload it; your draft is kept.";
  if (status === 413) return "It is too large to send.";
  if (status === 404) return "It is not there any more.";
  return `The server could not do it (${status}). Nothing was changed.`;
}
