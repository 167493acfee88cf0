// Elements of HTML and SVG. Text becomes text nodes only, so no name of the content can become markup.
const SVG = "http://www.w3.org/2000/svg";

function made(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children.flat(9)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
}

export const html = (tag, attributes, ...children) => made(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => made(document.createElementNS(SVG, tag), attributes, children);
export const byId = (id) => document.getElementById(id);

export function put(node, ...children) {
  node.replaceChildren();
  append(node, children);
  return node;
}

// A table whose first column is a heading of its row. `columns` are [title, isNumber]. On a phone a row is a list in
// which each cell has the title of its column; the roles stay those of a table.
export function table(caption, columns, rows) {
  const cells = (row) =>
    row.map((cell, index) =>
      index === 0
        ? html("th", { scope: "row", role: "rowheader" }, cell)
        : html("td", { role: "cell", class: columns[index][1] ? "number" : null, "data-title": columns[index][0] || null }, html("div", {}, cell === "" ? "–" : cell)),
    );
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    html("table", { role: "table" },
      html("caption", { class: "hidden" }, caption),
      html("thead", { role: "rowgroup" }, html("tr", { role: "row" }, columns.map(([title, isNumber]) =>
        html("th", { scope: "col", role: "columnheader", class: isNumber ? "number" : null }, title)))),
      html("tbody", { role: "rowgroup" }, rows.map((row) => html("tr", { role: "row", class: row.className || null }, cells(row))))));
}

// Buttons of which one is pressed. `choices` are [value, text].
export function choices(label, values, chosen, choose) {
  return html("div", { class: "choices", role: "group", "aria-label": label },
    values.map(([value, text]) =>
      html("button", { type: "button", "aria-pressed": String(value === chosen), onclick: () => choose(value) }, text)));
}

export const linkButton = (text, onclick, attributes) =>
  html("button", { type: "button", class: "link", onclick, ...attributes }, text);

// A list of definitions without the empty ones.
export const facts = (pairs) =>
  html("dl", {}, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => [html("dt", {}, name), html("dd", {}, value)]));
