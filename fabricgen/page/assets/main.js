// The page: its sections, the search, the theme and print.
import { orders } from "./cables.js";
import { content, cycles, indexOf, switches } from "./content.js";
import { byId, html, put } from "./dom.js";
import { drawBill } from "./bill.js";
import { drawCompare } from "./compare.js";
import { drawDeadlock } from "./deadlock.js";
import { drawDifferences } from "./differences.js";
import { drawFindings, filterFindings, openErrors } from "./findings.js";
import { drawInspector } from "./inspector.js";
import { drawLossless } from "./lossless.js";
import { drawPackets } from "./packets.js";
import { change, listen, selectNamed, showCables, showCycle, state } from "./state.js";
import { drawTenants } from "./tenants.js";
import { drawTopology } from "./topology.js";
import { drawTraffic } from "./traffic.js";
import { drawVerdict } from "./verdict.js";

const MOST_SUGGESTED = 2000;
const THEME = "fabricgen-theme";

function topologySection(section) {
  put(section,
    html("div", { class: "controls" }, html("h2", { id: "topology-title" }, "Topology"), html("div", { id: "topology-controls", class: "controls" })),
    html("div", { class: "split" },
      html("div", {}, html("div", { id: "stage", class: "card", tabindex: -1 }), html("div", { id: "legend", class: "faint" })),
      html("aside", { id: "inspector", class: "card", "aria-live": "polite", "aria-label": "Selection", tabindex: 0 })));
  drawTopology();
  drawInspector();
}

const SECTIONS = [
  ["compare", "Comparison", content.compare, drawCompare],
  ["topology", "Topology", switches.length, topologySection],
  ["differences", "Differences", content.differences, drawDifferences],
  ["findings", "Findings", !content.compare, drawFindings],
  ["tenants", "Tenants", content.tenants.length, drawTenants],
  ["deadlock", "Deadlock", content.deadlock.length, drawDeadlock],
  ["lossless", "Lossless", content.lossless && content.lossless.length, drawLossless],
  ["traffic", "Traffic", content.traffic.length, drawTraffic],
  ["packets", "Packets", content.packets.length, drawPackets],
  ["bill", "Bill", content.bill, drawBill],
].filter(([, , has]) => has);

function search() {
  const field = byId("search");
  field.hidden = Boolean(content.compare);
  const codes = Object.keys(content.titles);
  put(byId("known"), [...codes, ...switches.slice(0, MOST_SUGGESTED).map((one) => one.name)].map((value) => html("option", { value })));
  field.addEventListener("change", () => {
    const text = field.value.trim();
    if (indexOf.has(text)) {
      selectNamed(text);
      byId("topology").scrollIntoView();
    } else if (text) {
      filterFindings({ text, severity: "" });
      byId("findings").scrollIntoView();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") change({ selected: null });
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      field.focus();
    }
  });
}

// The theme of the system, or the chosen one, which the browser remembers where it may.
function theme() {
  const button = byId("theme");
  const remembered = () => { try { return localStorage.getItem(THEME); } catch { return null; } };
  const remember = (value) => { try { localStorage.setItem(THEME, value); } catch { /* a file may have no storage */ } };
  const apply = (value) => {
    document.documentElement.dataset.theme = value;
    button.textContent = value === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Use ${value === "dark" ? "light" : "dark"} colors`);
  };
  apply(remembered() || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  button.addEventListener("click", () => {
    const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    apply(next);
    remember(next);
  });
}

// The address names the selected switch, so that a link shows it.
function address() {
  const named = decodeURIComponent(location.hash).match(/^#switch=(.*)$/);
  if (named) selectNamed(named[1]);
  listen(() => {
    const chosen = state.selected;
    if (chosen && chosen.kind === "switch") history.replaceState(null, "", `#switch=${encodeURIComponent(switches[chosen.index].name)}`);
    else if (/^#switch=/.test(location.hash)) history.replaceState(null, "", location.pathname + location.search);
  });
}

function print() {
  let restore = () => {};
  addEventListener("beforeprint", () => { restore = openErrors(); });
  addEventListener("afterprint", () => restore());
}

function start() {
  document.title = `${content.verdict.answer}: ${content.fabric.name}`;
  put(byId("fabric"), content.fabric.name);
  put(byId("digest"), (content.fabric.inventory_digest || "").slice(0, 12));
  theme();
  drawVerdict(new Set(SECTIONS.map(([id]) => id)));
  for (const [id, , , draw] of SECTIONS) {
    const section = html("section", { id, "aria-labelledby": `${id}-title` });
    byId("main").append(section);
    draw(section);
  }
  put(byId("nav"), SECTIONS.map(([id, name]) => html("a", { href: `#${id}` }, name)));
  const parts = [`fabricgen ${content.tool.version}`, content.fabric.name];
  if (content.fabric.inventory_digest) parts.push(`inventory ${content.fabric.inventory_digest.slice(0, 16)}`);
  put(byId("foot"), `${parts.join(" · ")} · every number is in --format json`);
  search();
  print();
  if (orders.length) showCables();
  if (cycles.length) showCycle(0);
  address();
}

start();
