// The review page: shows one problem at a time and sends rulings. All data is set as text, never as HTML.
"use strict";

const REASONS = {
  keep: ["right_as_it_is", "match_is_harmless", "answers_agree"],
  drop: ["wrong_answer", "not_answerable", "several_answers", "contaminated", "badly_worded", "needs_figure", "too_easy"],
  fix: ["wrong_answer", "wrong_form", "incomplete_answer"],
};
const TITLES = { keep: "Why keep it?", drop: "Why drop it?", fix: "What is the right answer, and what was wrong?" };
const at = (id) => document.getElementById(id);
const state = { entries: [], shown: [], place: 0, item: null, asked: null, raw: false, plain: false };

async function call(path, body) {
  const options = body && { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, options);
  if (!answer.ok) throw new Error((await answer.json()).detail || answer.statusText);
  return answer.json();
}

// marks that override the text direction: with them a text could display other words than it contains
const visible = (text) => text.replace(/[\u202d\u202e]/g, (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase()}]`);

function element(tag, text, className) {
  const made = document.createElement(tag);
  made.textContent = visible(text);
  if (className) made.className = className;
  return made;
}

function textBox(tag, text, className) {
  const made = element(tag, text, className);
  if (!state.plain) setFormulas(made, visible(text));
  return made;
}

function setText(id, text) {
  at(id).textContent = visible(text ?? "");
  if (text && !state.plain) setFormulas(at(id), visible(text), id === "ground_truth");
}

async function show(place) {
  state.place = Math.max(0, Math.min(place, state.shown.length - 1));
  const entry = state.shown[state.place];
  if (!entry) return;
  state.item = null;
  const item = await call(`/api/items/${entry.index}`);
  if (entry !== state.shown[state.place]) return; // a later key press chose another problem, which is shown instead
  state.item = item;
  state.plain = state.raw || item.kind === "code"; // in a program, dollars are not formulas
  document.body.classList.toggle("raw", state.plain);
  at("why").textContent = item.queue;
  at("automatic").textContent = item.drop_reason ? `dropped: ${item.drop_reason}` : "kept";
  for (const name of ["prompt", "ground_truth", "tests", "solution", "item_text"]) setText(name, item[name]);
  if (!item.ground_truth) at("ground_truth").textContent = "none";
  at("source").textContent = item.source;
  at("choices").replaceChildren(...item.choices.map((choice) => textBox("li", choice, "text")));
  at("evidence").replaceChildren(...item.evidence.flatMap(([name, value]) => [element("dt", name), element("dd", value)]));
  at("samples").replaceChildren(...item.samples.map(sampleBox));
  at("evidence").closest("section").hidden = !item.evidence.length && !item.item_text;
  for (const name of ["tests", "tests_title"]) at(name).hidden = !item.tests;
  for (const name of ["ground_truth", "truth_title"]) at(name).hidden = item.kind === "code" && !item.ground_truth;
  at("item_title").hidden = !item.item_text;
  at("solution").closest("section").hidden = !item.solution;
  at("samples").closest("section").hidden = !item.samples.length;
  for (const section of document.querySelectorAll("main, main section")) section.scrollTop = 0;
  showProgress();
}

function sampleBox(sample) {
  const box = element("div", "", `sample ${sample.verdict}`);
  box.append(element("p", `${sample.verdict} · ${sample.verdict_reason} · ${sample.num_tokens} tokens`, "faint"));
  box.append(textBox("div", sample.text, "text"));
  return box;
}

function showProgress() {
  const entry = state.shown[state.place];
  const num_done = state.shown.filter((one) => one.ruling).length;
  at("progress").max = state.shown.length;
  at("progress").value = num_done;
  at("position").textContent = `${state.place + 1} of ${state.shown.length} · ${num_done} ruled`;
  at("ruled").textContent = entry.ruling ? `you: ${entry.ruling}` : "";
  for (const name of ["keep", "drop", "fix"]) at(name).classList.toggle("chosen", entry.ruling === name);
}

function setStatus(text, isError) {
  at("status").textContent = text;
  at("status").classList.toggle("error", Boolean(isError));
}

/** Sends a ruling to the server; returns the server's objection, if any. */
async function rule(decision, reason, answer) {
  const entry = state.shown[state.place];
  if (!state.item) return setStatus("still loading; press again", true); // no ruling before the problem is shown
  try {
    await call("/api/rulings", { index: entry.index, decision, reason, ground_truth: answer });
    entry.ruling = decision;
    setStatus(`${decision} saved`);
    if (state.place + 1 < state.shown.length) await show(state.place + 1); else showProgress();
  } catch (error) {
    setStatus(`not saved: ${error.message}`, true);
    return error.message;
  }
}

function ask(decision) {
  if (!state.item) return setStatus("still loading; press again", true);
  state.asked = decision;
  at("ask_title").textContent = TITLES[decision];
  at("answer_label").hidden = decision !== "fix";
  at("answer").required = decision === "fix";
  at("answer").value = decision === "fix" ? state.item.ground_truth ?? "" : "";
  at("reason").value = at("refused").textContent = "";
  at("reasons").textContent = REASONS[decision].map((reason, number) => `${number + 1} ${reason}`).join(" · ");
  at("ask").showModal();
  at(decision === "fix" ? "answer" : "reason").focus();
}

async function answered() {
  if (at("ask").returnValue !== "save") return;
  const typed = at("reason").value.trim();
  const reason = REASONS[state.asked][Number(typed) - 1] ?? typed;
  const refusal = await rule(state.asked, reason, state.asked === "fix" ? at("answer").value.trim() : null);
  if (!refusal) return;
  at("refused").textContent = refusal; // the form still has the typed text
  at("ask").showModal();
}

function chooseQueue() {
  const wanted = at("queue").value;
  state.shown = state.entries.filter((entry) => !wanted || entry.queue === wanted);
  show(nextOpen(-1));
}

function nextOpen(from) {
  const place = state.shown.findIndex((entry, number) => number > from && !entry.ruling);
  return place < 0 ? Math.max(from, 0) : place;
}

function scroll(event) {
  const boxes = [...document.querySelectorAll("main section:not([hidden])"), document.querySelector("main")];
  const box = boxes.find((one) => one === document.activeElement) ?? boxes.find((one) => one.scrollHeight > one.clientHeight + 1);
  box?.scrollBy({ top: SCROLLS[event.key] * box.clientHeight });
}

const SCROLLS = { ArrowDown: 0.15, ArrowUp: -0.15, PageDown: 0.9, PageUp: -0.9 }; // shares of the visible height
const KEYS = {
  k: () => rule("keep", "", null), K: () => ask("keep"), d: () => ask("drop"), f: () => ask("fix"),
  ArrowDown: scroll, ArrowUp: scroll, PageDown: scroll, PageUp: scroll, q: () => at("queue").focus(),
  n: () => show(state.place + 1), ArrowRight: () => show(state.place + 1),
  p: () => show(state.place - 1), ArrowLeft: () => show(state.place - 1),
  u: () => show(nextOpen(state.place)), r: () => { state.raw = !state.raw; show(state.place); },
  "?": () => at("help").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || at("ask").open || at("help").open) return;
  if (event.target instanceof HTMLSelectElement) {
    if (event.key === "Enter" || event.key === "Escape") event.target.blur();
    return;
  }
  if (!KEYS[event.key]) return;
  event.preventDefault();
  Promise.resolve(KEYS[event.key](event)).catch((error) => setStatus(`cannot load: ${error.message}`, true));
});

async function start() {
  const queue = await call("/api/queue");
  state.entries = queue.entries;
  at("reviewer").textContent = `as ${queue.reviewer}`;
  const counts = Map.groupBy(queue.entries, (entry) => entry.queue);
  at("queue").append(new Option(`all (${queue.entries.length})`, ""));
  for (const [name, entries] of counts) at("queue").append(new Option(`${name} (${entries.length})`, name));
  at("queue").addEventListener("change", chooseQueue);
  at("keep").addEventListener("click", KEYS.k);
  at("drop").addEventListener("click", KEYS.d);
  at("fix").addEventListener("click", KEYS.f);
  at("next").addEventListener("click", KEYS.n);
  at("previous").addEventListener("click", KEYS.p);
  at("ask").addEventListener("close", answered);
  chooseQueue();
}

start().catch((error) => setStatus(`cannot load: ${error.message}`, true));
