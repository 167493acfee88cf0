// The picture of a plane: scenes of the content as SVG. Places come from the content; this only draws and selects.
import { orders } from "./cables.js";
import { changeOf, changeOfPair, content, cycles, levelOf, peersOf, planes, RANK, scenes, switches, withFindings } from "./content.js";
import { byId, choices, html, linkButton, put, svg } from "./dom.js";
import { overlay, shownTree, tips } from "./overlay.js";
import { change, listen, selectSwitch, showCables, showPlane, showTree, state } from "./state.js";
import { tenantKeys, tenantsOf } from "./tenants.js";
import { counted, number, speed } from "./words.js";

const MOST_HITS = 1500; // lines that can be selected by a click; more would only cover each other

const scene = () => scenes[state.plane][state.scene];

function path([, , , x1, y1, x2, y2, bow]) {
  if (bow) {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    return `M${x1} ${y1}Q${(x1 + x2) / 2 + ((y1 - y2) / length) * bow * 2} ${(y1 + y2) / 2 + ((x2 - x1) / length) * bow * 2} ${x2} ${y2}`;
  }
  const middle = (y1 + y2) / 2;
  return Math.abs(y2 - y1) > 100 ? `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}` : `M${x1} ${y1}L${x2} ${y2}`;
}

const isSwitch = (box) => typeof box[0] === "number";

function lineOf(line, boxes) {
  const [a, b] = [boxes[line[0]], boxes[line[1]]];
  const between = isSwitch(a) && isSwitch(b);
  const state = between ? changeOfPair(switches[a[0]].name, switches[b[0]].name) : "";
  return svg("path", {
    class: `line ${state}`, d: path(line), "stroke-width": Math.min(3, 0.7 + Math.log2(line[2]) * 0.35).toFixed(2),
    "data-a": between ? a[0] : null, "data-b": between ? b[0] : null,
  });
}

// The worst finding on the leaves and spines of a pod, whose scene has this number.
function levelOfPod(number) {
  if (number < 1) return "";
  const members = scenes[state.plane][number].boxes.filter(isSwitch).map((box) => switches[box[0]]).filter((each) => each.role !== "core");
  const levels = new Set(members.map((each) => levelOf(each.name)));
  return ["error", "warning"].find((each) => levels.has(each)) || "";
}

function boxOf(box) {
  const [what, x, y, width, height, text, notes] = box;
  const one = isSwitch(box) ? switches[what] : null;
  const changed = one ? changeOf(one.name) : "";
  const pod = what === "pod" ? scenes[state.plane].findIndex((each) => each.name.endsWith(` ${text}`)) : -1;
  const level = one ? levelOf(one.name) : levelOfPod(pod);
  const label = one
    ? [one.name, one.role, level && `has ${level}s`, changed].filter(Boolean).join(", ")
    : [text, ...notes, level && `has ${level}s`].filter(Boolean).join(", ");
  const act = one ? () => selectSwitch(what) : pod > 0 ? () => change({ scene: pod, selected: null }) : null;
  const beside = what === "band";
  const bold = what === "pod" && height > 60;
  const group = svg("g", {
    class: ["box", one ? "switch" : what, one && !text && height < 20 && "cell", level, changed].filter(Boolean).join(" "), "data-index": one ? what : null,
    role: act ? "button" : "img", tabindex: act ? -1 : null, "aria-label": label,
    onclick: act && ((event) => { event.stopPropagation(); act(); }),
    onkeydown: act && ((event) => keys(event, act)),
  },
  svg("title", {}, label),
  svg("rect", { x, y, width, height, rx: Math.min(4, height / 5) }),
  text && svg("text", {
    class: bold ? "strong" : null, x: bold ? x + 9 : beside ? x + width + 6 : x + width / 2, "text-anchor": bold || beside ? "start" : "middle",
    y: bold ? y + 19 : y + height / 2 + (notes.length ? -2 : 4),
  }, text),
  notes.map((each, index) => svg("text", {
    class: "faint", x: bold ? x + 9 : x + width / 2, "text-anchor": bold ? "start" : "middle",
    y: bold ? y + 40 + index * 18 : y + height / 2 + 12 + index * 13,
  }, each)));
  return group;
}

