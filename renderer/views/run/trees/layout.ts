// Where the nodes of a tree stand: leaves, and nodes that are folded, side by side; a split above the middle of its two sides.

import type { TreeLook } from '../../../../engine/protocol/trees.ts';

export const box = { width: 160, height: 58, across: 176, down: 104 } as const;

export interface Placed {
  /** Among the nodes of the tree. */
  readonly place: number;
  readonly parent: number | null;
  readonly side: 'left' | 'right' | null;
  /** Middle of the upper edge, in pixels. */
  readonly x: number;
  readonly y: number;
  readonly folded: boolean;
}

export interface Layout {
  readonly nodes: readonly Placed[];
  readonly width: number;
  readonly height: number;
}

export function layoutOf({ nodes }: Pick<TreeLook, 'nodes'>, unfolded: ReadonlySet<number>): Layout {
  const placed: Placed[] = [];
  let columns = 0;
  let deepest = 0;
  const put = (place: number, depth: number, parent: number | null, side: Placed['side']): number => {
    const node = nodes[place];
    const folded = node.kind === 'split' && !unfolded.has(place);
    deepest = Math.max(deepest, depth);
    let x = columns;
    if (node.kind === 'leaf' || folded) columns++;
    else {
      const left = put(node.left, depth + 1, place, 'left');
      x = (left + put(node.right, depth + 1, place, 'right')) / 2;
    }
    placed.push({ place, parent, side, x: (x + 0.5) * box.across, y: depth * box.down, folded });
    return x;
  };
  put(0, 0, null, null);
  return { nodes: placed, width: columns * box.across, height: deepest * box.down + box.height };
}

/** Splits that are open at first: those of the first levels. */
export function firstUnfolded({ nodes }: Pick<TreeLook, 'nodes'>, levels = 3): Set<number> {
  const open = new Set<number>();
  const walk = (place: number, depth: number): void => {
    const node = nodes[place];
    if (node.kind === 'leaf' || depth >= levels) return;
    open.add(place);
    walk(node.left, depth + 1);
    walk(node.right, depth + 1);
  };
  walk(0, 0);
  return open;
}
