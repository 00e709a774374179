// SPDX-License-Identifier: Apache-2.0
// Live bytes over time: one plot for each device; in a merged report a line for each process.
"use strict";

const kLines = 24; // drawn in one plot; more are no use to look at
const kNamed = 8;

const colour = (number, of) => (of === 1 ? "var(--accent)" : `hsl(${(215 + (number * 360) / of) % 360} 60% 52%)`);

/** Round numbers of bytes up to `most`. */
function byteMarks(most) {
  let step = 1;
  while (step * 4 < most) step *= 2;
  const marks = [];
  for (let mark = 0; mark <= most; mark += step) marks.push(mark);
  return marks;
}

function svg(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** A staircase: a value holds until the next. In a box of 1000 by 1000. */
function stairs(times, values, seconds, most) {
  const x = (time) => ((1000 * time) / seconds).toFixed(2);
  const y = (value) => (1000 - (1000 * Math.max(0, value)) / most).toFixed(2);
  let path = "";
  for (let i = 0; i < times.length; ++i) path += `${i ? `H${x(times[i])}V` : `M${x(times[i])} `}${y(values[i])}`;
  return `${path}H1000`;
}

function valueAt(line, time) {
  let low = 0;
  let high = line.times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line.times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low ? { live: line.live[low - 1], peak: line.peak[low - 1] } : { live: 0, peak: 0 };
}

function followPointer(plot, lines, seconds) {
  const cursor = make("div", { className: "cursor", hidden: true });
  const tip = make("div", { className: "tip", hidden: true });
  plot.append(cursor, tip);
  plot.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    const values = lines.map((line) => valueAt(line, share * seconds));
    const live = values.reduce((sum, value) => sum + value.live, 0);
    tip.textContent = `${secondsText(share * seconds)}: ${bytesText(live)} live` +
      (lines.length === 1 ? `, up to ${bytesText(values[0].peak)}` : ` in ${lines.length} processes`);
    cursor.hidden = tip.hidden = false;
    cursor.style.left = `${100 * share}%`;
    tip.style.left = share < 0.6 ? `calc(${100 * share}% + 8px)` : "auto";
    tip.style.right = share < 0.6 ? "auto" : `calc(${100 - 100 * share}% + 8px)`;
  });
  plot.addEventListener("pointerleave", () => { cursor.hidden = tip.hidden = true; });
}

function drawLines(picture, lines, seconds, most) {
  lines.forEach((line, number) => {
    const ink = colour(number, lines.length);
    const path = stairs(line.times, line.live, seconds, most);
    if (lines.length === 1) {
      const x = ((1000 * line.times[0]) / seconds).toFixed(2);
      picture.append(svg("path", { d: `${path}V1000H${x}Z`, fill: "var(--accent-soft)", stroke: "none" }));
      picture.append(svg("path", { d: stairs(line.times, line.peak, seconds, most), fill: "none", stroke: ink,
        "stroke-width": 1, "stroke-opacity": 0.35, "vector-effect": "non-scaling-stroke" }));
    }
    picture.append(svg("path", { d: path, fill: "none", stroke: ink, "stroke-width": 1.6, "vector-effect": "non-scaling-stroke" }));
  });
}

function drawTimeline(device, all) {
  const lines = all.slice(0, kLines);
  const seconds = report.timeline.seconds || 1;
  const most = lines.reduce((peak, line) => Math.max(peak, ...line.peak, ...line.live), 1);
  const picture = svg("svg", { viewBox: "0 0 1000 1000", preserveAspectRatio: "none", "aria-hidden": "true" });
  const plot = make("div", { className: "plot" }, picture);
  for (const mark of byteMarks(most)) {
    const y = 1000 - (1000 * mark) / most;
    picture.append(svg("line", { x1: 0, x2: 1000, y1: y, y2: y, class: "grid" }));
    const label = make("span", { className: "mark y" }, bytesText(mark));
    label.style.top = `${y / 10}%`;
    plot.append(label);
  }
  for (let part = 0; part <= 4; ++part) {
    const label = make("span", { className: "mark x" }, secondsText((seconds * part) / 4));
    label.style.left = `${25 * part}%`;
    plot.append(label);
  }
  drawLines(picture, lines, seconds, most);
  followPointer(plot, lines, seconds);
  const legend = lines.length < 2 ? null : make("div", { className: "legend" },
    lines.slice(0, kNamed).map((line, number) => {
      const dash = make("i");
      dash.style.background = colour(number, lines.length);
      return make("span", {}, dash, line.process || "");
    }), all.length > kNamed ? make("span", {}, `and ${all.length - kNamed} more`) : null);
  return make("div", { className: "timeline", data: { device, points: String(lines[0].times.length), peak: String(most) } },
    make("h3", {}, device), plot, make("div", { className: "times" }), legend);
}

function drawTimelines() {
  const devices = new Map();
  for (const line of report.timeline?.devices || []) {
    if (!line.times?.length) continue;
    if (!devices.has(line.device)) devices.set(line.device, []);
    devices.get(line.device).push(line);
  }
  byId("timelines").append(...[...devices].map(([device, lines]) => drawTimeline(device, lines)));
  byId("timeline-section").hidden = devices.size === 0;
}

drawTimelines();
