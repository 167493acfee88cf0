// The findings, grouped by code: a filter by severity and text, and each finding with its lines and its switch.
import { showFinding } from "./causes.js";
import { content, indexOf } from "./content.js";
import { byId, choices, facts, html, linkButton, put } from "./dom.js";
import { placeOf, sourceLines } from "./inspector.js";
import { listen, selectNamed, state } from "./state.js";
import { counted, number } from "./words.js";

const SHOWN = 40;
const filter = { severity: "", text: "" };
const groups = new Map(); // code -> its element

const haystack = (one) => [one.code, content.titles[one.code], one.message, one.path, placeOf(one), ...one.devices].join(" ").toLowerCase();

export function filterFindings(values) {
  Object.assign(filter, values);
  byId("filter").value = filter.text;
  drawList();
}

function matching() {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return content.findings.map((one, index) => ({ ...one, index })).filter((one) =>
    (!filter.severity || one.severity === filter.severity) && (!words.length || words.every((word) => haystack(one).includes(word))));
}

const byFingerprint = new Map(content.findings.map((one, index) => [one.fingerprint, index]));
const causeLink = (index) => linkButton(`${content.findings[index].code} ${content.findings[index].message}`, () => showFinding(index));

function item(one) {
  const names = one.devices.slice(0, 6);
  return html("li", { class: "finding", "data-index": one.index },
    html("div", {},
      names.map((name) => html("div", {}, indexOf.has(name) ? linkButton(name, () => { selectNamed(name); byId("topology").scrollIntoView(); }, { class: "link mono" }) : html("span", { class: "mono" }, name))),
      one.devices.length > names.length && html("div", { class: "faint" }, `and ${number(one.devices.length - names.length)} more`),
      content.topology && html("div", {}, linkButton("show on the picture", () => showFinding(one.index)))),
    html("div", {},
      html("p", {}, one.message, one.count > 1 && html("span", { class: "faint" }, ` (${number(one.count)} places)`)),
      facts([["Row", one.path && html("span", { class: "mono" }, one.path)], ["Place", placeOf(one) && html("span", { class: "mono" }, placeOf(one))],
        ["Fix", one.hint], ["Claim", one.confidence],
        ["Cause", (one.caused_by || []).filter((each) => byFingerprint.has(each)).slice(0, 6).map((each) => html("div", {}, causeLink(byFingerprint.get(each))))],
        ["See", one.related.slice(0, 6).map((each) => html("div", {}, `${each.message} `, html("span", { class: "mono faint" }, placeOf(each))))]]
        .filter(([, value]) => !Array.isArray(value) || value.length)),
      sourceLines(one)));
}

function group(code, members, open) {
  const body = html("ul", { class: "plain" });
  const fill = () => {
    if (body.firstChild) return;
    put(body, members.slice(0, SHOWN).map(item),
      members.length > SHOWN && html("li", { class: "faint" }, `${number(members.length - SHOWN)} more: filter to see them`));
  };
  const places = members.reduce((sum, one) => sum + one.count, 0);
  const element = html("details", { class: `code ${members[0].severity}`, open, ontoggle: fill },
    html("summary", {},
      html("span", { class: "mono" }, code), html("b", { class: `level-${members[0].severity}` }, members[0].severity),
      html("span", { class: "message" }, members.length > 1 ? content.titles[code] || members[0].message : members[0].message),
      html("span", { class: "faint" }, counted(places, "place"))), body);
  if (open) fill();
  element.fill = fill;
  groups.set(code, element);
  return element;
}

// Codes with few findings come first among equals: a flood does not hide the odd one.
function drawList() {
  const found = matching();
  const rank = { error: 0, warning: 1, note: 2 };
  const ordered = (list) => {
    const byCode = new Map();
    for (const one of list) {
      if (!byCode.has(one.code)) byCode.set(one.code, []);
      byCode.get(one.code).push(one);
    }
    return [...byCode].sort(([, a], [, b]) => rank[a[0].severity] - rank[b[0].severity] || a.length - b.length);
  };
  const causes = ordered(found.filter((one) => !one.caused_by));
  const consequences = ordered(found.filter((one) => one.caused_by));
  groups.clear();
  const total = content.findings.length;
  const count = (severity) => content.findings.filter((one) => one.severity === severity).length;
  put(byId("severities"), choices("Severity", [["", `All ${number(total)}`], ["error", `Errors ${count("error")}`],
    ["warning", `Warnings ${count("warning")}`], ["note", `Notes ${count("note")}`]], filter.severity, (severity) => filterFindings({ severity })));
  put(byId("finding-count"), `${number(found.length)} of ${number(total)}`);
  put(byId("finding-list"), causes.map(([code, members], index) => group(code, members, index === 0 && members[0].severity === "error")),
    consequences.length > 0 && html("details", { class: "consequences", open: !causes.length },
      html("summary", {}, `${counted(found.filter((one) => one.caused_by).length, "consequence")} of the causes above`),
      consequences.map(([code, members]) => group(code, members, false))),
    !found.length && html("p", { class: "faint pad" }, total ? "No finding matches the filter." : "No findings."));
}

function suppressed() {
  if (!content.suppressed.length) return null;
  return html("details", { class: "card pad" }, html("summary", {}, `${number(content.suppressed.length)} suppressed`),
    html("ul", {}, content.suppressed.map((one) => html("li", {},
      html("span", { class: "mono" }, `${one.code} ${one.device} `), one.message, ": ",
      html("b", {}, one.suppression ? one.suppression.reason : ""), one.suppression && one.suppression.expires ? ` (until ${one.suppression.expires})` : ""))));
}

// For print: the groups of errors are open.
export function openErrors() {
  const opened = [...groups.values()].filter((one) => one.classList.contains("error") && !one.open).slice(0, 12);
  opened.forEach((one) => { one.fill(); one.open = true; });
  return () => opened.forEach((one) => { one.open = false; });
}

export function drawFindings(section) {
  put(section,
    html("div", { class: "controls" }, html("h2", { id: "findings-title" }, "Findings"), html("div", { id: "severities" }),
      html("input", { id: "filter", type: "search", placeholder: "Filter by code, switch, text", "aria-label": "Filter the findings",
        oninput: (event) => { filter.text = event.target.value; drawList(); } }),
      html("span", { id: "finding-count", class: "faint", role: "status" })),
    html("div", { id: "finding-list", class: "card" }), suppressed());
  drawList();
  listen(() => {
    const index = state.selected && state.selected.kind === "finding" ? state.selected.index : -1;
    for (const node of section.querySelectorAll(".finding")) node.classList.toggle("on", Number(node.dataset.index) === index);
  });
}