// Enter and space act; arrows go to the next box, so that the picture is one stop of the Tab key.
function keys(event, act) {
  if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    act();
    return;
  }
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const all = [...byId("picture").querySelectorAll(".box[role=button]")];
  const next = all[(all.indexOf(event.currentTarget) + step + all.length) % all.length];
  event.currentTarget.setAttribute("tabindex", -1);
  next.setAttribute("tabindex", 0);
  next.focus();
}

function drawPicture() {
  const shown = scene();
  const { boxes, lines, labels } = shown;
  const opacity = Math.max(0.12, Math.min(0.42, 80 / (lines.length || 1) + 0.06));
  const named = new Map(boxes.filter(isSwitch).map((box) => [switches[box[0]].name, box]));
  const [over, touched] = overlay(named, boxes);
  const isCovered = state.overlay === "tenants" ? state.tenant !== null : state.overlay !== "links";
  const drawn = svg("svg", {
    id: "picture", class: isCovered ? "covered" : null, viewBox: `0 0 ${shown.width} ${shown.height}`,
    role: "group", "aria-label": `Topology of ${shown.name || "the fabric"}: ${shown.caption}`,
    onclick: () => change({ selected: null }),
  }, tips());
  const links = svg("g", { class: "lines", opacity: opacity.toFixed(2) }, lines.map((line) => lineOf(line, boxes)));
  const hits = lines.length > MOST_HITS ? [] : lines.filter(([a, b]) => isSwitch(boxes[a]) && isSwitch(boxes[b])).map((line) =>
    svg("path", { class: "hit", d: path(line), onclick: (event) => {
      event.stopPropagation();
      change({ selected: { kind: "pair", a: boxes[line[0]][0], b: boxes[line[1]][0] } });
    } }, svg("title", {}, `${switches[boxes[line[0]][0]].name} – ${switches[boxes[line[1]][0]].name}: ${counted(line[2], "link")}`)));
  const texts = lines.filter((line) => line[8]).map((line) =>
    svg("text", { class: "faint", x: line[5] + 6, y: (line[4] + line[6]) / 2 }, line[8]));
  const nodes = boxes.map(boxOf);
  nodes.find((node) => node.getAttribute("role") === "button")?.setAttribute("tabindex", 0);
  nodes.forEach((node, index) => {
    if (isSwitch(boxes[index]) && touched.has(switches[boxes[index][0]].name)) node.classList.add("touched");
  });
  drawn.append(links, ...hits, ...texts, ...nodes, svg("g", { id: "selected-lines" }), ...over,
    ...labels.map(([x, y, text, anchor]) => svg("text", { class: "faint", x, y, "text-anchor": anchor }, text)));
  put(byId("stage"), drawn);
  mark();
}

// The selected switch, its peers and its lines. Scenes without lines get those of the selection.
function mark() {
  const picture = byId("picture");
  const chosen = state.selected;
  const near = new Set();
  if (chosen && chosen.kind === "switch") for (const peer of peersOf(chosen.index)) near.add(peer.other);
  const ends = chosen && chosen.kind === "switch" ? [chosen.index] : chosen && chosen.kind === "pair" ? [chosen.a, chosen.b] : [];
  picture.classList.toggle("selecting", ends.length > 0);
  for (const node of picture.querySelectorAll(".box.switch")) {
    const index = Number(node.dataset.index);
    node.classList.toggle("on", ends.includes(index));
    node.classList.toggle("near", near.has(index));
    if (ends.includes(index)) node.setAttribute("aria-current", "true");
    else node.removeAttribute("aria-current");
  }
  const isOn = (a, b) => (ends.length === 2 ? ends.includes(a) && ends.includes(b) : ends.includes(a) || ends.includes(b));
  const on = [...picture.querySelectorAll(".line")].filter((line) => line.dataset.a && isOn(Number(line.dataset.a), Number(line.dataset.b)));
  put(byId("selected-lines"), on.map((line) => svg("path", { class: "line on", d: line.getAttribute("d") })),
    on.length || ends.length !== 1 ? [] : fans(ends[0], near));
}

function fans(index, near) {
  const boxes = new Map(scene().boxes.filter(isSwitch).map((box) => [box[0], box]));
  const from = boxes.get(index);
  if (!from) return [];
  return [...near].filter((other) => boxes.has(other)).map((other) => {
    const to = boxes.get(other);
    const down = to[2] > from[2];
    const [x1, y1] = [from[1] + from[3] / 2, down ? from[2] + from[4] : from[2]];
    const [x2, y2] = [to[1] + to[3] / 2, down ? to[2] : to[2] + to[4]];
    return svg("path", { class: "line on", d: `M${x1} ${y1}C${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2}` });
  });
}

