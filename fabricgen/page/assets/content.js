// The content of the report, and what the sections look up in it.
import { byId } from "./dom.js";

export const content = JSON.parse(byId("content").textContent);

const topology = content.topology || { columns: [], switches: [], scenes: {}, pairs: [] };

export const switches = topology.switches.map((row) =>
  Object.fromEntries(topology.columns.map((name, index) => [name, row[index]])));
export const scenes = topology.scenes;
export const planes = Object.keys(scenes);
export const indexOf = new Map(switches.map((one, index) => [one.name, index]));
export const hostsOf = (index) => (topology.hosts || {})[index] || [];
export const outsideOf = (index) => (topology.outside || {})[index] || [];

export const RANK = { error: 2, warning: 1, note: 0 };
const onDevice = new Map();
const worstOf = new Map();
content.findings.forEach((finding, index) => {
  for (const name of finding.devices) {
    if (!onDevice.has(name)) onDevice.set(name, []);
    onDevice.get(name).push(index);
    if (finding.caused_by) continue; // the cause colors its own switch
    worstOf.set(name, Math.max(worstOf.get(name) || 0, RANK[finding.severity]));
  }
});

export const findingsOf = (name) => (onDevice.get(name) || []).map((index) => [index, content.findings[index]]);
export const levelOf = (name) => ["", "warning", "error"][worstOf.get(name) || 0];
export const withFindings = () => [...worstOf].filter(([name]) => indexOf.has(name)).sort((a, b) => b[1] - a[1]);

// The peers of each switch, made when the first one is selected: large fabrics have runs of switches.
let adjacent = null;

function connect(a, b, links, speed, length, medium, ports) {
  adjacent[a].push({ other: b, links, speed, length, medium, ports });
  adjacent[b].push({ other: a, links, speed, length, medium, ports: ports && ports.map(([x, y]) => [y, x]) });
}

export function peersOf(index) {
  if (adjacent === null) {
    adjacent = switches.map(() => []);
    for (const pair of topology.pairs || []) connect(...pair);
    for (const [a, links, speed, length, medium, runs] of topology.pair_runs || []) {
      for (const [first, count, step] of runs) {
        for (let turn = 0; turn < count; turn += 1) connect(a, first + turn * step, links, speed, length, medium, null);
      }
    }
  }
  return adjacent[index];
}

// What changed: the state of each switch, and the pairs of switches with new or moved cables.
const changes = content.differences;
const stateOf = new Map();
const changedPairs = new Map();
if (changes) {
  for (const { name } of changes.devices.added) stateOf.set(name, "added");
  for (const name of changes.devices.changed) stateOf.set(name, "changed");
  const note = (ends, state) => {
    for (const [[a], [b]] of ends) for (const key of [`${a}|${b}`, `${b}|${a}`]) changedPairs.set(key, state);
  };
  changes.cables.new.forEach((ends) => note(ends, "added"));
  changes.cables.moved.forEach((cable) => note(cable.new, "moved"));
}

export const changeOf = (name) => stateOf.get(name) || "";
export const changeOfPair = (a, b) => changedPairs.get(`${a}|${b}`) || "";
export const cycles = content.deadlock.flatMap((plane) =>
  plane.cycles.concat(plane.fixed_sl ? plane.fixed_sl.cycles : []).map((cycle) => ({ ...cycle, plane: plane.name })));
