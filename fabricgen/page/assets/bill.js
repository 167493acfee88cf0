// The bill: switches, cables, transceivers and ports by plane, and the racks.
import { content, indexOf } from "./content.js";
import { byId, html, linkButton, put, table } from "./dom.js";
import { selectNamed } from "./state.js";
import { counted, metres, number } from "./words.js";

function rack([name, rows]) {
  return html("details", { class: "card pad" }, html("summary", {}, `Rack ${name}: ${counted(rows.length, "device")}`),
    table(`Rack ${name}`, [["Unit"], ["Device"], ["Role"]], rows.map(([unit, device, role]) =>
      [unit || "–", indexOf.has(device) ? linkButton(device, () => { selectNamed(device); byId("topology").scrollIntoView(); }) : device, role])));
}

export function drawBill(section) {
  const bill = content.bill;
  const sum = (plane, name) => plane.ports.reduce((total, row) => total + (row[name] || 0), 0);
  put(section,
    html("div", { class: "controls" }, html("h2", { id: "bill-title" }, "Bill"), html("span", { class: "faint" },
      `${counted(bill.switches, "switch", "switches")}, ${counted(bill.hosts, "host")}, ${counted(bill.gpus, "GPU")}, ${counted(bill.cables, "cable")}, ${counted(bill.transceivers, "transceiver")}`)),
    html("div", { class: "two" },
      html("div", {}, table("Switches, links and ports of each plane", [["Plane"], ["Switches"], ["Links", true], ["Ports used", true], ["Ports spare", true]], bill.planes.map((plane) => [plane.name,
        Object.entries(plane.switches).map(([role, count]) => `${number(count)} ${role}`).join(", "), number(Object.values(plane.links).reduce((a, b) => a + b, 0)), number(sum(plane, "used")), number(sum(plane, "spare"))])),
      table("Switch models", [["Model"], ["Number", true]], Object.entries(bill.models).map(([model, count]) => [model, number(count)]))),
      html("div", {}, table("Cables", [["Cables"], ["Plane"], ["Medium"], ["Length", true], ["Number", true], ["Transceivers", true]],
        bill.optics.map((row) => [row.kind, row.plane, row.medium, metres(row.length_m), number(row.cables), number(row.transceivers)])))),
    Object.entries(bill.racks).map(rack));
}
