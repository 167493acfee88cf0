// Charts as SVG: a curve with axes, a heat map, thresholds on a bar. Ticks are round numbers.
import { html, svg } from "./dom.js";
import { time } from "./words.js";

// A chart is drawn as wide as it is shown, so its text keeps its size on a phone.
const WIDTH = innerWidth < 600 ? 360 : 560;

const APART = 8; // px between two limits that a reader can tell apart

const shortened = (name, width) => {
  const most = Math.floor(width / 6.4);
  return name.length > most ? `…${name.slice(1 - most)}` : name;
};

// About `count` round numbers from `low` to `high`.
export function ticks(low, high, count) {
  const raw = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw);
  const found = [];
  for (let one = Math.ceil(low / step) * step; one <= high + step * 1e-9; one += step) found.push(+one.toFixed(10));
  return found;
}

// The powers of ten from `low` to `high`.
const powers = (low, high) => {
  const found = [];
  for (let one = 10 ** Math.ceil(Math.log10(low)); one <= high; one *= 10) found.push(one);
  return found;
};

// Step curves of [x, y] with y from 0 to 1. `lines` are {name, points, on}.
export function curves(label, unit, lines) {
  const [width, height, left, bottom] = [WIDTH, 250, 46, 36];
  const all = lines.flatMap((line) => line.points.map(([x]) => x));
  const [low, high] = [Math.min(1, ...all), Math.max(1.1, ...all)];
  const x = (value) => left + ((value - low) / (high - low)) * (width - left - 16);
  const y = (value) => height - bottom - value * (height - bottom - 12);
  const path = (points) => points.reduce((text, [a, b], index) =>
    `${text}${index ? `H${x(a).toFixed(1)}V${y(b).toFixed(1)}` : `M${x(a).toFixed(1)} ${y(0)}V${y(b).toFixed(1)}`}`, "");
  return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    [0, 0.2, 0.4, 0.6, 0.8, 1].map((value) => [
      svg("line", { class: "grid", x1: left, x2: width - 16, y1: y(value), y2: y(value) }),
      svg("text", { class: "faint", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, `${Math.round(value * 100)} %`)]),
    ticks(low, high, WIDTH / 70).map((value) => svg("text", { class: "faint", x: x(value), y: height - bottom + 16, "text-anchor": "middle" }, value)),
    svg("text", { class: "faint", x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, unit),
    svg("line", { class: "fair", x1: x(1), x2: x(1), y1: y(0), y2: y(1) }),
    lines.map((line) => svg("path", { class: `curve${line.on ? " on" : ""}`, d: path(line.points) }, svg("title", {}, line.name))));
}

// Rows of cells. `rows` are {name, cells: [[title, value]]}; a darker cell has a higher value.
export function heat(label, rows, most) {
  const [width, left, line] = [WIDTH, 92, 26];
  const widest = Math.max(...rows.map((row) => row.cells.length));
  const chunk = Math.ceil(widest / 220);
  const cells = (row) => {
    const found = [];
    for (let start = 0; start < row.cells.length; start += chunk) {
      const part = row.cells.slice(start, start + chunk);
      found.push(part.reduce((a, b) => (b[1] > a[1] ? b : a)));
    }
    return found;
  };
  return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${rows.length * line + 34}`, role: "img", "aria-label": label },
    rows.map((row, index) => {
      const shown = cells(row);
      const step = (width - left - 8) / shown.length;
      return [svg("text", { class: "faint", x: left - 8, y: index * line + 17, "text-anchor": "end" }, row.name),
        shown.map(([title, value], at) => svg("rect", { class: "heat", x: (left + at * step).toFixed(1), y: index * line + 2,
          width: Math.max(1, step - Math.min(1.5, step * 0.2)).toFixed(1), height: line - 5, "fill-opacity": (0.06 + 0.94 * Math.min(1, value / most)).toFixed(3) }, svg("title", {}, title)))];
    }),
    [0, 0.25, 0.5, 0.75, 1].map((share, index) => svg("rect", { class: "heat", x: left + index * 26, y: rows.length * line + 10, width: 25, height: 10, "fill-opacity": 0.06 + 0.94 * share })),
    svg("text", { class: "faint", x: left - 8, y: rows.length * line + 19, "text-anchor": "end" }, "load 0"),
    svg("text", { class: "faint", x: left + 136, y: rows.length * line + 19 }, `${most.toFixed(2)} of the capacity`));
}

// A bar in a logarithmic scale with named marks [name, value, text]; the part between the first two is filled.
export function thresholds(label, marks) {
  const [width, low, high] = [320, marks[0][1] / 2, marks[marks.length - 1][1] * 1.2];
  const x = (value) => 4 + (Math.log(value / low) / Math.log(high / low)) * (width - 8);
  return svg("svg", { class: "thresholds", viewBox: `0 0 ${width} 46`, role: "img", "aria-label": label },
    svg("rect", { class: "bar", x: 4, y: 20, width: width - 8, height: 6, rx: 3 }),
    marks.length > 1 && svg("rect", { class: "filled", x: x(marks[0][1]), y: 20, width: Math.max(1, x(marks[1][1]) - x(marks[0][1])), height: 6 }),
    marks.map(([name, value, text], index) => [
      svg("line", { class: "tick", x1: x(value), x2: x(value), y1: 16, y2: 30 }),
      svg("text", { class: "faint", x: Math.min(width - 4, Math.max(4, x(value))), y: index % 2 ? 42 : 11, "text-anchor": x(value) > width * 0.75 ? "end" : x(value) < width * 0.25 ? "start" : "middle" }, `${name} ${text}`)]));
}

// Lines over time with a legend. `lines` and `limits` are [name, values]; limits are dashed, those far above the lines are named only.
export function overTime(label, run, lines, limits, shown) {
  const [width, height, left, bottom] = [WIDTH, 220, 64, 26];
  const highest = Math.max(1e-9, ...lines.flatMap(([, values]) => values));
  const within = limits.filter(([, values]) => Math.min(...values) < 4 * highest);
  const marks = ticks(0, Math.max(highest, ...within.map(([, values]) => Math.min(Math.max(...values), 4 * highest))), 4);
  const top = Math.max(marks[marks.length - 1], highest);
  const x = (ns) => left + (ns / (run.end_ns || 1)) * (width - left - 16);
  // Limits that would be one line on a linear axis are apart on a logarithmic one.
  const levels = within.map(([, values]) => Math.min(...values)).filter((value) => value > 0).sort((a, b) => a - b);
  const isLog = levels.some((value, index) => index > 0 && value > levels[index - 1] && ((value - levels[index - 1]) / top) * (height - bottom) < APART);
  const floor = levels[0] / 10;
  const share = (value) => (isLog ? Math.log(Math.max(value, floor) / floor) / Math.log(top / floor) : value / top);
  const y = (value) => height - bottom - share(Math.min(value, top)) * (height - bottom - 10);
  const shownMarks = isLog ? powers(floor, top) : marks;
  const path = (values) => values.map((value, index) => `${index ? "L" : "M"}${x(run.times_ns[index]).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  const drawn = [...lines.map(([name, values], index) => [name, values, `series s${index % 8}`]), ...within.map(([name, values], index) => [name, values, `series limit l${index}`])];
  return html("div", {}, svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    shownMarks.map((value) => [
      svg("line", { class: "grid", x1: left, x2: width - 16, y1: y(value), y2: y(value) }),
      svg("text", { class: "faint", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, shown(value))]),
    timeAxis(run.end_ns, x, height - bottom + 16),
    drawn.map(([name, values, kind]) => svg("path", { class: kind, d: path(values) }, svg("title", {}, name)))),
  html("ul", { class: "keys" }, isLog && html("li", { class: "faint" }, "logarithmic axis"), drawn.map(([name, , kind]) => html("li", {}, html("span", { class: `swatch ${kind}` }), name)),
    limits.filter((one) => !within.includes(one)).map(([name, values]) => html("li", { class: "faint" }, `${name}: ${shown(Math.min(...values))}, above the picture`))));
}

function timeAxis(end, x, at) {
  return ticks(0, end, WIDTH / 110).filter((value) => value <= end).map((value) => svg("text", { class: "faint", x: x(value), y: at, "text-anchor": "middle" }, value ? time(value) : "0"));
}

// Intervals in rows. `rows` are [name, [[start, end]]].
export function spans(label, end, rows) {
  const [width, left, line] = [WIDTH, WIDTH * 0.34, 17];
  const x = (ns) => left + (ns / (end || 1)) * (width - left - 16);
  return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${rows.length * line + 26}`, role: "img", "aria-label": label },
    rows.map(([name, each], index) => [
      svg("text", { class: "faint", x: left - 6, y: index * line + 12, "text-anchor": "end" }, shortened(name, left), svg("title", {}, name)),
      svg("line", { class: "grid", x1: left, x2: width - 16, y1: index * line + 8, y2: index * line + 8 }),
      each.map(([start, stop]) => svg("rect", { class: "paused", x: x(start).toFixed(1), y: index * line + 3, width: Math.max(0.5, x(stop) - x(start)).toFixed(1), height: 10 }))]),
    timeAxis(end, x, rows.length * line + 18));
}

// Horizontal bars. `rows` are {name, value, text, low, high}; a line on a bar goes from the least to the highest value.
export function bars(label, rows) {
  const [width, left, line] = [WIDTH, WIDTH * 0.3, 22];
  const most = Math.max(1e-9, ...rows.map((row) => row.high ?? row.value));
  const x = (value) => left + (value / most) * (width - left - 150);
  return svg("svg", { class: "chart", viewBox: `0 0 ${width} ${rows.length * line + 4}`, role: "img", "aria-label": label },
    rows.map((row, index) => [
      svg("text", { x: left - 8, y: index * line + 15, "text-anchor": "end" }, shortened(row.name, left), svg("title", {}, row.name)),
      svg("rect", { class: row.best ? "filled" : "plain-bar", x: left, y: index * line + 4, width: Math.max(1, x(row.value) - left).toFixed(1), height: 14, rx: 2 }),
      row.high !== undefined && row.high > row.low && svg("line", { class: "tick", x1: x(row.low), x2: x(row.high), y1: index * line + 11, y2: index * line + 11 }),
      svg("text", { class: "faint", x: x(row.high ?? row.value) + 8, y: index * line + 15 }, row.text)]));
}
