// What is drawn over the links: a cyclic buffer dependency, a congestion tree, cables to correct.
import { drawnCables } from "./cables.js";
import { content, cycles } from "./content.js";
import { svg } from "./dom.js";
import { state } from "./state.js";
import { drawnTenants } from "./tenants.js";

const centre = ([, x, y, width, height]) => [x + width / 2, y + height / 2];

// An arrow between two boxes, cut at their borders, beside the line of the opposite direction.
function arrow(from, to, kind, text) {
  const [ax, ay] = centre(from);
  const [bx, by] = centre(to);
  const length = Math.hypot(bx - ax, by - ay) || 1;
  const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
  const cut = (box) => Math.min(length / 3, Math.min(box[3] / 2 / Math.max(Math.abs(ux), 0.01), box[4] / 2 / Math.max(Math.abs(uy), 0.01)) + 3);
  const [sx, sy] = [ax + ux * cut(from) - uy * 6, ay + uy * cut(from) + ux * 6];
  const [tx, ty] = [bx - ux * cut(to) - uy * 6, by - uy * cut(to) + ux * 6];
  // In one row, boxes may stand between: the arrow passes beside them.
  const bow = Math.abs(by - ay) < 5 && length > 1.9 * from[3] ? Math.min(46, 14 + length * 0.08) : 0;
  const [qx, qy] = [(sx + tx) / 2 - uy * bow, (sy + ty) / 2 + ux * bow];
  const at = (start, middle, end) => 0.36 * start + 0.48 * middle + 0.16 * end; // of the curve, at 0.4
  const [mx, my] = [at(sx, qx, tx), at(sy, qy, ty)];
  return [
    svg("path", { class: `over ${kind}`, d: `M${sx} ${sy}Q${qx} ${qy} ${tx} ${ty}`, "marker-end": `url(#tip-${kind})` }),
    text && svg("circle", { class: `dot ${kind}`, cx: mx, cy: my, r: 8.5 }),
    text && svg("text", { class: "dot-text", x: mx, y: my + 3.5, "text-anchor": "middle" }, text),
  ];
}

// The tree of the chosen pattern with the most paused ports, or the chosen one.
export const shownTree = () => (content.traffic[state.pattern] ? content.traffic[state.pattern].trees[state.tree] : undefined);

// [elements, names of the devices that they touch] of the overlay, for boxes by the name of their switch, and for all
// boxes of the scene.
export function overlay(boxes, all) {
  if (state.overlay === "tenants") return drawnTenants(all);
  if (state.overlay === "cycle" && cycles[state.cycle]) {
    const { hops, failed_pairs: failed } = cycles[state.cycle];
    const pairs = hops.map(([name], index) => [name, hops[(index + 1) % hops.length][0], String(index + 1)]);
    const dashed = failed.filter(([a, b]) => boxes.has(a) && boxes.has(b)).map(([a, b]) => {
      const [[ax, ay], [bx, by]] = [centre(boxes.get(a)), centre(boxes.get(b))];
      return svg("path", { class: "over failed", d: `M${ax} ${ay}L${bx} ${by}` }, svg("title", {}, `failed: ${a} – ${b}`));
    });
    return [[...dashed, ...arrows(boxes, pairs, "cycle")], new Set(hops.map(([name]) => name))];
  }
  if (state.overlay === "cables") return drawnCables(boxes);
  const tree = state.overlay === "tree" && shownTree();
  if (tree) {
    const pairs = tree.waits.map(([[a], [b]]) => [a, b, ""]);
    return [[...arrows(boxes, pairs, "tree"), ...fromHosts(boxes, pairs), ...ring(boxes.get(tree.root[0]))],
      new Set([tree.root[0], ...pairs.flatMap(([a, b]) => [a, b])])];
  }
  return [[], new Set()];
}

const arrows = (boxes, pairs, kind) =>
  pairs.filter(([a, b]) => a !== b && boxes.has(a) && boxes.has(b))
    .flatMap(([a, b, text]) => arrow(boxes.get(a), boxes.get(b), kind, text));

// Hosts have no boxes: what waits there is an arrow from below, one for each switch.
const fromHosts = (boxes, pairs) =>
  [...new Set(pairs.filter(([a, b]) => !boxes.has(a) && boxes.has(b)).map(([, b]) => b))].map((name) => {
    const [, x, y, width, height] = boxes.get(name);
    const middle = x + width / 2;
    return svg("path", { class: "over tree", d: `M${middle} ${y + height + 24}V${y + height + 3}`, "marker-end": "url(#tip-tree)" },
      svg("title", {}, `hosts wait for ${name}`));
  });

// The root of a tree, whose port is the slow one.
const ring = (box) => box
  ? [svg("rect", { class: "over tree", x: box[1] - 4, y: box[2] - 4, width: box[3] + 8, height: box[4] + 8, rx: 7 }, svg("title", {}, "the root of the tree"))] : [];

export const tips = () =>
  svg("defs", {}, ["cycle", "tree"].map((kind) =>
    svg("marker", { id: `tip-${kind}`, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 6, markerHeight: 6, orient: "auto" },
      svg("path", { class: `dot ${kind}`, d: "M0 0L10 5L0 10z" }))));
