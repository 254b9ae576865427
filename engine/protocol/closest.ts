// "Did you mean …": the known name nearest to what a person wrote.

/** The hint for a name that is not among `known`. */
export function didYouMean(written: string, known: readonly string[]): string {
  const near = closest(written, known);
  if (near !== null) return `Did you mean "${near}"?`;
  const listed = known.slice(0, 12).join(', ');
  return `There ${known.length === 1 ? 'is' : 'are'}: ${listed}${known.length > 12 ? ' …' : ''}.`;
}

/** The known name nearest to a written one; null = none is near. */
export function closest(written: string, known: readonly string[]): string | null {
  const wish = written.toLowerCase();
  let best: string | null = null;
  let least = Math.max(2, Math.floor(wish.length / 3)) + 1;
  for (const name of known) {
    const distance = editDistance(wish, name.toLowerCase());
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

/** Levenshtein's distance: the fewest insertions, deletions and replacements. */
function editDistance(first: string, second: string): number {
  let previous = Array.from({ length: second.length + 1 }, (_, index) => index);
  for (let row = 1; row <= first.length; row++) {
    const current = [row];
    for (let column = 1; column <= second.length; column++) {
      const replace = (previous[column - 1] ?? 0) + (first[row - 1] === second[column - 1] ? 0 : 1);
      current.push(Math.min(replace, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[second.length] ?? 0;
}
