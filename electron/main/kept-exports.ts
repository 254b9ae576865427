// The exports that the app keeps, <home>/exports/RUN/FORMAT/, each with what is known of it in FORMAT.json beside it. A format is there
// as a whole or not at all: it is written under another name and renamed, and named by its list last.

import fs from 'node:fs/promises';
import path from 'node:path';
import { exportsFolder } from '../../engine/history/home.ts';
import { readAgain } from '../../engine/runs/read-again.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import { exportFormats, exportWords, type ExportFormat, type KeptExport } from '../../engine/protocol/exports.ts';
import type { MadeExport } from '../../engine/runs/export.ts';

/** The text of a script in which a file is called by another name. */
const renamedIn = (text: string, [name, now]: readonly [string, string]): string =>
  text.replaceAll(JSON.stringify(name), () => JSON.stringify(now));

export class KeptExports {
  readonly #folder: string;

  constructor(home: string) {
    this.#folder = path.join(home, exportsFolder);
  }

  /** What is there of a run; what cannot be read counts as not there. */
  async list(run: number): Promise<readonly KeptExport[]> {
    const found = await Promise.all(exportFormats.map((format) => this.#read(run, format)));
    return found.filter((one) => one !== null);
  }

  async keep(run: number, format: ExportFormat, name: string, made: MadeExport): Promise<KeptExport> {
    const { files, certificate } = made;
    const folder = this.#place(run, format);
    const fresh = `${folder}.${process.pid}.part`;
    const about: KeptExport = {
      format,
      name,
      files: files.map(({ path: file, data }) => ({ path: file, bytes: data.length })),
      bytes: files.reduce((sum, { data }) => sum + data.length, 0),
      writtenAt: Date.now(),
      certificate,
    };
    let kept = about;
    try {
      const placeOf = (file: string): string => path.join(fresh, ...file.split('/'));
      for (const { path: file, data } of files) {
        const place = placeOf(file);
        await fs.mkdir(path.dirname(place), { recursive: true });
        await fs.writeFile(place, data);
      }
      kept = { ...about, proven: [...made.proven, await readAgain(files, placeOf)] };
      await fs.rm(`${folder}.json`, { force: true });
      await fs.rm(folder, { recursive: true, force: true });
      await fs.rename(fresh, folder);
      await fs.writeFile(`${folder}.json.part`, JSON.stringify(kept));
      await fs.rename(`${folder}.json.part`, `${folder}.json`);
    } catch (error) {
      await fs.rm(fresh, { recursive: true, force: true });
      if (error instanceof TrainyardError) throw error;
      const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
      const message = `The export could not be kept (${reason}).`;
      throw new TrainyardError('store.not_saved', message, 'Free some space on the disk of the home folder.', {
        cause: error,
      });
    }
    return kept;
  }

  /** The file to hand on, or the folder. Throws `run.no_export`. */
  async pathOf(run: number, format: ExportFormat): Promise<string> {
    const { files } = await this.need(run, format);
    const folder = this.#place(run, format);
    return exportWords[format].folder ? folder : path.join(folder, files[0].path);
  }

  /** Copies one to a place: a folder as a folder, files beside each other under the place's own name. */
  async copyTo(run: number, format: ExportFormat, place: string): Promise<void> {
    const { files, name } = await this.need(run, format);
    const folder = this.#place(run, format);
    if (exportWords[format].folder) {
      await fs.cp(folder, place, { recursive: true, force: true });
      return;
    }
    const [main, ...beside] = files.map(({ path: file }) => file);
    await fs.copyFile(path.join(folder, main), place);
    const stemOf = (file: string): string => path.parse(file).name.replace(/\.failed$/, '');
    const stem = stemOf(name);
    const own = new Map(
      beside.map((file) => [
        file,
        file.startsWith(`${stem}.`) ? `${stemOf(place)}${file.slice(stem.length)}` : path.basename(file),
      ]),
    );
    // Scripts name the model as it was made, before it failed.
    const named = [...own, [stem + path.extname(main), path.basename(place)] as const];
    for (const [file, copy] of own) {
      const [from, to] = [path.join(folder, file), path.join(path.dirname(place), copy)];
      if (!file.endsWith('.py')) await fs.copyFile(from, to);
      else await fs.writeFile(to, named.reduce(renamedIn, await fs.readFile(from, 'utf8')));
    }
  }

  async need(run: number, format: ExportFormat): Promise<KeptExport> {
    const kept = await this.#read(run, format);
    if (kept) return kept;
    throw new TrainyardError('run.no_export', `Run ${run} has no such export yet.`, 'Make it first.');
  }

  #place(run: number, format: ExportFormat): string {
    return path.join(this.#folder, String(run), format);
  }

  async #read(run: number, format: ExportFormat): Promise<KeptExport | null> {
    const folder = this.#place(run, format);
    try {
      const kept = JSON.parse(await fs.readFile(`${folder}.json`, 'utf8')) as KeptExport;
      await Promise.all(kept.files.map(({ path: file }) => fs.access(path.join(folder, ...file.split('/')))));
      return kept;
    } catch {
      return null;
    }
  }
}
