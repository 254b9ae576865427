// The catalogue of hardware with the person's own entries over it: `hardware/catalogue.json` of the home folder.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { catalogueError, readCatalogue, type Catalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import { ownCataloguePlace } from '../../engine/hardware/catalogue/own.ts';
import { problemText, type Problem } from '../../engine/hardware/catalogue/check.ts';
import { codeOf } from '../../engine/history/home.ts';
import { unreadable } from './input-file.ts';
import type { Output } from './output.ts';

export const ownCatalogueFile = (home: string): string => path.join(home, ...ownCataloguePlace);

/** Reads a catalogue or an own file as text. Throws InputError `input.file`. */
export function readCatalogueText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error, 'input.file', 'Give a file of the catalogue.');
  }
}

/** The catalogue, with a remark where the own file is damaged: then the built-in one alone. */
export function openCatalogue(home: string, output: Output): { catalogue: Catalogue; problems: readonly Problem[] } {
  const file = ownCatalogueFile(home);
  const opened = readCatalogue(ownText(file, output));
  if (opened.problems.length > 0) {
    output.note(`! ${catalogueError(file, opened.problems).message} The built-in catalogue is used.`);
  }
  return opened;
}

function ownText(file: string, output: Output): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      output.note(`! ${file} cannot be read: ${code}. The built-in catalogue is used.`);
    }
    return null;
  }
}

export const problemLines = (problems: readonly Problem[]): string[] => problems.map(problemText);
