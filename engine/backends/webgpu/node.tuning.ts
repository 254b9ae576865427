// Keeps the measured choices among kernel variants in a file, so that the next run need not measure again.

import * as fs from 'node:fs';
import path from 'node:path';
import type { TuningStore } from './tuning.ts';

/** A store over a JSON file. What cannot be read counts as empty, what cannot be written is forgotten: it only costs time. */
export function fileTuning(file: string): TuningStore {
  const choices = new Map(Object.entries(readChoices(file)));
  return {
    get: (key) => choices.get(key),
    set(key, variant) {
      choices.set(key, variant);
      try {
        fs.mkdirSync(path.dirname(file), { recursive: true });
        const part = `${file}.${process.pid}.part`;
        fs.writeFileSync(part, JSON.stringify(Object.fromEntries(choices)));
        fs.renameSync(part, file);
      } catch {
        // A read-only or full disk.
      }
    },
  };
}

function readChoices(file: string): Readonly<Record<string, string>> {
  try {
    const content: unknown = JSON.parse(fs.readFileSync(file, 'utf8'));
    if (typeof content !== 'object' || content === null) return {};
    return Object.fromEntries(Object.entries(content).filter(([, variant]) => typeof variant === 'string'));
  } catch {
    return {};
  }
}
