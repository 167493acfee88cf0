// Packet runs over time: the fullest queues with their thresholds, the paused ports, the rates of flows.
import { content } from "./content.js";
import { overTime, spans } from "./charts.js";
import { html, put } from "./dom.js";
import { bytes, counted, time } from "./words.js";

const left = (count, one) => (count ? `, ${counted(count, `more ${one}`)} not shown` : "");

function queues(run) {
  const marking = run.queues.find((queue) => queue.kmin_bytes !== null);
  const limits = [];
  if (marking) limits.push(["Kmin", run.times_ns.map(() => marking.kmin_bytes)], ["Kmax", run.times_ns.map(() => marking.kmax_bytes)]);
  if (run.xoff_bytes.length) limits.push(["XOFF of a group", run.xoff_bytes]);
  return html("figure", {}, html("figcaption", {}, `Fullest queues${left(run.more.queues, "queue")}`),
    overTime(`${run.name}: bytes in the fullest queues`, run, run.queues.map((queue) => [queue.name, queue.bytes]), limits, bytes));
}

function pauses(run) {
  const ports = Object.entries(run.pauses);
  if (!ports.length) return html("p", {}, "No port is paused.");
  return html("figure", {}, html("figcaption", {}, `Paused ports, the longest first${left(run.more.pauses, "port")}`),
    spans(`${run.name}: when ports are paused`, run.end_ns, ports));
}

function rates(run) {
  return html("figure", {}, html("figcaption", {}, `Acknowledged payload of flows, mean of ${time(run.rate_window_ns)}${left(run.more.rates, "flow")}`),
    overTime(`${run.name}: rates of flows`, run, Object.entries(run.rates), [], (value) => `${value} Gb/s`));
}

export function drawPackets(section) {
  put(section, html("div", { class: "controls" }, html("h2", { id: "packets-title" }, "Packet runs"),
    html("span", { class: "faint" }, "from simulate packets --series")),
  content.packets.map((run) => html("div", {}, html("h3", {}, run.name, html("span", { class: "faint" }, ` ${time(run.end_ns)}`)),
    html("div", { class: "charts" }, run.queues.length > 0 && queues(run), Object.keys(run.rates).length > 0 && rates(run), pauses(run)))));
}
