// SPDX-License-Identifier: Apache-2.0
// The table of groups, searched and sorted, and one group in detail. The address bar keeps what is shown: #q=...&group=...
"use strict";

const kPage = 200; // rows added at a time
const kKindNames = { use_after_release: "use after release", open_session: "open session", left_alive: "left alive" };
const kindName = (kind) => kKindNames[kind] || kind;

const table = { query: "", hidden: new Set(["held"]), key: "bytes", down: true, shown: kPage, rows: [], selected: null };

const firstOfProgram = (group) => framesOf(group.stack).find((frame) => frame.user);
const placeText = (frame) => (frame.file ? `${base(frame.file)}:${frame.line}` : frame.library);

const kColumns = [
  { key: "kind", title: "kind", value: (group) => kindName(group.kind) },
  { key: "bytes", title: "bytes", number: true, value: (group) => group.bytes },
  { key: "count", title: "tensors", number: true, value: (group) => group.count },
  { key: "operator", title: "made by", value: (group) => `${group.operator} ${group.tensor}` },
  { key: "place", title: "place", value: (group) => group.place },
];

function prepareGroups() {
  report.groups.forEach((group, number) => {
    const frame = firstOfProgram(group);
    group.number = number;
    group.place = frame ? `${frame.name} ${placeText(frame)}` : group.scopes;
    const frames = [group.stack, ...(group.graph?.sites || []).map((site) => site.stack)].flatMap(framesOf);
    const sites = (group.graph?.sites || []).map((site) => `${site.operator} ${site.tensor}`);
    group.haystack = [kindName(group.kind), group.title, group.operator, group.tensor, group.scopes, ...sites, ...group.holders,
      ...frames.filter((one) => one.user).map((one) => `${one.name} ${one.file}:${one.line}`)].join("\n").toLowerCase();
  });
}

/** Every word must occur. */
function fits(group) {
  return !table.hidden.has(group.kind) &&
    table.query.toLowerCase().split(/\s+/).every((word) => group.haystack.includes(word));
}

function sortRows() {
  const { value } = kColumns.find((column) => column.key === table.key);
  const sign = table.down ? -1 : 1;
  table.rows.sort((a, b) => {
    const [one, two] = [value(a), value(b)];
    const order = typeof one === "number" ? one - two : String(one).localeCompare(String(two));
    return sign * order || a.number - b.number;
  });
}

function rowOf(group) {
  const frame = firstOfProgram(group);
  const row = make("tr", { tabIndex: 0, "aria-selected": String(group === table.selected), data: { group: String(group.number), bytes: String(group.bytes), count: String(group.count) } },
    make("td", {}, make("span", { className: `kind ${group.kind}` }, kindName(group.kind))),
    make("td", { className: "number", title: plural(group.bytes, "byte", "bytes") }, bytesText(group.bytes)),
    make("td", { className: "number" }, whole(group.count)),
    make("td", {}, make("div", { className: "made" }, group.operator ? `${group.operator} ${group.tensor}` : "")),
    make("td", {}, frame ? make("div", { className: "name" }, frame.name) : null,
      make("div", { className: "where" }, frame ? placeText(frame) : group.scopes)));
  row.addEventListener("click", () => select(group));
  row.addEventListener("keydown", (event) => { if (event.key === "Enter") select(group); });
  return row;
}

function drawRows() {
  byId("groups").tBodies[0].replaceChildren(...table.rows.slice(0, table.shown).map(rowOf));
  const left = table.rows.length - table.shown;
  byId("more").hidden = left <= 0;
  byId("more").textContent = `show ${whole(Math.min(kPage, left))} more of ${whole(left)}`;
  const bytes = table.rows.reduce((sum, group) => sum + group.bytes, 0);
  byId("found").textContent = `${plural(table.rows.length, "group", "groups")}, ${bytesText(bytes)}` +
    (table.rows.length === report.groups.length ? "" : `, of ${whole(report.groups.length)}`);
  byId("found").dataset.groups = String(table.rows.length);
}

function update() {
  table.rows = report.groups.filter(fits);
  sortRows();
  table.shown = kPage;
  drawRows();
  keepAddress();
}

function keepAddress() {
  const address = new URLSearchParams();
  if (table.query) address.set("q", table.query);
  if (table.selected) address.set("group", String(table.selected.number));
  const text = address.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
}

