// Help as it stands on a terminal: what is explained at the left, its words beside it, in lines that fit.

/** What is longer at the left has its words below it. */
const widestLeft = 26;
/** Longer lines are hard to read, narrower ones would be of a few words. */
const [narrowest, widest] = [50, 110];

/** Columns that help may take: all that it needs where nobody but a program reads it. */
export const helpWidth = ({ isTTY, columns = 80 }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>): number =>
  isTTY ? Math.min(widest, Math.max(narrowest, columns)) : Infinity;

/** Words in lines of `width` characters; a longer word has a line of its own. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string;
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export function twoColumns(
  rows: readonly (readonly [left: string, right: string])[],
  width: number,
): readonly string[] {
  const lefts = rows.map(([left]) => left.length).filter((length) => length <= widestLeft);
  const indent = Math.max(0, ...lefts) + 2;
  return rows.flatMap(([left, right]) => {
    const lines = wrapped(right, width - indent).map((line) => ' '.repeat(indent) + line);
    return left.length > widestLeft
      ? [left, ...lines]
      : [left.padEnd(indent) + lines[0].trimStart(), ...lines.slice(1)];
  });
}
