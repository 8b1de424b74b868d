// The connection to a session's event log: says where it stands, goes on from there, comes back by itself.

const SIGNED_OUT = 4401;
const FINAL = new Set([SIGNED_OUT, 4404]);
const RESTART = 1012;
const PING_EVERY = 25_000;
const ANSWER_WITHIN = 10_000;
const FIRST_WAIT = 400;
const LONGEST_WAIT = 30_000;
const QUIET_DROP = 3_000;
const ACK_EVERY = 20;

export class Socket {
  #url;
  #on;
  #socket = null;
  #attempts = 0;
  #retry = null;
  #ping = null;
  #deadline = null;
  #notice = null;
  #ended = false;
  #unacked = 0;

  // on: {seq() -> last number applied, frame(object), live(), down(), ended(signedOut)}
  constructor(url, on) {
    this.#url = url;
    this.#on = on;
    window.addEventListener("online", () => this.#hurry());
    window.addEventListener("offline", () => this.#socket?.close());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.#hurry());
  }

  get live() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  open() {
    if (this.#ended || this.#socket) return;
    clearTimeout(this.#retry);
    this.#retry = null;
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.addEventListener("open", () => this.#opened());
    socket.addEventListener("message", (event) => socket === this.#socket && this.#received(event.data));
    socket.addEventListener("close", (event) => socket === this.#socket && this.#closed(event.code));
    this.#expectAnswer();
  }

  // Begin again from the last applied number: the one cure for every doubt.
  reopen() {
    if (!this.#ended) this.#closed(0);
  }

  end(code) {
    if (this.#ended) return;
    this.#ended = true;
    this.#drop();
    clearTimeout(this.#retry);
    clearTimeout(this.#notice);
    this.#on.ended(code === SIGNED_OUT);
  }

  send(frame) {
    if (!this.live) return false;
    this.#socket.send(JSON.stringify({ v: 1, ...frame }));
    return true;
  }

  #opened() {
    this.send({ kind: "hello", last_seq: this.#on.seq() });
  }

  #received(data) {
    clearTimeout(this.#deadline);
    const frame = JSON.parse(data);
    if (frame.kind === "welcome") this.#welcomed();
    if (frame.kind !== "pong") this.#on.frame(frame);
    if (frame.seq && (this.#unacked += 1) >= ACK_EVERY) this.#ack();
  }

  #ack() {
    this.#unacked = 0;
    this.send({ kind: "ack", seq: this.#on.seq() });
  }

  #welcomed() {
    this.#attempts = 0;
    clearTimeout(this.#notice);
    this.#notice = null;
    clearInterval(this.#ping);
    this.#ping = setInterval(() => this.#ask(), PING_EVERY);
    this.#on.live();
  }

  #ask() {
    this.send({ kind: "ping" });
    this.#expectAnswer();
  }

  #expectAnswer() {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#closed(0), ANSWER_WITHIN);
  }

  #closed(code) {
    this.#drop();
    clearTimeout(this.#retry);
    if (FINAL.has(code)) return this.end(code);
    this.#notice ??= setTimeout(() => this.#on.down(), QUIET_DROP);
    this.#retry = setTimeout(() => this.open(), this.#wait(code));
    return undefined;
  }

  #wait(code) {
    const most = code === RESTART ? 5_000 : Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#attempts);
    this.#attempts += 1;
    return code === RESTART ? most * Math.random() : most * (0.5 + Math.random() / 2);
  }

  #drop() {
    clearInterval(this.#ping);
    clearTimeout(this.#deadline);
    const socket = this.#socket;
    this.#socket = null;
    this.#unacked = 0;
    socket?.close();
  }

  #hurry() {
    if (this.#ended) return;
    if (this.#socket === null) this.open();
    else if (this.live) this.#ask();
  }
}
