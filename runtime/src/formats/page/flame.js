// SPDX-License-Identifier: Apache-2.0
// The flame graph, the outermost call on top: the width of a frame is the bytes that live and were made below it.
"use strict";

const kRow = 21; // pixels
const kLeastShare = 0.0012; // of the width: what is thinner can't be seen, and a page of ten thousand groups stays quick

const flame = { leakedOnly: true, library: false, root: null, shown: null, depth: 0 };

const flameNode = (name, parent, kind) => ({ name, parent, kind, bytes: 0, children: new Map() });

/** Adds bytes along a path from the root, a node for each name. */
function addPath(root, path, bytes) {
  let node = root;
  node.bytes += bytes;
  for (const [name, kind] of path) {
    if (!node.children.has(name)) node.children.set(name, flameNode(name, node, kind));
    node = node.children.get(name);
    node.bytes += bytes;
  }
}

function pathOf(place) {
  const frames = framesOf(place.stack).filter((frame) => flame.library || frame.user).reverse();
  const calls = frames.map((frame) => [frame.file ? `${frame.name} ${base(frame.file)}:${frame.line}` : frame.name,
    frame.user ? "user" : "library"]);
  if (!calls.length) calls.push(["(no frame of the program)", "library"]);
  return [...calls, [`${place.operator || "an operator"} ${place.tensor}`, "tensor"]];
}

/** The living parts of a group: itself, if its memory is, and what its graph keeps. */
function* placesOf(group) {
  if (group.kind === "escape" || group.kind === "use_after_release") return;
  if (group.kind !== "graph" && group.own > 0) yield { ...group, bytes: group.own };
  yield* group.graph?.sites || [];
}

function buildFlame() {
  const root = flameNode(flame.leakedOnly ? "leaked" : "alive", null, "root");
  for (const group of report.groups) {
    if (flame.leakedOnly && (group.kind === "held" || group.kind === "open_session")) continue;
    for (const place of placesOf(group)) addPath(root, pathOf(place), place.bytes);
  }
  flame.root = flame.shown = root;
}

/** A colour that stays the same for a name. */
function hue(name, kind) {
  let hash = 0;
  for (let i = 0; i < name.length; ++i) hash = (hash * 31 + name.charCodeAt(i)) | 0;
  const spread = Math.abs(hash) % 100;
  if (kind === "tensor") return 150 + spread * 0.4;
  if (kind === "library") return 205 + spread * 0.3;
  return kind === "root" ? 220 : 12 + spread * 0.38;
}

function frameElement(node, left, width, depth, above) {
  const share = flame.root.bytes ? (100 * node.bytes) / flame.root.bytes : 0;
  const text = `${node.name}: ${bytesText(node.bytes)} (${share.toFixed(1)} %)`;
  const element = make("button", { type: "button", className: `frame${above ? " above" : ""}`, title: text,
    data: { bytes: String(node.bytes), kind: node.kind } }, node.name);
  const saturation = node.kind === "root" ? "12%" : "var(--flame-saturation)";
  Object.assign(element.style, { left: `${100 * left}%`, width: `${100 * width}%`, top: `${depth * kRow}px`,
    background: `hsl(${hue(node.name, node.kind)} ${saturation} var(--flame-light))` });
  element.addEventListener("click", () => showFlame(node));
  element.addEventListener("pointerenter", () => { byId("flame-readout").textContent = text; });
  element.addEventListener("focus", () => { byId("flame-readout").textContent = text; });
  return element;
}

function layOut(node, left, width, depth, out) {
  out.push(frameElement(node, left, width, depth, false));
  flame.depth = Math.max(flame.depth, depth + 1);
  let at = left;
  for (const child of [...node.children.values()].sort((a, b) => b.bytes - a.bytes)) {
    const part = (width * child.bytes) / node.bytes;
    if (part < kLeastShare) break;
    layOut(child, at, part, depth + 1, out);
    at += part;
  }
}

function showFlame(node) {
  flame.shown = node;
  flame.depth = 0;
  const above = [];
  for (let up = node.parent; up; up = up.parent) above.unshift(up);
  const elements = above.map((up, depth) => frameElement(up, 0, 1, depth, true));
  layOut(node, 0, 1, above.length, elements);
  byId("flame").replaceChildren(...elements);
  byId("flame").style.height = `${flame.depth * kRow}px`;
  byId("flame-reset").disabled = node === flame.root;
}

function redrawFlame() {
  buildFlame();
  byId("flame-leaked").setAttribute("aria-pressed", String(flame.leakedOnly));
  byId("flame-all").setAttribute("aria-pressed", String(!flame.leakedOnly));
  byId("flame").dataset.bytes = String(flame.root.bytes);
  showFlame(flame.root);
}

function startFlame() {
  byId("flame-leaked").addEventListener("click", () => { flame.leakedOnly = true; redrawFlame(); });
  byId("flame-all").addEventListener("click", () => { flame.leakedOnly = false; redrawFlame(); });
  byId("flame-library").addEventListener("change", (event) => { flame.library = event.target.checked; redrawFlame(); });
  byId("flame-reset").addEventListener("click", () => showFlame(flame.root));
  byId("flame-section").hidden = !report.groups.some((group) => [...placesOf(group)].length);
  flame.leakedOnly = report.totals.leaked.bytes > 0;
  byId("flame-leaked").disabled = !flame.leakedOnly;
  redrawFlame();
}

startFlame();
