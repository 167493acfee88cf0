// The deadlock verdict of each plane with its evidence, and the cycles.
import { content, cycles, indexOf } from "./content.js";
import { byId, html, linkButton, put, table } from "./dom.js";
import { showCycle } from "./state.js";
import { counted, number } from "./words.js";

// The statement of the verdict, with its heading in the color of its level.
const said = ({ level, heading, covers }) => [html("b", { class: `level-${level}` }, heading), html("small", { class: "block faint" }, covers)];

function cycle(one, index) {
  const failed = one.failed_links.length ? ` after the failure of ${one.failed_links.join(" and ")}` : "";
  const many = one.stands_for ? `; this set represents ${number(one.stands_for)}` : "";
  return html("details", { class: "card pad" },
    html("summary", {}, html("b", { class: "level-error" }, `Cycle ${index + 1}`),
      ` of ${counted(one.hops.length, "switch", "switches")} on priority ${one.priority}${failed}${many}`),
    html("ol", {}, one.hops.map(([name, port], hop) => html("li", { class: "mono" }, `${name} ${port}`,
      one.witnesses[hop] ? html("span", { class: "faint" }, ` with packets to ${one.witnesses[hop]}`) : null))),
    indexOf.has(one.hops[0][0]) && linkButton("show on the picture", () => { showCycle(index); byId("topology").scrollIntoView(); }));
}

export function drawDeadlock(section) {
  const rows = content.deadlock.flatMap((plane) => [[plane.name || "fabric", plane], ...(plane.fixed_sl ? [[`${plane.name}, fixed SL ${plane.fixed_sl.service_levels.join(", ")}`, plane.fixed_sl]] : [])]);
  const shown = cycles.slice(0, 12);
  put(section,
    html("div", { class: "controls" }, html("h2", { id: "deadlock-title" }, "Deadlock"),
      html("span", { class: "faint" }, "can buffers wait for each other in a cycle?")),
    table("Deadlock verdict of each plane", [["Plane"], ["Verdict"], ["Routes from"], ["Priorities or lanes"], ["Channels", true], ["Dependencies", true], ["Failures"], ["Certificate"]],
      rows.map(([name, one]) => [name, said(one.statement),
        one.model, one.priorities.join(", ") || "none", number(one.channels), number(one.dependencies), one.failures.statement ? said(one.failures.statement) : "not tried",
        one.certificate ? html("span", { class: "mono", title: one.certificate }, one.certificate.slice(0, 12)) : "–"])),
    shown.map(cycle), cycles.length > shown.length && html("p", { class: "faint" }, `and ${counted(cycles.length - shown.length, "more cycle", "more cycles")}`));
}
