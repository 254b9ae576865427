// Money on the screen: USD, with as many decimals as the size asks for.

import { fixed, missing } from '../../lib/format.ts';

/** `$2,000`, `$0.97`, `$0.004`; an en dash for what is missing. */
export function usd(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return missing;
  const size = Math.abs(value);
  const digits = size >= 100 || (size >= 10 && Number.isInteger(value)) || size === 0 ? 0 : size >= 0.095 ? 2 : 3;
  return size !== 0 && size < 0.0005 ? `under $${fixed(0.001, 3)}` : `$${fixed(value, digits)}`;
}
