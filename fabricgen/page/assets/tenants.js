// Tenants: the verdict on each plane, who reaches whom, and their colors on the picture.
import { content, switches } from "./content.js";
import { byId, html, linkButton, svg, table } from "./dom.js";
import { change, showTenant, state } from "./state.js";
import { counted, number } from "./words.js";

const MOST_IN_WORDS = 12; // tenants whose matrix has words; a larger one has a colored cell for each pair
const MOST_LISTED = 20;
const COLORS = 7; // of tenants; hosts without a tenant have the eighth
const GRID = 560; // px of a large matrix
const LINE = 11; // px of a name beside it

export const tenantsOf = (plane) => content.tenants.find((one) => one.plane === plane);
const nameOf = (name) => name || "no tenant";
const color = (names, place) => `t${names[place] ? place % COLORS : COLORS}`;

// The lists [tenant, NICs] of a switch, or of all switches of a box with hosts, as one list.
function joined(one, indices) {
  const sum = new Map();
  for (const index of indices) {
    for (const [place, nics] of one.mix_of[index] === null ? [] : one.mixes[one.mix_of[index]]) sum.set(place, (sum.get(place) || 0) + nics);
  }
  return [...sum].sort(([a], [b]) => a - b);
}

// 'blue 16, red 8': the tenants of a switch with their NICs; "" without tenants.
export function tenantsAt(index) {
  const one = tenantsOf(switches[index].plane);
  return one ? joined(one, [index]).map(([place, nics]) => `${nameOf(one.names[place])} ${number(nics)}`).join(", ") : "";
}

// A strip with a part for each tenant, as wide as its share of the NICs. It does not cover the text of the box.
function strip(one, [kind, x, y, width, height], mix, chosen) {
  const all = mix.reduce((sum, [, nics]) => sum + nics, 0);
  const high = height < 20 ? height - 2 : 5;
  const top = kind === "host" ? y + 1 : y + height - high - 1;
  let left = x + 1;
  return mix.map(([place, nics]) => {
    const part = ((width - 2) * nics) / all;
    const drawn = svg("rect", { class: `strip ${chosen === null || chosen === place ? color(one.names, place) : "other"}`, x: left.toFixed(1), y: top.toFixed(1), width: part.toFixed(1), height: high },
      svg("title", {}, `${nameOf(one.names[place])}: ${counted(nics, "NIC")}`));
    left += part;
    return drawn;
  });
}

// [elements, names of the switches with hosts of the chosen tenant, or of any] for the boxes of a scene.
export function drawnTenants(boxes) {
  const one = tenantsOf(state.plane);
  if (!one) return [[], new Set()];
  const [drawn, touched, leaves] = [[], new Set(), []];
  const isChosen = (mix) => mix.some(([place]) => state.tenant === null || state.tenant === place);
  for (const box of boxes.filter((each) => typeof each[0] === "number")) {
    const mix = joined(one, [box[0]]);
    if (!mix.length) continue;
    leaves.push(box);
    if (isChosen(mix)) touched.add(switches[box[0]].name);
    drawn.push(strip(one, box, mix, state.tenant));
  }
  for (const box of boxes.filter(([kind]) => kind === "host")) {
    const above = leaves.filter(([, x, , width]) => x + width / 2 >= box[1] && x + width / 2 <= box[1] + box[3]);
    const mix = joined(one, above.map(([index]) => index));
    if (mix.length) drawn.push(strip(one, box, mix, state.tenant));
  }
  return [drawn.flat(), touched];
}

// The names of the tenants with their colors; each is a button that shows this tenant alone.
export function tenantKeys() {
  const one = tenantsOf(state.plane);
  return one.names.map((name, place) => linkButton([html("i", { class: `key ${color(one.names, place)}` }), nameOf(name)],
    () => change({ tenant: state.tenant === place ? null : place, overlay: "tenants", selected: null }), { class: "link", "aria-pressed": String(state.tenant === place) }));
}

// What a cell says: its words, its class, and the sentence of its title.
function cell(names, [from, to, pairs, passing, expected]) {
  const who = `${nameOf(names[from])} to ${nameOf(names[to])}`;
  if (passing > expected) return [`leak: ${number(passing - expected)} of ${number(pairs)}`, "leak", `${who}: ${counted(passing - expected, "pair")} of ${number(pairs)} reach each other and must not`];
  if (passing < expected) return [`cut: ${number(expected - passing)} of ${number(pairs)}`, "cut", `${who}: ${counted(expected - passing, "pair")} of ${number(pairs)} do not reach each other and must`];
  return [passing === pairs ? "all" : `${number(passing)} of ${number(pairs)}`, "reach", `${who}: ${counted(passing, "pair")}, as it should be`];
}

