// SPDX-License-Identifier: Apache-2.0
// The page's frame: the report's data, words for numbers, the header and its cards. Everything that comes from the report
// is put in as text, never as markup.
"use strict";

const report = JSON.parse(document.getElementById("report").textContent);
const byId = (id) => document.getElementById(id);

/** A new element: its properties, then children (elements, texts; null is left out). */
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name === "data") Object.assign(element.dataset, value);
    else if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

const whole = (number) => number.toLocaleString("en-US");
const plural = (count, one, many) => `${whole(count)} ${count === 1 ? one : many}`;

/** With three digits and a unit. */
function bytesText(bytes) {
  if (Math.abs(bytes) < 1024) return plural(bytes, "byte", "bytes");
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
  let value = bytes / 1024;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

function secondsText(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

const base = (path) => path.slice(path.lastIndexOf("/") + 1);

/** Frames are lists, to be short: function, file, line, column, library, whether they are the program's. */
function frameOf(number) {
  const [name, file, line, column, library, user] = report.frames[number];
  return { name: name || `in ${library || "unknown code"}`, file, line, column, library, user };
}

const framesOf = (stack) => (stack === null || stack === undefined ? [] : report.stacks[stack].map(frameOf));

function card(name, value, more, kind, exact) {
  return make("div", { className: `card ${kind || ""}`, data: { name, exact: String(exact) } },
    make("div", { className: "name" }, name), make("div", { className: "value" }, value), make("div", { className: "more" }, more));
}

function bytesCard(name, bytes, count, kind) {
  return card(name, bytesText(bytes), count === null ? plural(bytes, "byte", "bytes")
    : `${plural(bytes, "byte", "bytes")} in ${plural(count, "tensor", "tensors")}`, kind, bytes);
}

function drawCards() {
  const { leaked, escaped, held, attributed } = report.totals;
  const cards = [bytesCard("leaked", leaked.bytes, leaked.count, leaked.bytes ? "bad" : "good")];
  if (escaped.count) cards.push(card("escaped and still held", whole(escaped.count), "their memory is free", "bad", escaped.count));
  if (report.uses) cards.push(card("uses after release", whole(report.uses), "places", "bad", report.uses));
  if (report.sessions) cards.push(card("sessions left open", whole(report.sessions), "", "bad", report.sessions));
  cards.push(bytesCard("held, no leak", held.bytes, held.count, ""));
  for (const device of report.devices) {
    cards.push(bytesCard(`live on ${device.device}`, device.live_bytes, null, ""));
    cards.push(bytesCard(`peak on ${device.device}`, device.peak_bytes, null, ""));
  }
  if (attributed.of) {
    const share = Math.min(100, (100 * attributed.bytes) / attributed.of);
    cards.push(card("attributed", `${share.toFixed(1)} %`, `of ${plural(attributed.of, "byte", "bytes")}`, "", attributed.bytes));
  }
  byId("cards").append(...cards);
}

function drawHeader() {
  const name = base(report.processes[0]?.program || "") || "report";
  byId("program").textContent = name;
  document.title = `${name}: tensorscope report`;
  const words = (process) => [process.program,
    Number.isInteger(process.rank) ? `rank ${process.rank}` : null,
    process.pid ? `process ${process.pid}` : null, process.host ? `on ${process.host}` : null, process.time]
    .filter(Boolean).join(", ");
  byId("process").textContent = report.processes.length > 1 ? `${report.processes.length} processes` : report.processes.map(words).join("");
  byId("process").title = report.processes.map(words).join("\n");
  byId("summary").textContent = report.summary;
  const remarks = [...report.health];
  if (!report.main_returned) remarks.push("main() had not returned: what its variables hold was not looked at");
  for (const rule of report.suppressed) {
    remarks.push(`suppressed by '${rule.rule}': ${plural(rule.bytes, "byte", "bytes")} in ${plural(rule.count, "tensor", "tensors")}`);
  }
  byId("remarks").append(...remarks.map((line) => make("li", {}, line)));
}

drawHeader();
drawCards();
