// What is explained, in words.

import type { Contributions } from '../protocol/explanation.ts';

export { cellText } from '../model/cell-text.ts';

/** What contributions are counted in, of an answer's name. */
export function explainedWords(answer: string, { exact }: Pick<Contributions, 'exact'>): string {
  switch (exact?.scale) {
    case 'log odds':
      return `log odds of ${answer}`;
    case 'score':
      return `score of ${answer}`;
    case 'logarithm':
      return `logarithm of ${answer}`;
    default:
      return answer;
  }
}
