// Fuzzy matching for the palette: the letters typed have to appear in order; starts of words and unbroken stretches
// count more. Small enough for some thousand entries a key press.

/** 0 = no match; larger is better. */
export function fuzzyScore(typed: string, text: string): number {
  const wanted = typed.toLowerCase().replaceAll(' ', '');
  if (wanted === '') return 1;
  const lower = text.toLowerCase();
  const whole = lower.indexOf(typed.toLowerCase().trim());
  if (whole >= 0)
    return 200 - Math.min(whole, 50) + (whole === 0 || lower[whole - 1] === ' ' ? 50 : 0) - text.length / 100;

  let score = 0;
  let position = -1;
  for (const letter of wanted) {
    const next = lower.indexOf(letter, position + 1);
    if (next < 0) return 0;
    if (next === position + 1) score += 3;
    if (next === 0 || /[\s\-_./]/.test(lower[next - 1])) score += 4;
    score += 1;
    position = next;
  }
  return score - text.length / 100;
}
