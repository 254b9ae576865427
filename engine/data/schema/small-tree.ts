// A small decision tree on one feature, grown on half of a sample's rows and judged on the other half: how much of a target
// the feature tells by itself, in whatever way. After Breiman et al., Classification and Regression Trees (1984).

/** What is to be told: class numbers from 0, or values. */
export type Labels =
  | { readonly kind: 'classes'; readonly classes: number; readonly of: Int32Array }
  | { readonly kind: 'values'; readonly of: Float64Array };

/** Leaves of a tree, and rows of a leaf, at least. */
const mostLeaves = 256;
const smallLeaves = 32;

/** A node's statistics: rows of each class, or number, sum and squares of values. */
type Statistics = Float64Array;

/**
 * How well a tree on `feature` (missing values are −Infinity) tells the labels of rows it was not grown on: the mean recall
 * of the classes, or R² of values; 0 where it tells nothing.
 */
export function treeScore(feature: Float64Array, labels: Labels): number {
  const half = feature.length >> 1;
  const grown = Uint32Array.from({ length: feature.length - half }, (_, index) => 2 * index);
  grown.sort((one, other) => compare(feature, one, other));
  const judged = Uint32Array.from({ length: half }, (_, index) => 2 * index + 1);
  if (grown.length < 2 || judged.length < 2) return 0;
  const thresholds: number[] = [];
  const answers: number[] = [];
  const leaves = labels.kind === 'values' ? mostLeaves : smallLeaves;
  const least = Math.max(1, Math.floor(grown.length / leaves / 2));
  grow(grown, feature, labels, { least, depth: Math.log2(leaves), thresholds, answers });
  const predicted = Float64Array.from(judged, (row) => answers[position(thresholds, feature[row] as number)] as number);
  return labels.kind === 'classes' ? recall(judged, predicted, labels) : determination(judged, predicted, labels.of);
}

function compare(feature: Float64Array, one: number, other: number): number {
  const [first, second] = [feature[one] as number, feature[other] as number];
  return first < second ? -1 : first > second ? 1 : one - other;
}

interface Growing {
  readonly least: number;
  readonly depth: number;
  readonly thresholds: number[];
  readonly answers: number[];
}

/** Splits sorted rows where most impurity goes; leaves come out from left to right. */
function grow(rows: Uint32Array, feature: Float64Array, labels: Labels, growing: Growing): void {
  const { least, depth, thresholds, answers } = growing;
  const all = statistics(labels);
  for (const row of rows) add(all, labels, row, 1);
  const cut = depth <= 0 ? -1 : bestCut(rows, feature, labels, all, least);
  if (cut < 0) {
    answers.push(answerOf(all, labels));
    return;
  }
  const next = { ...growing, depth: depth - 1 };
  grow(rows.subarray(0, cut), feature, labels, next);
  const [before, after] = [feature[rows[cut - 1] as number] as number, feature[rows[cut] as number] as number];
  thresholds.push(Number.isFinite(before) ? before + (after - before) / 2 : before);
  grow(rows.subarray(cut), feature, labels, next);
}

/** Rows of the left side of the best cut; −1 = none is worth it. */
function bestCut(rows: Uint32Array, feature: Float64Array, labels: Labels, all: Statistics, least: number): number {
  const left = statistics(labels);
  const right = all.slice();
  const whole = impurity(all, labels);
  // Squares of a class's rows: of counts, which are whole, they stay exact while they follow row by row.
  const squares = [0, labels.kind === 'classes' ? all.reduce((sum, count) => sum + count * count, 0) : 0];
  let [best, lowest] = [-1, whole * (1 - 1e-9)];
  for (let index = 0; index + 1 < rows.length; index++) {
    const row = rows[index] as number;
    const count = index + 1;
    if (labels.kind === 'classes') {
      const label = labels.of[row] as number;
      squares[0] += 2 * (left[label] as number) + 1;
      squares[1] -= 2 * (right[label] as number) - 1;
    }
    add(left, labels, row, 1);
    add(right, labels, row, -1);
    if (count < least || rows.length - count < least || feature[row] === feature[rows[count] as number]) continue;
    const sum =
      labels.kind === 'classes'
        ? count - squares[0] / count + (rows.length - count - squares[1] / (rows.length - count))
        : impurity(left, labels) + impurity(right, labels);
    if (sum < lowest) [best, lowest] = [count, sum];
  }
  return best;
}

function statistics(labels: Labels): Statistics {
  return new Float64Array(labels.kind === 'classes' ? labels.classes : 3);
}

function add(to: Statistics, labels: Labels, row: number, weight: number): void {
  if (labels.kind === 'classes') {
    const label = labels.of[row] as number;
    to[label] = (to[label] as number) + weight;
    return;
  }
  const value = labels.of[row] as number;
  to[0] = (to[0] as number) + weight;
  to[1] = (to[1] as number) + weight * value;
  to[2] = (to[2] as number) + weight * value * value;
}

/** Rows times Gini's index, or the sum of squared deviations. */
function impurity(of: Statistics, { kind }: Labels): number {
  if (kind === 'values') {
    const [count = 0, sum = 0, squares = 0] = of;
    return count === 0 ? 0 : Math.max(0, squares - (sum * sum) / count);
  }
  let [total, squares] = [0, 0];
  for (const count of of) {
    total += count;
    squares += count * count;
  }
  return total === 0 ? 0 : total - squares / total;
}

function answerOf(of: Statistics, { kind }: Labels): number {
  return kind === 'values' ? (of[1] as number) / Math.max(1, of[0] as number) : of.indexOf(Math.max(...of));
}

function position(thresholds: readonly number[], value: number): number {
  let [low, high] = [0, thresholds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value > (thresholds[middle] as number)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function recall(rows: Uint32Array, predicted: Float64Array, labels: Labels & { kind: 'classes' }): number {
  const right = new Float64Array(labels.classes);
  const all = new Float64Array(labels.classes);
  rows.forEach((row, index) => {
    const label = labels.of[row] as number;
    all[label] = (all[label] as number) + 1;
    if (predicted[index] === label) right[label] = (right[label] as number) + 1;
  });
  const present = [...all.keys()].filter((label) => (all[label] as number) > 0);
  if (present.length < 2) return 0;
  return present.reduce((sum, label) => sum + (right[label] as number) / (all[label] as number), 0) / present.length;
}

function determination(rows: Uint32Array, predicted: Float64Array, of: Float64Array): number {
  const mean = rows.reduce((sum, row) => sum + (of[row] as number), 0) / rows.length;
  let [left, all] = [0, 0];
  rows.forEach((row, index) => {
    left += ((of[row] as number) - (predicted[index] as number)) ** 2;
    all += ((of[row] as number) - mean) ** 2;
  });
  return all === 0 ? 0 : Math.max(0, 1 - left / all);
}
