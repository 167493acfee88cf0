// Traffic: each pattern in a row, and of the chosen one its curve, its link loads, its victims and its trees.
import { content } from "./content.js";
import { byId, html, linkButton, put, table } from "./dom.js";
import { curves, heat } from "./charts.js";
import { change, listen, showTree, state } from "./state.js";
import { counted, number, time, times } from "./words.js";

const nameOf = (one) => (one.plane ? `${one.pattern}, ${one.plane}` : one.pattern);
const ROLES = ["leaf", "spine", "core", "host", ""];

function patterns() {
  return table("Traffic patterns", [["Pattern"], ["Flows", true], ["Fullest link", true], ["Median", true], ["99th", true], ["Slowest", true], ["Paused ports", true], ["Victims", true]],
    content.traffic.map((one, index) => {
      const row = [linkButton(nameOf(one), () => change({ pattern: index, tree: 0, ...(state.overlay === "tree" ? { overlay: "links" } : {}) }), { "aria-current": index === state.pattern ? "true" : null }),
        number(one.flows), times(one.drawn_load ?? one.max_load), times(one.ratio.p50), times(one.ratio.p99), times(one.ratio.max), number(one.paused_ports), number(one.victims)];
      row.className = index === state.pattern ? "on" : null;
      return row;
    }));
}

function loads(one) {
  const role = new Map(content.topology.switches.map((row) => [row[0], row[2]]));
  const rows = new Map();
  for (const [device, toward, ports, mean, max] of one.loads) {
    const from = role.get(device) ?? "";
    const key = `${ROLES.indexOf(from)}${ROLES.indexOf(toward)}`;
    if (!rows.has(key)) rows.set(key, { name: `${from || "switch"} → ${toward || "switch"}`, cells: [] });
    rows.get(key).cells.push([`${device} to ${toward || "switches"}: ${counted(ports, "port")}, mean ${mean.toFixed(2)}, highest ${max.toFixed(2)}`, max]);
  }
  const ordered = [...rows].sort(([a], [b]) => a.localeCompare(b)).map(([, row]) => row);
  const most = Math.max(1, ...one.loads.map((row) => row[4]));
  return ordered.length
    ? html("figure", {}, html("figcaption", {}, "Highest load of a port of each switch, by tier"), heat(`Load by tier, at most ${most.toFixed(2)} of the capacity`, ordered, most))
    : null;
}

function curve(one) {
  const timed = content.traffic.filter((each) => each.curve.length);
  if (!one.curve.length) return one.reason ? null : html("p", { class: "faint" }, "No flow completes.");
  const even = timed.every((each) => each.curve.every(([ratio]) => Math.abs(ratio - 1) < 0.005));
  const paused = timed.some((each) => each.paused_ports);
  if (even) return html("p", {}, "Every flow completes within 0.5 % of the time of fair sharing", paused ? ". Pauses spread no further than to flows of the full links." : ": no port is paused.");
  return html("figure", {}, html("figcaption", {}, "Share of the flows that are done, by completion time over fair sharing"),
    curves(`${nameOf(one)}: median ${times(one.ratio.p50)}, slowest ${times(one.ratio.max)} the time of fair sharing`, "× the time of fair sharing",
      timed.filter((each) => each !== one).concat(one).map((each) => ({ name: nameOf(each), points: each.curve, on: each === one }))));
}

function victims(one) {
  if (!one.slowest.length) return null;
  return html("details", {}, html("summary", {}, `${counted(one.victims, "victim")}: flows that others delay`),
    table("Victims", [["From"], ["To"], ["Time", true], ["Fair time", true], ["Factor", true], ["Why"]],
      one.slowest.map((flow) => [html("span", { class: "mono" }, flow.src), html("span", { class: "mono" }, flow.dst), time(flow.fct_ns), time(flow.fair_ns), times(flow.hol_factor), flow.label])));
}

function trees(one) {
  if (!one.trees.length) return null;
  return html("details", {}, html("summary", {}, `${counted(one.trees.length + one.more_trees, "congestion tree")}: where pauses begin`),
    table("Congestion trees", [["Root"], ["Kind"], ["Depth", true], ["Paused ports", true], ["Victims", true], [""]],
      one.trees.map((tree, index) => [html("span", { class: "mono" }, tree.root.join(" ")), tree.kind, number(tree.depth), number(tree.channels), number(tree.victims),
        linkButton("show", () => { showTree(state.pattern, index); byId("topology").scrollIntoView(); })])));
}

const failedNames = (one) => html("span", { class: "mono" }, one.failed.join(" and "));
const gbytes = (value) => `${+value.toPrecision(4)} GB/s`;
const left = (one) => (one ? [one.bus_gbytes === null ? "" : `${gbytes(one.bus_gbytes)}, `, `${+(one.share * 100).toFixed(1)} %`] : "–");
const HOW = { orbits: "the others are equal by symmetry", each: "each", sample: "a sample" };

function failures(one) {
  if (!one.failures.length) return null;
  const judged = one.failures.filter((each) => !each.reason);
  return html("div", { class: "costs" }, html("h3", {}, "What a failure costs"),
    one.failures.filter((each) => each.reason).map((each) => html("p", { class: "faint" }, `Not judged: ${each.reason}.`)),
    judged.length > 0 && table("What failures cost", [["Failures"], ["Judged"], ["Without a failure", true], ["Median", true], ["Worst", true], ["Worst failure"], ["Stop the job", true]],
      judged.map((each) => [`${counted(each.sets, "set")} of ${each.depth} ${each.switches ? "link or switch" : "link"}${each.depth === 1 ? "" : each.switches ? "es" : "s"}`, `${number(each.judged)}, ${HOW[each.how]}`,
        each.bus_gbytes === null ? time(each.time_ns) : gbytes(each.bus_gbytes), left(each.median), left(each.worst), each.worst && each.worst.share < 0.9995 ? failedNames(each.worst) : "none costs bandwidth", number(each.stopping)])),
    judged.map((each) => each.outcomes.filter((outcome) => outcome.share < 0.9995)).filter((each) => each.length > 1).map((each) =>
      html("details", {}, html("summary", {}, `the ${number(each.length)} worst failures that were judged`),
        table("The worst failures", [["Failed"], ["Stands for", true], ["Bandwidth left", true], ["GPUs cut off", true]],
          each.map((outcome) => [failedNames(outcome), counted(outcome.sets, "set"), left(outcome), number(outcome.cut_off)])))));
}

function drawBody() {
  const one = content.traffic[state.pattern];
  put(byId("traffic-body"), patterns(),
    one.oversubscribed.length > 0 && html("p", {}, "Oversubscribed: ", one.oversubscribed.map((each) =>
      `${each.tier}${each.rail === null ? "" : ` of rail ${each.rail}`} ${each.ratio}:1 at ${each.device}`).join("; "), "."),
    one.reason && html("p", { class: "faint" }, `${nameOf(one)}: ${one.reason}.`),
    html("div", { class: "two" }, html("div", {}, curve(one)), html("div", {}, loads(one))), victims(one), trees(one), failures(one));
}

export function drawTraffic(section) {
  put(section, html("div", { class: "controls" }, html("h2", { id: "traffic-title" }, "Traffic"),
    html("span", { class: "faint" }, "times are over those of fair (max-min) sharing of the same paths; below 1 × a flow gains while others wait")),
  html("div", { id: "traffic-body" }));
  const slowest = content.traffic.map((one) => one.ratio.max || 0);
  state.pattern = slowest.indexOf(Math.max(...slowest));
  drawBody();
  listen((values) => {
    if ("pattern" in values) drawBody();
  });
}
