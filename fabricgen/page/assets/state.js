// What is selected and shown. Every section listens, so the picture, the lists and the inspector agree.
import { content, cycles, indexOf, planes, scenes, switches } from "./content.js";

const listeners = [];

// The tenants where the plane has any, otherwise only the links.
const plain = (plane) => (content.tenants.some((one) => one.plane === plane) ? "tenants" : "links");

export const state = { plane: planes[0], scene: 0, overlay: plain(planes[0]), tenant: null, cycle: 0, tree: 0, pattern: 0, selected: null };

export const listen = (listener) => listeners.push(listener);

export function change(values) {
  Object.assign(state, values);
  listeners.forEach((listener) => listener(values));
}

const sceneWith = (index) =>
  scenes[switches[index].plane].findIndex((scene) => scene.boxes.some((box) => box[0] === index));

export function showPlane(plane) {
  change({ plane, scene: 0, overlay: plain(plane), tenant: null, selected: null });
}

export function selectSwitch(index) {
  const { plane } = switches[index];
  const here = scenes[state.plane][state.scene];
  const visible = plane === state.plane && here.boxes.some((box) => box[0] === index);
  change({ ...(visible ? {} : { plane, scene: sceneWith(index), overlay: plain(plane), ...(plane === state.plane ? {} : { tenant: null }) }), selected: { kind: "switch", index } });
}

export function selectNamed(name) {
  if (indexOf.has(name)) selectSwitch(indexOf.get(name));
}

export function showCycle(number) {
  const [first] = cycles[number].hops[0];
  if (!indexOf.has(first)) return;
  const { plane } = switches[indexOf.get(first)];
  change({ plane, scene: sceneWith(indexOf.get(first)), overlay: "cycle", cycle: number, selected: null });
}

// The scene with the first switch of the work order that the topology has.
export function showCables() {
  const ends = content.cables.orders.flatMap((order) => order.steps.flatMap((step) => [step.fixed, step.now, step.planned]));
  const first = ends.find((end) => end && indexOf.has(end.device));
  if (!first) return;
  const index = indexOf.get(first.device);
  change({ plane: switches[index].plane, scene: sceneWith(index), overlay: "cables", selected: null });
}

export function showTenant(plane) {
  change({ ...(plane === state.plane ? {} : { plane, scene: 0 }), overlay: "tenants", tenant: null, selected: null });
}

export function showTree(pattern, number) {
  const [root] = content.traffic[pattern].trees[number].root;
  if (!indexOf.has(root)) return;
  const { plane } = switches[indexOf.get(root)];
  change({ plane, scene: sceneWith(indexOf.get(root)), overlay: "tree", pattern, tree: number, selected: null });
}
