// Charts as SVG: a curve with axes, a heat map, thresholds on a bar. Ticks are round numbers.
import { svg } from "./dom.js";

// About `count` round numbers from `low` to `high`.
export function ticks(low, high, count) {
  const raw = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw);
  const found = [];
  for (let one = Math.ceil(low / step) * step; one <= high + step * 1e-9; one += step) found.push(+one.toFixed(10));
  return found;
}

// Step curves of [x, y] with y from 0 to 1. `lines` are {name, points, on}.
export function curves(label, unit, lines) {
  const [width, height, left, bottom] = [560, 250, 46, 36];
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
    ticks(low, high, 6).map((value) => svg("text", { class: "faint", x: x(value), y: height - bottom + 16, "text-anchor": "middle" }, value)),
    svg("text", { class: "faint", x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, unit),
    svg("line", { class: "fair", x1: x(1), x2: x(1), y1: y(0), y2: y(1) }),
    lines.map((line) => svg("path", { class: `curve${line.on ? " on" : ""}`, d: path(line.points) }, svg("title", {}, line.name))));
}

// Rows of cells. `rows` are {name, cells: [[title, value]]}; a darker cell has a higher value.
export function heat(label, rows, most) {
  const [width, left, line] = [560, 110, 26];
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
