// The settings of a run as names and values, names of parts joined by dots: what logs call parameters.

import type { RunConfig } from '../../protocol/runs.ts';

export function flatSettings(config: RunConfig): readonly (readonly [name: string, value: string])[] {
  const found: [string, string][] = [];
  const visit = (value: unknown, name: string): void => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [key, inner] of Object.entries(value)) visit(inner, name === '' ? key : `${name}.${key}`);
    } else if (value !== undefined) {
      found.push([name, typeof value === 'string' ? value : JSON.stringify(value)]);
    }
  };
  visit(config, '');
  return found;
}
