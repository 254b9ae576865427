// The licences of the app and of everything in it, for the window: the files that lie beside the program (folders.ts).

import fs from 'node:fs/promises';
import type { Licences } from '../../engine/protocol/app.ts';

export async function readLicences(files: Licences): Promise<Licences> {
  const [own, notices] = await Promise.all([files.own, files.notices].map((file) => fs.readFile(file, 'utf8')));
  return { own, notices };
}
