// Numbers with their units, as the text reports write them.
export const number = (value) => (value === null || value === undefined ? "–" : Number(value).toLocaleString("en-US"));

export const counted = (count, one, many) => `${number(count)} ${count === 1 ? one : many || `${one}s`}`;

const scaled = (value, steps) => {
  for (const [size, unit] of steps) if (Math.abs(value) >= size) return `${+(value / size).toFixed(2)} ${unit}`;
  return `${value} ${steps[steps.length - 1][2]}`;
};

export const bytes = (value) =>
  value === null || value === undefined ? "–" : scaled(value, [[1e9, "GB"], [1e6, "MB"], [1e3, "kB", "B"]]);

export const time = (ns) =>
  ns === null || ns === undefined ? "not finished" : scaled(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "µs", "ns"]]);

export const speed = (mbps) => (mbps ? (mbps >= 1000 ? `${mbps / 1000}G` : `${mbps}M`) : "");

export const metres = (length) => (length === null || length === undefined ? "" : `${length} m`);

export const times = (ratio) => (ratio === null || ratio === undefined ? "–" : `${ratio.toFixed(2)} ×`);