const byPair = (one) => new Map(one.reach.map((row) => [`${row[0]} ${row[1]}`, cell(one.names, row)]));
const mark = (one, place) => [html("i", { class: `key ${color(one.names, place)}` }), nameOf(one.names[place])];

function inWords(one) {
  const cells = byPair(one);
  return table(`Who reaches whom on plane ${one.plane}`, [["From"], ...one.names.map((name) => [`to ${nameOf(name)}`])], one.names.map((_, from) =>
    [html("span", {}, mark(one, from)), ...one.names.map((__, to) => {
      const found = cells.get(`${from} ${to}`);
      return found ? html("span", { class: `mark ${found[1]}`, title: found[2] }, found[0]) : html("span", { class: "faint", title: `${nameOf(one.names[from])} to ${nameOf(one.names[to])}: apart` }, "none");
    })]));
}

function asGrid(one) {
  const size = one.names.length;
  const step = Math.max(5, Math.min(16, GRID / size));
  const left = 8 + 6.4 * Math.max(...one.names.map((name) => nameOf(name).length));
  const every = Math.ceil(LINE / step);
  const wrong = [...byPair(one).values()].filter(([, kind]) => kind !== "reach").length;
  const width = (left + size * step + 4).toFixed(0);
  return svg("svg", { class: "chart matrix", viewBox: `0 0 ${width} ${width}`, width, height: width, role: "img", "aria-label": `Who reaches whom, ${counted(size, "tenant")}: ${counted(one.reach.length, "pair")} of tenants exchange packets, ${number(wrong)} wrong` },
    svg("rect", { class: "ground", x: left, y: left, width: size * step, height: size * step }),
    one.names.map((name, place) => place % every ? null : [
      svg("text", { class: "faint", x: left - 6, y: left + place * step + step / 2 + 4, "text-anchor": "end" }, nameOf(name)),
      svg("text", { class: "faint", transform: `translate(${(left + place * step + step / 2 + 4).toFixed(1)} ${(left - 6).toFixed(1)}) rotate(-90)` }, nameOf(name)),
    ]),
    one.reach.map((row) => {
      const [, kind, title] = cell(one.names, row);
      return svg("rect", { class: `mark ${kind}`, x: (left + row[1] * step).toFixed(1), y: (left + row[0] * step).toFixed(1), width: (step - 0.8).toFixed(1), height: (step - 0.8).toFixed(1) }, svg("title", {}, title));
    }));
}

// Who shares with whom, and what is wrong, in words: a large matrix has no room for them.
function inList(one) {
  const cells = one.reach.map((row) => [row, cell(one.names, row)]);
  const wrong = cells.filter(([, [, kind]]) => kind !== "reach").map(([, [, , title]]) => html("li", { class: "level-error" }, title));
  const shared = new Map();
  for (const [[from, to], [, kind]] of cells) if (from !== to && kind === "reach") shared.set(from, [...(shared.get(from) || []), to]);
  const others = one.names.filter(Boolean).length - 1;
  const services = [...shared].sort(([, a], [, b]) => b.length - a.length).map(([from, to]) =>
    html("li", {}, html("b", {}, nameOf(one.names[from])), ` shares with ${to.length === others ? `all ${number(others)} others` : to.length > 8 ? counted(to.length, "tenant") : to.map((each) => nameOf(one.names[each])).join(", ")}`));
  const cut = (items) => [items.slice(0, MOST_LISTED), items.length > MOST_LISTED && html("li", { class: "faint" }, `and ${number(items.length - MOST_LISTED)} more`)];
  return html("ul", { class: "plain" }, cut(wrong), services.length ? cut(services) : html("li", { class: "faint" }, "no tenant shares with another"));
}

export function drawTenants(section) {
  const many = content.tenants.length > 1;
  section.append(html("div", { class: "controls" }, html("h2", { id: "tenants-title" }, "Tenants"),
    html("span", { class: "faint" }, "who reaches whom: from each host of a row to each host of a column, by the files")),
  ...content.tenants.map((one) => html("div", { class: "card pad" },
    html("h3", {}, many && `${one.plane}: `, html("span", { class: `level-${one.statement.level}` }, one.statement.heading)),
    html("p", { class: "faint" }, `${one.statement.covers}. ${one.not_covered}.`),
    one.names.length <= MOST_IN_WORDS ? inWords(one) : html("div", { class: "two" }, html("figure", {}, asGrid(one)), inList(one)),
    one.mixes.length > 0 && linkButton("show on the picture", () => { showTenant(one.plane); byId("topology").scrollIntoView(); }))));
}
