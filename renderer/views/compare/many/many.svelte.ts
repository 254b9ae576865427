// The state of many compared runs: the order of the axes, which are turned, what is brushed, which runs are pinned. The address holds it all, so
// that going back, or sending it to oneself, shows the same.

import type { Router } from '../../../app/router.svelte.ts';
import type { ComparedRun, Comparison } from '../compare.svelte.ts';
import { asEnglish } from '../../../lib/format.ts';
import { axesOf, withinBrushes, type Axis, type Brush } from './axes.ts';

/** From so many runs on they are shown as axes instead of columns. */
export const manyRuns = 7;
/** Runs with a colour of their own. */
export const mostPinned = 6;
const usuallyPinned = 4;

export class ManyRuns {
  /** The run under the pointer, or the current row: its position. */
  current: number | null = $state(null);
  readonly #comparison: Comparison;
  readonly #router: Router;

  constructor(comparison: Comparison, router: Router) {
    this.#comparison = comparison;
    this.#router = router;
  }

  get runs(): readonly ComparedRun[] {
    return this.#comparison.runs;
  }

  readonly #found: readonly Axis[] = $derived.by(() => this.#find());

  #find(): readonly Axis[] {
    return axesOf(
      this.#comparison.runs.map(({ run }) => run),
      this.#comparison.metrics,
    );
  }

  /** In the person's order: settings, costs, scores at first. */
  get axes(): readonly Axis[] {
    return this.#inOrder(this.#found);
  }

  /** The same as a file has them. */
  get fileAxes(): readonly Axis[] {
    return asEnglish(() => this.#inOrder(this.#find()));
  }

  #inOrder(found: readonly Axis[]): readonly Axis[] {
    const order = this.#list('axes');
    const place = (axis: Axis): number => {
      const at = order.indexOf(axis.id);
      return at < 0 ? order.length : at;
    };
    return found
      .map((axis, index) => ({ axis, index }))
      .sort((a, b) => place(a.axis) - place(b.axis) || a.index - b.index)
      .map(({ axis }) => axis);
  }

  isTurned(axis: Axis): boolean {
    return this.#list('turned').includes(axis.id);
  }

  get brushes(): ReadonlyMap<string, Brush> {
    return new Map(
      this.#list('brush').flatMap((text): [string, Brush][] => {
        const [id, from, to] = text.split('~');
        const [low, high] = [Number(from), Number(to)];
        return Number.isFinite(low) && Number.isFinite(high) && to !== undefined ? [[id, [low, high]]] : [];
      }),
    );
  }

  /** Positions of the runs within all brushes. */
  get within(): readonly number[] {
    return withinBrushes(this.#found, this.brushes, this.runs.length);
  }

  /** Numbers of the runs that have a colour: the first few at first. */
  get pinned(): readonly number[] {
    const chosen = this.#router.address.query.get('pinned');
    const ids = this.runs.map(({ run }) => run.id);
    if (chosen === null) return ids.slice(0, usuallyPinned);
    return chosen
      .split(',')
      .map(Number)
      .filter((id) => ids.includes(id))
      .slice(0, mostPinned);
  }

  pin(run: number): void {
    const pinned = this.pinned;
    const next = pinned.includes(run) ? pinned.filter((other) => other !== run) : [...pinned, run].slice(-mostPinned);
    this.#write({ pinned: next.join(',') });
  }

  brush(axis: string, range: Brush | null): void {
    const brushes = new Map(this.brushes);
    if (range === null) brushes.delete(axis);
    else brushes.set(axis, range);
    this.#writeList(
      'brush',
      [...brushes].map(([id, [from, to]]) => `${id}~${from.toFixed(3)}~${to.toFixed(3)}`),
    );
  }

  clearBrushes(): void {
    this.#writeList('brush', []);
  }

  turn(axis: string): void {
    const turned = this.#list('turned');
    this.#writeList('turned', turned.includes(axis) ? turned.filter((id) => id !== axis) : [...turned, axis]);
  }

  /** Puts an axis at a place. */
  move(axis: string, to: number): void {
    const order = this.axes.map(({ id }) => id).filter((id) => id !== axis);
    order.splice(Math.max(0, Math.min(order.length, to)), 0, axis);
    this.#writeList('axes', order);
  }

  #list(key: string): readonly string[] {
    return (this.#router.address.query.get(key) ?? '').split('|').filter(Boolean);
  }

  #writeList(key: string, list: readonly string[]): void {
    this.#write({ [key]: list.join('|') });
  }

  #write(changes: Readonly<Record<string, string>>): void {
    const { parts, query } = this.#router.address;
    const next = new URLSearchParams(query);
    for (const [key, value] of Object.entries(changes)) {
      if (value === '' && key !== 'pinned') next.delete(key);
      else next.set(key, value);
    }
    const text = next.toString();
    this.#router.replace(`#compare/${parts[0] ?? ''}${text === '' ? '' : `?${text}`}`);
  }
}
