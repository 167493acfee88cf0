// What is known about the selection: identity, findings, peers, and every value with its origin.
import { workOrder } from "./cables.js";
import { content, findingsOf, hostsOf, levelOf, outsideOf, peersOf, switches, withFindings } from "./content.js";
import { byId, facts, html, linkButton, put } from "./dom.js";
import { change, listen, selectNamed, selectSwitch, state } from "./state.js";
import { tenantsAt } from "./tenants.js";
import { counted, metres, number, speed } from "./words.js";

const MOST_PEERS = 60;
const mono = (text) => html("span", { class: "mono" }, text);

function title(text, sub) {
  return html("div", { class: "head" }, html("h3", { class: "mono" }, text),
    linkButton("Close", () => change({ selected: null }), { class: "close" }), html("p", { class: "faint" }, sub));
}

// Those of the plan, and those that the links between switches have, if they differ.
function lossless(plane, verdict) {
  const names = (priorities) => priorities.join(", ") || "none";
  if (!plane.lossless) return null;
  if (!verdict || verdict.model !== "bgp" || verdict.verdict === "unknown" || names(plane.lossless) === names(verdict.priorities)) return names(plane.lossless);
  return `planned ${names(plane.lossless)}; between switches ${names(verdict.priorities)}`;
}

function ofPlane() {
  const plane = content.fabric.planes.find((one) => one.name === state.plane) || {};
  const verdict = content.deadlock.find((one) => one.name === state.plane) || content.deadlock[0];
  const members = switches.filter((one) => one.plane === state.plane);
  const found = withFindings().filter(([name]) => members.some((one) => one.name === name));
  return [
    html("h3", {}, state.plane ? `Plane ${state.plane}` : "Fabric"),
    facts([
      ["Design", plane.design], ["Technology", plane.technology === "roce" && !plane.lossless.length ? "ethernet" : plane.technology], ["Purpose", plane.purpose],
      ["Load balancing", plane.load_balancing && `${plane.load_balancing.mode}, by ${plane.load_balancing.per}`],
      ["Lossless priorities", lossless(plane, verdict)], ["Switches", number(members.length)],
      ["Deadlock", verdict && verdict.statement.text],
      ["Failures", verdict && verdict.failures.statement && verdict.failures.statement.text],
      ["Links from", content.fabric.links_from],
    ]),
    found.length
      ? [html("h4", {}, "Switches with findings"), html("ul", { class: "plain" }, found.slice(0, 20).map(([name]) =>
        html("li", {}, linkButton(name, () => selectNamed(name), { class: "link mono" }),
          html("b", { class: `level-${levelOf(name) || "none"}` }, number(findingsOf(name).length))))),
      found.length > 20 && html("p", { class: "faint" }, `and ${number(found.length - 20)} more`)]
      : html("p", { class: "faint" }, "Select a switch, a line or a finding to see its rows and where each value comes from."),
  ];
}

function ofSwitch(index) {
  const one = switches[index];
  const place = [one.role, one.subplane !== null && `copy ${one.subplane}`, one.pod !== null && `pod ${one.pod}`,
    one.su !== null && `SU ${one.su}`, one.rail !== null && `rail ${one.rail}`].filter(Boolean);
  const peers = peersOf(index);
  const hosts = hostsOf(index);
  const change = content.differences && (content.differences.devices.changed.includes(one.name) ? "changed"
    : content.differences.devices.added.some((each) => each.name === one.name) ? "added" : "unchanged");
  return [
    title(one.name, place.join(" · ")),
    facts([
      ["Platform", mono(one.platform)], ["HwSKU", one.hwsku && mono(one.hwsku)], ["Loopback", one.loopback && mono(one.loopback)],
      ["Management", one.management && mono(one.management)], ["Rack", [one.rack, one.unit].filter(Boolean).join(" unit ")],
      ["State", one.state], ["Hosts", one.hosts ? `${number(one.hosts)} by ${counted(one.host_links, "link")}` : null],
      ["NICs by tenant", tenantsAt(index)],
      ["Outside the fabric", outsideOf(index).map(([name, port, mbps]) => `${name} by ${port} ${speed(mbps)}`).join(", ")],
      ["Against the old bundle", change],
    ]),
    findingList(one.name),
    peers.length > 0 && [html("h4", {}, `Links to ${counted(peers.length, "switch", "switches")}`),
      html("ul", { class: "plain" }, peers.slice(0, MOST_PEERS).map((peer) =>
        html("li", {}, linkButton(switches[peer.other].name, () => selectSwitch(peer.other), { class: "link mono" }),
          html("span", { class: "faint" }, `${peer.links} × ${speed(peer.speed)} ${metres(peer.length)}`),
          peer.ports && linkButton("ports", () => pick({ kind: "pair", a: index, b: peer.other }))))),
      peers.length > MOST_PEERS && html("p", { class: "faint" }, `and ${number(peers.length - MOST_PEERS)} more`)],
    hosts.length > 0 && html("details", {}, html("summary", {}, counted(hosts.length, "host link")),
      html("ul", { class: "plain" }, hosts.map(([host, nic, port, mbps, length, , access]) =>
        html("li", {}, mono(`${host} ${nic}`), html("span", { class: "faint" }, [`${port} ${speed(mbps)} ${metres(length)}`, access].filter(Boolean).join(" · ")))))),
    rowsOf(one),
  ];
}

