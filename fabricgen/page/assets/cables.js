// The cables to correct: drawn over the links, and as a work order that can be copied, saved and printed.
import { content } from "./content.js";
import { html, linkButton, put, svg, table } from "./dom.js";
import { selectNamed } from "./state.js";
import { counted, metres } from "./words.js";

export const orders = content.cables ? content.cables.orders : [];

const middle = ([, x, y, width, height]) => ({ x: x + width / 2, top: y, bottom: y + height });

// From the lower edge of the upper box to the upper edge of the lower one, moved aside by `aside`.
function wire(from, to, kind, aside) {
  const [upper, lower] = [middle(from), middle(to)].sort((a, b) => a.top - b.top);
  const [x1, y1, x2, y2] = [upper.x + aside, upper.bottom, lower.x + aside, lower.top];
  const half = y2 > y1 ? (y1 + y2) / 2 : y1 + 40;
  return svg("path", { class: `over ${kind}`, d: `M${x1} ${y1}C${x1} ${half} ${x2} ${half} ${x2} ${Math.max(y1, y2)}` });
}

// A label where the wire of an order is, above the others.
function label(from, to, order, offset) {
  const [a, b] = [middle(from), middle(to)];
  const text = `${order.name} ${{ swapped: "swapped", misplaced: "misplaced", missing: "not seen", extra: "not planned" }[order.kind]}`;
  const [x, y] = [(a.x + b.x) / 2, (a.top + a.bottom + b.top + b.bottom) / 4 + offset];
  const width = text.length * 6.4 + 16;
  return [
    svg("rect", { class: `pill ${order.kind}`, x: x - width / 2, y: y - 10, width, height: 20, rx: 10 }),
    svg("text", { class: `pill-text ${order.kind}`, x, y: y + 4, "text-anchor": "middle" }, text),
  ];
}

// [elements, names of the switches] of the work order, for boxes by the name of their switch.
export function drawnCables(boxes) {
  const [wires, labels, touched] = [[], [], new Set()];
  for (const [place, order] of orders.entries()) {
    let labelled = false;
    for (const { fixed, now, planned } of order.steps) {
      for (const [far, kind, aside] of [[planned, now ? "planned-cable" : "unseen-cable", 3], [now, "seen-cable", -3]]) {
        if (!far) continue;
        for (const { device } of [fixed, far]) touched.add(device);
        const ends = [boxes.get(fixed.device), boxes.get(far.device)];
        if (!ends[0] || !ends[1]) continue;
        wires.push(wire(...ends, kind, aside));
        if (!labelled) labels.push(label(...ends, order, ((place % 3) - 1) * 24));
        labelled = true;
      }
    }
  }
  return [[...wires, ...labels.flat()], touched];
}

const lines = (texts) => texts.map((text) => `${text}\n`).join("");

const plug = (one) => one ? html("span", {},
  linkButton(one.device, () => selectNamed(one.device), { class: "link mono" }), " ",
  html("b", { class: "mono" }, one.ports.join(" ")),
  html("small", { class: "faint" }, ` ${[...new Set([...(String(one.labels) === String(one.ports) ? [] : one.labels), one.cage && !one.ports.includes(one.cage) ? `cage ${one.cage}` : "", one.rack, one.unit && `U${one.unit}`])].filter(Boolean).join(" · ")}`)) : "–";

async function copy(button) {
  try {
    await navigator.clipboard.writeText(lines(content.cables.text));
    put(button, "Copied");
  } catch {
    put(button, "Select the text below");
    button.closest("#inspector").querySelector("details.text").open = true;
  }
}

// The picture and the work order alone.
function printOrders() {
  document.body.classList.add("only-orders");
  print();
  document.body.classList.remove("only-orders");
}

// The work order of the panel.
export function workOrder() {
  const { count, csv, text } = content.cables;
  const columns = { swapped: ["Stays in", "Now in", "Move to"], misplaced: ["Stays in", "Now in", "Move to"], missing: ["From", "To"], extra: ["From", "To"] };
  const row = (kind, { fixed, now, planned }) => (columns[kind].length === 3 ? [fixed, now, planned] : [fixed, planned || now]).map(plug);
  return [
    html("h3", {}, `${counted(count, "cable")} to correct`),
    html("p", { class: "actions" },
      html("button", { type: "button", onclick: (event) => copy(event.currentTarget) }, "Copy as work order"),
      html("a", { class: "button", download: "work-order.csv", href: `data:text/csv;charset=utf-8,${encodeURIComponent(lines(csv))}` }, "Save as CSV"),
      html("button", { type: "button", onclick: printOrders }, "Print")),
    orders.map((order) => html("div", { class: "order" },
      html("h4", { class: order.kind }, `${order.name}  ${order.action}`),
      table(`Work order ${order.name}`, columns[order.kind].map((name) => [name]), order.steps.map((step) => row(order.kind, step))),
      order.steps.filter((step) => step.cable).map((step) =>
        html("p", { class: "faint" }, [step.cable, metres(step.length_m), step.medium].filter(Boolean).join(", "))))),
    html("details", { class: "text" }, html("summary", {}, "As text"), html("pre", { tabindex: 0, "aria-label": "Work order as text" }, lines(text))),
  ];
}
