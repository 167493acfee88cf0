// The differences from another bundle: moved cables first, then switches, then rows with the cost to apply them.
import { content } from "./content.js";
import { html, linkButton, put, table } from "./dom.js";
import { selectNamed } from "./state.js";
import { counted, number } from "./words.js";

const SHOWN = 50;
const end = ([name, port]) => `${name} ${port}`;
const cable = (pairs) => `${end(pairs[0][0])} – ${end(pairs[0][1])}${pairs.length > 1 ? ` (+ ${counted(pairs.length - 1, "link")})` : ""}`;

function listOf(title, texts, open) {
  if (!texts.length) return null;
  return html("details", { class: "card pad", open }, html("summary", {}, `${title}: ${number(texts.length)}`),
    html("ul", { class: "mono" }, texts.slice(0, SHOWN).map((text) => html("li", {}, text))),
    texts.length > SHOWN && html("p", { class: "faint" }, `and ${number(texts.length - SHOWN)} more`));
}

function cost({ cost: one }) {
  const parts = Object.entries(one.devices).filter(([, count]) => count).map(([route, count]) => `${counted(count, "switch", "switches")} by ${route}`);
  if (one.port_flaps) parts.push(`${counted(one.port_flaps, "port")} go down`);
  if (one.patch_seconds[1]) parts.push(`${one.patch_seconds.join(" to ")} s for the slowest patch`);
  return parts.length ? `${parts.join("; ")}.` : "Nothing to apply.";
}

export function drawDifferences(section) {
  const one = content.differences;
  const { devices } = one.summary;
  put(section,
    html("div", { class: "controls" }, html("h2", { id: "differences-title" }, "Differences"), html("span", { class: "faint" }, `against ${one.old}`)),
    html("p", {}, html("b", {}, `${counted(one.cables.moved.length, "cable")} moved, ${number(one.cables.new.length)} new, ${number(one.cables.removed.length)} removed, ${number(one.cables.unchanged)} unchanged. `),
      `${counted(devices.added, "new switch", "new switches")}, ${number(devices.changed)} changed, ${number(devices.removed)} removed, ${number(devices.alike)} unchanged. To apply: ${cost(one)}`),
    listOf("Moved cables", one.cables.moved.map((each) => `${cable(each.old)}  →  ${cable(each.new)}`), true),
    listOf("New cables", one.cables.new.map(cable)), listOf("Removed cables", one.cables.removed.map(cable)),
    listOf("Removed switches", one.devices.removed.map((each) => each.name)),
    one.groups.map((group) => html("details", { class: "card pad" },
      html("summary", {}, `${counted(group.rows.length, "change")} on ${counted(group.devices.length, "switch", "switches")}: `,
        html("span", { class: "mono" }, group.devices.slice(0, 3).join(", "), group.devices.length > 3 ? " …" : "")),
      linkButton(`show ${group.devices[0]}`, () => selectNamed(group.devices[0])),
      table("Changed rows", [["Row"], ["Change"], ["Cost"]], group.rows.map((row) => [html("span", { class: "mono" }, `${row.sign} ${row.place}`), row.change,
        html("span", { title: row.reason }, row.cost)])))),
    one.more_rows > 0 && html("p", { class: "faint" }, `and ${counted(one.more_rows, "more row")}: \`fabricgen diff\` lists all`));
}
