// Oracle of tree_forest: the same growth in plain terms, slot after slot.

import { type ParameterOf, present, type Reference } from '../contract.ts';
import { categoryKind, slotStatus, stateAt, stateWords, type kernel } from './kernel.ts';

/** Words of a state before the nodes that wait, of one of these, and no node. */
const [head, placeWords, noNode] = [16, 8, 0xffffffff];
/** Where the number of nodes that wait stands. */
const waiting = 6;
/** What a look at a node costs beside its rows. */
const nodeVisits = 16;

interface Best {
  readonly score: number;
  readonly column: number;
  /** A bin, or null: the bins of a set go left. */
  readonly cut: number | null;
  readonly left: ReadonlySet<number>;
  readonly missingLeft: boolean;
}

interface Row {
  readonly at: number;
  readonly row: number;
  readonly drawn: number;
  readonly weight: number;
  readonly target: number;
}

const asFloat = (word: number): number => new Float32Array(Uint32Array.of(word).buffer)[0];
const asWord = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0];

export const reference: Reference<ParameterOf<typeof kernel>> = (inputs, outputs, params) => {
  const { rows, width, slots, capacity, sets, room } = params;
  const { bins, targets, kinds, job } = present(inputs);
  const { weights } = inputs;
  const all = present(outputs);
  const [minRows, mostDepth, columns, randomCuts, bootstrap, budget] = job;
  for (let slot = 0; slot < slots; slot++) {
    const of = (name: string, size: number): Float64Array => all[name].subarray(slot * size, (slot + 1) * size);
    const state = of('states', stateWords);
    const lists = of('lists', 6 * rows);
    const list = lists.subarray(0, 3 * rows);
    const spare = lists.subarray(3 * rows);
    const order = of('orders', width);
    const [nodes, gains, masks] = [of('nodes', 4 * capacity), of('gains', capacity), of('masks', 8 * sets)];
    const [leaves, values, classes] = [of('leaves', 4 * capacity), of('values', room), of('classes', room)];

    /** A whole number below another: sfc32, as engine/optim/random.ts has it. */
    const draw = (from: number, below: number): number => {
      const [a, b, c, d] = state.subarray(from, from + 4);
      const result = (a + b + d) >>> 0;
      const turned = ((c << 21) | (c >>> 11)) >>> 0;
      state.set([(b ^ (b >>> 9)) >>> 0, (c + (c << 3)) >>> 0, (turned + result) >>> 0, (d + 1) >>> 0], from);
      return Math.floor((result / 2 ** 32) * below);
    };

    const begin = (): void => {
      const draws = bootstrap ? spare.subarray(0, rows).fill(0) : new Float64Array(rows).fill(1);
      if (bootstrap) for (let i = 0; i < rows; i++) draws[draw(stateAt.draws, rows)]++;
      let count = 0;
      draws.forEach((times, row) => {
        if (times > 0) list.set([row, times, asWord(targets[row])], 3 * count++);
      });
      order.forEach((_, i) => (order[i] = i));
      state[stateAt.status] = slotStatus.growing;
      state.set([0, 0, 1, 0, count], waiting);
      push(0, count, 0, 0, noNode);
    };

    const push = (...place: readonly number[]): void => state.set(place, head + placeWords * state[waiting]++);

    const rowsOf = (from: number, to: number): readonly Row[] =>
      Array.from({ length: to - from }, (_, i) => {
        const [row, drawn, word] = list.subarray(3 * (from + i));
        const target = asFloat(word);
        return { at: row * width, row, drawn, weight: weights ? drawn * weights[target] : drawn, target };
      });

    /** Sums by output of some rows, those that are 0 left out. */
    const sumsOf = (some: readonly Row[]): Map<number, number> => {
      const sums = new Map<number, number>(params.outputs === 1 ? [[0, 0]] : []);
      for (const { weight, target } of some) {
        const k = params.outputs === 1 ? 0 : target;
        sums.set(k, (sums.get(k) ?? 0) + (params.outputs === 1 ? weight * target : weight));
      }
      return new Map([...sums].sort(([one], [other]) => one - other));
    };
    const total = (numbers: Iterable<number>): number => [...numbers].reduce((sum, one) => sum + one, 0);
    const weightOf = (some: readonly Row[]): number => total(some.map(({ weight }) => weight));
    const squaresOf = (sums: ReadonlyMap<number, number>): number => total([...sums.values()].map((one) => one * one));

    const find = (some: readonly Row[]): Best | null => {
      const whole = sumsOf(some);
      const weight = weightOf(some);
      const drawn = total(some.map((one) => one.drawn));
      const parent = squaresOf(whole) / weight;
      let best: Best | null = null;

      const scan = (
        column: number,
        used: readonly number[],
        by: ReadonlyMap<number, readonly Row[]>,
        only: number,
        set: boolean,
        missing: boolean | null,
      ): void => {
        const side = new Map<number, number>();
        let [left, drawnLeft, squares, others] = [0, 0, 0, squaresOf(whole)];
        used.slice(0, -1).forEach((bin, place) => {
          const own = by.get(bin)!;
          drawnLeft += total(own.map((one) => one.drawn));
          if (params.outputs === 1) left += weightOf(own);
          for (const [k, more] of sumsOf(own)) {
            const before = side.get(k) ?? 0;
            side.set(k, before + more);
            if (params.outputs === 1) {
              squares = (before + more) ** 2;
              others = (whole.get(k)! - (before + more)) ** 2;
              continue;
            }
            left += more;
            squares += more * (2 * before + more);
            others -= more * (2 * (whole.get(k)! - before) - more);
          }
          if (only >= 0 && place !== only) return;
          if (drawnLeft < minRows || drawn - drawnLeft < minRows || (missing === true && place === 0)) return;
          const score = squares / left + others / (weight - left);
          if (best !== null && score <= best.score) return;
          const missingLeft = missing ?? 2 * drawnLeft >= drawn;
          best = { score, column, cut: set ? null : bin, left: new Set(used.slice(0, place + 1)), missingLeft };
        });
      };

      const look = (column: number): boolean => {
        const by = new Map<number, Row[]>();
        for (const one of some) {
          const bin = bins[one.at + column];
          by.set(bin, [...(by.get(bin) ?? []), one]);
        }
        const used = [...by.keys()].sort((one, other) => one - other);
        if (used.length < 2) return false;
        const kind = kinds[column];
        if (kind >= categoryKind) {
          const most = [...whole].reduce((large, one) => (one[1] > large[1] ? one : large))[0];
          const means = new Map(
            used.map((bin) => {
              const sums = sumsOf(by.get(bin)!);
              if (params.outputs === 1) return [bin, sums.get(0)! / weightOf(by.get(bin)!)];
              return [bin, (sums.get(most) ?? 0) / total(sums.values())];
            }),
          );
          const sorted = used.toSorted((one, other) => means.get(one)! - means.get(other)!);
          scan(column, sorted, by, randomCuts ? draw(stateAt.cuts, used.length - 1) : -1, true, false);
          return true;
        }
        const missing = used.at(-1) === kind;
        const known = missing ? used.slice(0, -1) : used;
        let only = -1;
        if (randomCuts) {
          const cut = known[0] + draw(stateAt.cuts, Math.max(1, known.at(-1)! - known[0]));
          only = known.findLastIndex((bin) => bin <= cut);
        }
        scan(column, used, by, only, false, missing ? false : null);
        if (missing) scan(column, [kind, ...known], by, only < 0 ? -1 : only + 1, false, true);
        return true;
      };

      for (let i = 0, looked = 0; i < width && looked < columns; i++) {
        const j = i + draw(stateAt.cuts, width - i);
        [order[i], order[j]] = [order[j], order[i]];
        if (look(order[i])) looked++;
      }
      const found = best as Best | null;
      const gain = (found?.score ?? 0) - parent;
      return found && gain > 1e-9 * Math.max(1, Math.abs(parent)) ? { ...found, score: gain } : null;
    };

    const divide = (from: number, to: number, { column, cut, left: set, missingLeft }: Best): number => {
      let [left, right] = [from, 0];
      for (let i = from; i < to; i++) {
        const entry = list.slice(3 * i, 3 * i + 3);
        const bin = bins[entry[0] * width + column];
        const goes = cut === null ? set.has(bin) : bin === kinds[column] ? missingLeft : bin <= cut;
        list.set(entry, 3 * left);
        spare.set(entry, 3 * right);
        if (goes) left++;
        else right++;
      }
      list.set(spare.subarray(0, 3 * right), 3 * left);
      return left;
    };

    const growNode = (): void => {
      const [from, to, depth, leaf, parent] = state.subarray(head + placeWords * --state[waiting]);
      const some = rowsOf(from, to);
      const pure = some.every(({ target }) => target === some[0].target);
      const drawn = total(some.map((one) => one.drawn));
      const open = (mostDepth === 0 || depth < mostDepth) && some.length > 1 && drawn >= 2 * minRows && !pure;
      const best = open ? find(some) : null;
      if (best === null) {
        leaves.set([from, to], 4 * leaf);
        return;
      }
      const middle = divide(from, to, best);
      const node = state[stateAt.nodes]++;
      const added = state[stateAt.leaves]++;
      if (parent !== noNode) nodes[4 * Math.floor(parent / 2) + 2 + (parent % 2)] = node;
      const test = best.cut ?? state[stateAt.sets]++;
      if (best.cut === null) for (const bin of best.left) masks[8 * test + (bin >> 5)] += 2 ** (bin & 31);
      nodes.set([best.column + (best.missingLeft ? 2 ** 31 : 0), test, ~leaf >>> 0, ~added >>> 0], 4 * node);
      gains[node] = best.score;
      const [one, other] = [
        [from, middle, depth + 1, leaf, 2 * node],
        [middle, to, depth + 1, added, 2 * node + 1],
      ];
      for (const place of middle - from > to - middle ? [one, other] : [other, one]) push(...place);
    };

    const finish = (): void => {
      let count = 0;
      for (let leaf = 0; leaf < state[stateAt.leaves]; leaf++) {
        const some = rowsOf(leaves[4 * leaf], leaves[4 * leaf + 1]);
        leaves[4 * leaf + 2] = count;
        for (const [k, sum] of sumsOf(some)) {
          values[count] = sum / weightOf(some);
          if (params.outputs > 1) classes[count] = k;
          count++;
        }
        leaves[4 * leaf + 3] = count;
      }
      state[stateAt.values] = count;
      state[stateAt.status] = slotStatus.done;
    };

    let visits = 0;
    if (state[stateAt.status] === slotStatus.toBegin) {
      begin();
      visits = 2 * rows;
    } else if (state[stateAt.status] !== slotStatus.growing) continue;
    while (state[waiting] > 0 && visits < budget) {
      const [from, to] = state.subarray(head + placeWords * (state[waiting] - 1));
      visits += nodeVisits + (to - from) * (2 + columns);
      growNode();
    }
    if (state[waiting] === 0) finish();
  }
};
