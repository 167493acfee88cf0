// The comparison: where each fabric wins, all rows as a table, and times and failures as bars.
import { bars } from "./charts.js";
import { content } from "./content.js";
import { html, put, table } from "./dom.js";

const chart = ({ title, rows }) => html("figure", {}, html("figcaption", {}, title), bars(title, rows));

export function drawCompare(section) {
  const { titles, rows, best, paragraphs, charts } = content.compare;
  const [wins, ...others] = paragraphs;
  put(section, html("h2", { id: "compare-title" }, wins[0]), html("dl", { class: "wins" }, wins[1].map((line) => {
    const [name, best] = line.split(/: (.*)/);
    return [html("dt", {}, name), html("dd", {}, best.split("; ").map((each) => html("div", {}, each)))];
  })),
    html("h2", {}, "Side by side"),
    table("The fabrics side by side", [["Fabric"], ...titles.map((title) => [title])], rows.map(([name, ...cells]) =>
      [name, ...cells.map((text, index) => ((best[name] || []).includes(index) ? html("b", { class: "best" }, text, html("span", { class: "hidden" }, " (best)")) : text))])),
    html("div", { class: "charts" }, charts.map(chart)),
    others.map(([title, lines]) => [html("h3", {}, title), html("ul", {}, lines.map((line) => html("li", {}, line)))]));
}