const pick = (selected) => change({ selected });

function findingList(name) {
  const found = findingsOf(name);
  if (!found.length) return null;
  return [html("h4", {}, counted(found.length, "finding")), html("ul", { class: "plain" }, found.slice(0, 12).map(([index, one]) =>
    html("li", {}, linkButton(`${one.code} ${one.message}`, () => pick({ kind: "finding", index })),
      html("b", { class: `level-${one.severity}` }, one.severity)))), found.length > 12 && html("p", { class: "faint" }, `and ${number(found.length - 12)} more`)];
}

// The rows of a switch by table, each value with its origin. A value that a finding names is marked.
function rowsOf(one) {
  const rows = one.configuration === null ? [] : content.configurations[one.configuration];
  if (!rows.length) return null;
  const named = new Set(findingsOf(one.name).map(([, finding]) => finding.path));
  const byRow = new Map();
  for (const [row, field, value, origin] of rows) {
    if (!byRow.has(row)) byRow.set(row, []);
    byRow.get(row).push([field, value, origin]);
  }
  const field = (row, [name, value, origin]) => html("div", { class: named.has(`${row}|${name}`) ? "value marked" : "value" },
    html("span", {}, name), html("span", { class: "mono" }, value), origin && html("small", {}, origin));
  return [html("h4", {}, "Rows, and where each value comes from"), [...byRow].map(([row, fields]) => {
    const marked = fields.some(([name]) => named.has(`${row}|${name}`));
    return html("details", { open: marked }, html("summary", { class: "mono" }, row), fields.map((each) => field(row, each)));
  })];
}

function ofPair(a, b) {
  const peer = peersOf(a).find((one) => one.other === b);
  return [
    title(`${switches[a].name} – ${switches[b].name}`, peer ? `${counted(peer.links, "link")} of ${speed(peer.speed)}` : "no link"),
    peer && facts([["Cable", [metres(peer.length), peer.medium].filter(Boolean).join(" ")]]),
    html("p", {}, linkButton(switches[a].name, () => selectSwitch(a), { class: "link mono" }), " ", linkButton(switches[b].name, () => selectSwitch(b), { class: "link mono" })),
    peer && peer.ports && html("ul", { class: "plain" }, peer.ports.map(([x, y]) => html("li", {}, mono(x), mono(y)))),
  ];
}

export function placeOf(finding) {
  const { location } = finding;
  return location ? [location.file, location.line, location.column].filter(Boolean).join(":") : "";
}

export function sourceLines(finding) {
  if (!finding.lines.length) return null;
  return html("pre", { tabindex: 0, "aria-label": `Lines of ${placeOf(finding)}` }, finding.lines.map(([line, text]) =>
    html("span", { class: line === finding.location.line ? "at" : null }, `${String(line).padStart(5)}  ${text}\n`)));
}

function ofFinding(index) {
  const one = content.findings[index];
  return [
    title(one.code, content.titles[one.code]),
    html("p", {}, html("b", { class: `level-${one.severity}` }, one.severity), ` ${one.message}`),
    facts([["Row", one.path && mono(one.path)], ["Place", mono(placeOf(one))], ["Fix", one.hint], ["Claim", one.confidence]]),
    sourceLines(one),
    one.related.length > 0 && [html("h4", {}, "See also"), html("ul", {}, one.related.map((each) =>
      html("li", {}, `${each.message} `, html("span", { class: "mono faint" }, placeOf(each)))))],
    one.devices.length > 0 && [html("h4", {}, counted(one.devices.length, "device")), html("ul", { class: "plain" },
      one.devices.slice(0, 40).map((name) => html("li", {}, linkButton(name, () => selectNamed(name), { class: "link mono" }))))],
  ];
}

export function drawInspector() {
  const draw = () => {
    const chosen = state.selected;
    const isOrder = !chosen && state.overlay === "cables";
    const shown = isOrder ? workOrder() : !chosen ? ofPlane() : chosen.kind === "switch" ? ofSwitch(chosen.index)
      : chosen.kind === "pair" ? ofPair(chosen.a, chosen.b) : ofFinding(chosen.index);
    const panel = byId("inspector");
    put(panel, shown);
    panel.classList.toggle("orders", isOrder);
    panel.scrollTop = 0;
  };
  draw();
  listen((values) => {
    if ("selected" in values || "plane" in values || "overlay" in values) draw();
  });
}
