// A tree drawn in text: a line a node, its children indented below it.

import type { TreeLook } from '../../engine/protocol/trees.ts';
import { formatCount, formatNumber, type Output } from './output.ts';

export function printTree(output: Output, look: TreeLook): void {
  const { tree, of, wanted, classes, adds, scale, nodes, leaves, depth } = look;
  const ofClass = classes && wanted !== null ? `, ${classes[wanted]}` : '';
  output.line(
    `Tree ${formatCount(tree)} of ${formatCount(of)}${ofClass}: ${formatCount(leaves)} leaves, depth ${depth}`,
  );
  const unit = scale === 'answer' ? (classes ? 'share' : 'value') : scale;
  output.line(`Leaves: what they ${adds ? 'add' : 'answer'} (${unit}).`);
  output.line();
  const below: { place: number; lead: string; branch: string; indent: string }[] = [
    { place: 0, lead: '', branch: '', indent: '' },
  ];
  for (let next = below.pop(); next; next = below.pop()) {
    const { place, lead, branch, indent } = next;
    const node = nodes[place];
    const rows = `${formatCount(node.rows)} ${node.rows === 1 ? 'row' : 'rows'}`;
    if (node.kind === 'leaf') {
      output.line(`${lead}${branch}${adds && node.value >= 0 ? '+' : ''}${formatNumber(node.value)}  (${rows})`);
      continue;
    }
    output.line(`${lead}${branch}${node.column} ${node.condition}?  (${rows}, gain ${formatNumber(node.gain)})`);
    const side = (way: 'left' | 'right', word: string): string =>
      `${word}${node.missing === way ? ' or missing' : ''}: `;
    const under = { place: node.left, lead: `${indent}├ `, branch: side('left', 'yes'), indent: `${indent}│ ` };
    const last = { place: node.right, lead: `${indent}└ `, branch: side('right', 'no'), indent: `${indent}  ` };
    below.push(last, under);
  }
}
