// Words without what people write in several ways.

/** What stays of a category without case, spaces around and between, and ways of writing a number. */
export function normalForm(category: string): string {
  const plain = category.normalize('NFKC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
  return /^[+-]?(\d{1,15}\.?\d{0,6}|\.\d{1,6})$/.test(plain) ? String(Number(plain)) : plain;
}

/** A column's name without case and marks. */
export function bareName(name: string): string {
  const letters = name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s_.-]+/g, '');
  return letters === '' ? name : letters;
}
