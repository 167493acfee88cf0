// The lossless plan: headroom against the SKU, pools, thresholds and watchdog of each kind of switch.
import { content } from "./content.js";
import { html, linkButton, put, table } from "./dom.js";
import { thresholds } from "./charts.js";
import { selectNamed } from "./state.js";
import { bytes, counted, metres, number, speed } from "./words.js";

function headroom(one) {
  return html("ul", { class: "plain" }, one.headroom.map((row) => {
    const differs = !row.source && row.sku_xoff_bytes !== null && row.sku_xoff_bytes !== row.xoff_bytes;
    const own = row.source ? row.source : row.sku_xoff_bytes === null ? "no row of the SKU" : differs ? `the SKU has ${bytes(row.sku_xoff_bytes)}` : "as the SKU";
    return html("li", {}, `${number(row.groups)} at ${speed(row.speed_mbps)} ${metres(row.cable_m)}: ${row.xoff_bytes === null ? "computed by the switch" : bytes(row.xoff_bytes)} `,
      html("span", { class: differs ? "level-warning" : "faint" }, own));
  }));
}

function pools(one) {
  const pool = one.pools.find((each) => each.type === "ingress" && each.size_bytes) || one.pools[0];
  if (!pool) return "–";
  const share = pool.xoff_bytes ? one.headroom_bytes / pool.xoff_bytes : null;
  return [html("div", {}, `${bytes(pool.size_bytes)} shared`), pool.source && html("div", { class: "faint" }, pool.source), html("div", {}, pool.xoff_bytes ? `${bytes(pool.xoff_bytes)} headroom` : ""),
    share && html("div", { class: "faint" }, `all groups: ${bytes(one.headroom_bytes)}, ${share.toFixed(2)} ×`)];
}

function bar(one) {
  const marks = [["Kmin", one.kmin_bytes], ["Kmax", one.kmax_bytes], ["XOFF", one.xoff_at_bytes], ["full", one.full_bytes]].filter(([, value]) => value);
  if (!marks.length) return "–";
  const texts = marks.map(([name, value]) => [name, value, bytes(value)]);
  return thresholds(texts.map(([name, , text]) => `${name} ${text}`).join(", "), texts);
}

const watchdog = (one) => one.watchdog.length
  ? one.watchdog.map((row) => html("div", {}, `${row.action}, ${number(row.detection_ms)} / ${number(row.restoration_ms)} ms `, html("span", { class: "faint" }, counted(row.ports, "port"))))
  : "off";

export function drawLossless(section) {
  const plans = content.lossless.filter((one) => one.lossless_ports);
  const kind = (one) => `${one.role} ${one.hwsku}`;
  const isAlone = (one) => plans.filter((other) => kind(other) === kind(one)).length === 1;
  const more = (one) => (one.switches > 1 ? ` and ${number(one.switches - 1)} more` : "");
  put(section,
    html("div", { class: "controls" }, html("h2", { id: "lossless-title" }, "Lossless plan"),
      plans.length > 0 && html("span", { class: "faint" }, `${counted(plans.length, "kind")} of switch by role, SKU and content`)),
    plans.length
      ? table("Lossless plan of each kind of switch", [["Switches"], ["Priorities"], ["Headroom of each group"], ["Pools"], ["Thresholds, log scale"], ["Watchdog: detect / restore"]],
        plans.map((one) => [html("div", {}, linkButton(one.role ? `${number(one.switches)} × ${one.role}` : counted(one.switches, "switch", "switches"), () => selectNamed(one.example)), html("div", { class: "faint mono" }, one.hwsku), !isAlone(one) && html("div", { class: "mono" }, `${one.example}${more(one)}`)),
          one.priorities.join(", "), headroom(one), pools(one), one.thresholds.length ? one.thresholds.map(bar) : "–", watchdog(one)]))
      : html("p", { class: "faint" }, "No row of PORT in these files has a lossless priority."));
}
