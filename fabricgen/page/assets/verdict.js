// The answer, its reasons and evidence, and what was not judged.
import { causeList } from "./causes.js";
import { content } from "./content.js";
import { byId, html, put } from "./dom.js";
import { showCables } from "./state.js";

export function drawVerdict(sections) {
  const { answer, level, reasons, evidence, not_judged: notJudged } = content.verdict;
  const list = causeList();
  const cell = (one) => {
    const inside = [html("small", {}, one.name), html("strong", { class: `level-${one.level}` }, one.value),
      html("small", {}, one.detail)];
    if (one.section === "cables") return html("a", { href: "#topology", onclick: showCables }, inside);
    return sections.has(one.section) ? html("a", { href: `#${one.section}` }, inside) : html("div", {}, inside);
  };
  put(byId("verdict"),
    html("div", { class: `answer level-${level}` },
      html("h1", { id: "verdict-title" }, answer),
      html("p", {}, (list ? reasons.filter((text) => !text.startsWith("First: ")) : reasons).concat(content.causes.summary).join(" "))),
    list,
    html("div", { class: "evidence" }, evidence.map(cell)),
    html("p", { class: "not-judged" }, html("b", {}, "Not judged: "), notJudged.join("; "), "."));
}