function stackList(stack) {
  const frames = framesOf(stack);
  if (!frames.length) return make("p", { className: "quiet" }, "no stack was taken");
  const all = frames.map((frame) => make("li", { className: frame.user ? "user" : "library" }, `${frame.name} `,
    frame.file ? make("span", { className: "at" }, `${frame.file}:${frame.line}${frame.column ? `:${frame.column}` : ""}`)
      : make("span", { className: "at" }, `in ${frame.library}`)));
  const users = all.filter((item) => item.className === "user");
  if (users.length === all.length || !users.length) return make("ol", {}, all);
  const list = make("ol", {}, users);
  const toggle = make("button", { type: "button" }, `with ${plural(all.length - users.length, "frame", "frames")} of LibTorch and the system`);
  toggle.addEventListener("click", () => { list.replaceChildren(...all); toggle.remove(); });
  return make("div", {}, list, toggle);
}

function graphList(graph) {
  if (!graph?.count) return [];
  return [make("h4", {}, `its backward() keeps ${bytesText(graph.bytes)} in ${plural(graph.count, "tensor", "tensors")}`),
    ...graph.sites.slice(0, 100).map((site) => make("details", { className: "site", data: { bytes: String(site.bytes) } },
      make("summary", {}, `${bytesText(site.bytes)} in ${plural(site.count, "tensor", "tensors")} of ${site.operator} ${site.tensor}`),
      stackList(site.stack))),
    graph.sites.length > 100 ? make("p", { className: "quiet" }, `and ${whole(graph.sites.length - 100)} more places`) : null];
}

function factsOf(group) {
  const facts = [["bytes", plural(group.bytes, "byte", "bytes")], ["tensors", whole(group.count)],
    ["made by", group.operator ? `${group.operator} ${group.tensor}` : ""], ["in", group.scopes],
    ["runs", group.runs ? whole(group.runs) : ""], ["grows", group.growth], ["processes", group.ranks]];
  return make("dl", {}, facts.filter(([, value]) => value).map(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

function select(group) {
  table.selected = group;
  for (const row of byId("groups").tBodies[0].rows) {
    row.setAttribute("aria-selected", String(group !== null && row.dataset.group === String(group.number)));
  }
  byId("detail").hidden = group === null;
  document.querySelector(".columns").classList.toggle("open", group !== null);
  if (group !== null) {
    const close = make("button", { type: "button", id: "close", title: "close (Escape)" }, "close");
    close.addEventListener("click", () => select(null));
    byId("detail").replaceChildren(...[make("div", { className: "top" }, make("h3", {}, group.title), close),
      group.advice ? make("p", { className: "advice" }, group.advice) : null, factsOf(group),
      group.holders.length ? make("h4", {}, "who holds them") : null,
      group.holders.length ? make("ul", { className: "holders" }, group.holders.map((holder) => make("li", {}, holder))) : null,
      ...group.stacks.flatMap(([title, stack]) => [make("h4", {}, title), stackList(stack)]),
      ...graphList(group.graph)].filter(Boolean));
    byId("detail").dataset.group = String(group.number);
    byId("detail").scrollTop = 0;
  }
  keepAddress();
}

function drawKinds() {
  const counts = new Map();
  for (const group of report.groups) counts.set(group.kind, (counts.get(group.kind) || 0) + 1);
  if (counts.size === 1) table.hidden.clear();
  byId("kinds").append(...[...counts].map(([kind, count]) => {
    const button = make("button", { type: "button", "aria-pressed": String(!table.hidden.has(kind)), data: { kind } },
      `${kindName(kind)} ${whole(count)}`);
    button.addEventListener("click", () => {
      if (!table.hidden.delete(kind)) table.hidden.add(kind);
      button.setAttribute("aria-pressed", String(!table.hidden.has(kind)));
      update();
    });
    return button;
  }));
}

function drawHead() {
  const cells = kColumns.map((column) => {
    const cell = make("th", { scope: "col", className: column.number ? "number" : "", data: { key: column.key } },
      make("button", { type: "button" }, column.title));
    cell.addEventListener("click", () => {
      table.down = table.key === column.key ? !table.down : Boolean(column.number);
      table.key = column.key;
      markSort();
      update();
    });
    return cell;
  });
  byId("groups").tHead.rows[0].append(...cells);
  markSort();
}

function markSort() {
  for (const cell of byId("groups").tHead.rows[0].cells) {
    if (cell.dataset.key === table.key) cell.setAttribute("aria-sort", table.down ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  }
}

function startTable() {
  prepareGroups();
  drawKinds();
  drawHead();
  const search = byId("search");
  search.addEventListener("input", () => { table.query = search.value.trim(); update(); });
  byId("more").addEventListener("click", () => { table.shown += kPage; drawRows(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && table.selected) {
      select(null);
    }
  });
  const address = new URLSearchParams(location.hash.slice(1));
  const group = report.groups[Number(address.get("group") ?? -1)] || null;
  table.query = search.value = address.get("q") || "";
  update();
  if (group) select(group);
}

startTable();
