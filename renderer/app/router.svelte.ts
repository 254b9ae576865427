// Addresses: every view lives in the hash (`#run/42`, `#compare/7,9`), so that Back, Forward, the palette and a restart
// reach everything the same way.

import { viewNames, type ViewName } from '../lib/views.ts';

export interface Address {
  readonly view: ViewName;
  /** Path parts after the view: `#dataset/ab12/rows` → `['ab12', 'rows']`. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

const views: ReadonlySet<string> = new Set(viewNames);

function isView(name: string): name is ViewName {
  return views.has(name);
}

/** Unknown addresses lead to the datasets. */
export function parseAddress(hash: string): Address {
  const [path, query = ''] = hash.replace(/^#/, '').split('?');
  const [view, ...parts] = path.split('/').map(decodeURIComponent);
  return { view: isView(view) ? view : 'datasets', parts, query: new URLSearchParams(query) };
}

export class Router {
  address: Address = $state.raw(parseAddress(location.hash));
  canGoBack: boolean = $state(false);
  canGoForward: boolean = $state(false);
  #position = 0;
  #furthest = 0;

  /** Follows the window's address; returns the function that stops it. */
  start(): () => void {
    history.replaceState({ position: 0 }, '');
    const changed = (): void => this.#changed();
    window.addEventListener('popstate', changed);
    // It may have been led elsewhere since it was made, while nobody listened.
    this.address = parseAddress(location.hash);
    return () => window.removeEventListener('popstate', changed);
  }

  go(hash: string): void {
    if (hash === location.hash) return;
    history.pushState({ position: this.#position + 1 }, '', hash);
    this.#furthest = this.#position + 1;
    this.#changed();
  }

  /** Changes the address without a step in the history: for a view's own state such as its tab. */
  replace(hash: string): void {
    history.replaceState({ position: this.#position }, '', hash);
    this.#changed();
  }

  back(): void {
    if (this.canGoBack) history.back();
  }

  forward(): void {
    if (this.canGoForward) history.forward();
  }

  #changed(): void {
    const state: unknown = history.state;
    if (typeof state === 'object' && state !== null && 'position' in state) this.#position = Number(state.position);
    else {
      // A link was followed: the browser made the history entry itself.
      this.#position += 1;
      this.#furthest = this.#position;
      history.replaceState({ position: this.#position }, '');
    }
    this.#furthest = Math.max(this.#furthest, this.#position);
    this.canGoBack = this.#position > 0;
    this.canGoForward = this.#position < this.#furthest;
    this.address = parseAddress(location.hash);
  }
}
