// The causes, worst first: what to correct, where, what it breaks, and what it explains.
import { content, indexOf } from "./content.js";
import { byId, html, linkButton } from "./dom.js";
import { placeOf } from "./inspector.js";
import { change, selectNamed } from "./state.js";
import { number } from "./words.js";

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;

export function showFinding(index) {
  const { device } = content.findings[index];
  if (indexOf.has(device)) selectNamed(device);
  change({ selected: { kind: "finding", index } });
  (byId("topology") || byId("findings")).scrollIntoView();
}

function cause({ finding: index, breaks, explains }, place) {
  const one = content.findings[index];
  return html("li", { class: `cause ${one.severity}` },
    html("b", { class: "order", "aria-hidden": "true" }, place + 1),
    html("div", {}, linkButton(sentence(one.hint || one.message), () => showFinding(index), { class: "link strong" }),
      html("small", { class: "mono faint" }, placeOf(one) || one.device)),
    html("div", {}, html("span", {}, [one.device, one.message].filter(Boolean).join(": ")), breaks && html("small", {}, `breaks: ${breaks}`)),
    html("div", { class: "mono" }, one.code, explains.length > 0 && html("small", { class: "faint" },
      ` → ${explains.map(([code, count]) => (count > 1 ? `${code} ×${number(count)}` : code)).join(", ")}`)));
}

export function causeList() {
  const { rows, more } = content.causes;
  if (!rows.length) return null;
  return [html("ol", { class: "causes card", "aria-label": "Causes, worst first" }, rows.map(cause)),
    more > 0 && html("p", { class: "faint" }, `and ${number(more)} more below`)];
}