const range = (values, text) => {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? text(low) : `${text(low)} to ${text(high)}`;
};

// ' (16 × 400G, 30 to 150 m)': what is true of all lines between switches of the scene.
function cablesOfLines() {
  const { boxes, lines } = scene();
  const shown = new Set(boxes.filter(isSwitch).map((box) => box[0]));
  const peers = [...shown].flatMap((index) => peersOf(index).filter((peer) => peer.other > index && shown.has(peer.other)));
  if (!peers.length || !lines.length) return "";
  const known = (name) => peers.map((peer) => peer[name]).filter((value) => value);
  const speeds = known("speed");
  const lengths = known("length");
  const parts = [`${range(peers.map((peer) => peer.links), number)} ×${speeds.length ? ` ${range(speeds, speed)}` : ""}`];
  if (lengths.length === peers.length) parts.push(`${range(lengths, String)} m`);
  return ` (${parts.join(", ")})`;
}

function drawControls() {
  const trees = content.traffic.some((one) => one.trees.length);
  const overlays = [["links", "Links"], tenantsOf(state.plane) && ["tenants", "Tenants"], orders.length && ["cables", `Cables to correct (${number(content.cables.count)})`], cycles.length && ["cycle", "Cycle"], trees && ["tree", "Congestion tree"]].filter(Boolean);
  const choose = (value) => {
    if (value === "cables") showCables();
    else if (value !== "tree" || shownTree()) change({ overlay: value, selected: null });
    else showTree(content.traffic.findIndex((one) => one.trees.length), 0);
  };
  put(byId("topology-controls"),
    planes.length > 1 && choices("Plane", planes.map((plane) => [plane, plane || "fabric"]), state.plane, showPlane),
    overlays.length > 1 && choices("Shown over the links", overlays, state.overlay, choose),
    state.scene > 0 && linkButton(`All of ${state.plane || "the fabric"}`, () => change({ scene: 0, selected: null })),
    html("span", { class: "faint" }, `${scene().caption}${state.scene === 0 && scenes[state.plane].length > 1 ? "; open a pod" : ""}`));
  const counts = (rank) => withFindings().filter(([, worst]) => worst === rank).length;
  const items = [];
  const joinsPods = scene().boxes.some((box) => box[0] === "pod");
  if (scene().lines.length) items.push(joinsPods ? "one line: all links between a pod and the cores" : `one line: all cables of two switches${cablesOfLines()}`);
  if (!scene().lines.length) items.push("select a switch: its links are drawn");
  if (scene().boxes.some((box) => box[0] === "band")) items.push("bar: all links between two tiers");
  const key = (name, text) => html("span", {}, html("i", { class: `key ${name}` }), text);
  if (state.overlay === "tenants") items.push("strip: the tenants of the hosts of a switch, by NICs; select one");
  put(byId("legend"), items.map((text) => html("span", {}, text)),
    state.overlay === "tenants" && tenantKeys(),
    counts(RANK.error) > 0 && key("error", `switch with errors (${number(counts(RANK.error))})`),
    counts(RANK.warning) > 0 && key("warning", `with warnings (${number(counts(RANK.warning))})`),
    content.differences && [key("added", "added"), key("changed", "changed or moved")],
    state.overlay === "cables" && [["planned-cable", "planned here"], ["seen-cable", "plugged here instead"], ["unseen-cable", "planned, not seen"]].map(([kind, text]) =>
      html("span", {}, svg("svg", { class: "sample", viewBox: "0 0 26 4", width: 26, height: 4, "aria-hidden": "true" }, svg("path", { class: `over ${kind}`, d: "M0 2H26" })), text)),
    state.overlay === "tree" && key("warning", "arrows: a paused port, or its hosts, waits for the next one; frame: the root"),
    state.overlay === "cycle" && key("error", "arrows: a buffer waits for the next one, in a cycle"));
}

export function drawTopology() {
  drawControls();
  drawPicture();
  listen((values) => {
    if ("plane" in values || "scene" in values || "overlay" in values || "tenant" in values || "cycle" in values || "tree" in values) {
      drawControls();
      drawPicture();
    } else if ("selected" in values) mark();
  });
}
