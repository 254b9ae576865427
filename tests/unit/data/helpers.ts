// What the tests of the data service share: a service on a home of its own, fixtures, and small tables written on the spot.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createDataService } from '../../../engine/data/service.ts';
import type { DataServiceOptions } from '../../../engine/data/service.ts';
import type { DatasetInfo, DatasetSettings, ReadOptions } from '../../../engine/protocol/data.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/', import.meta.url));
export const samples = fileURLToPath(new URL('../../../samples/', import.meta.url));

export function messy(name: string): string {
  return join(fixtures, 'messy', name);
}

export function table(name: string): string {
  return join(fixtures, 'tables', name);
}

/** A folder that is removed after the test. */
export function temporaryFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-data-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export type TestService = ReturnType<typeof createDataService> & { readonly home: string };

/** A data service on an empty home. */
export function makeService(context: TestContext, options: Partial<DataServiceOptions> = {}): TestService {
  const home = options.home ?? temporaryFolder(context);
  const service = createDataService({ threads: 2, ...options, home });
  context.after(() => service.close());
  return { ...service, home };
}

/** Imports a file into an empty home. */
export async function importFile(
  context: TestContext,
  path: string,
  options?: ReadOptions,
  settings?: DatasetSettings,
): Promise<{ service: TestService; info: DatasetInfo }> {
  const service = makeService(context);
  return { service, info: await service.import({ job: 'import', path, options, settings }) };
}

/** Writes a file into a temporary folder. */
export function writeTable(context: TestContext, name: string, text: string | Uint8Array): string {
  const path = join(temporaryFolder(context), name);
  writeFileSync(path, text);
  return path;
}

/** All rows of a small dataset. */
export async function allRows(service: TestService, info: DatasetInfo): Promise<readonly (readonly unknown[])[]> {
  return (await service.rows({ dataset: info.id, offset: 0, limit: info.rows })).rows;
}

export function columnOf(info: DatasetInfo, name: string): DatasetInfo['columns'][number] {
  const column = info.columns.find((candidate) => candidate.name === name);
  if (column === undefined) throw new Error(`no column ${name} in ${info.columns.map((one) => one.name).join(', ')}`);
  return column;
}

/** Codes of a dataset's warnings. */
export function codes(warnings: readonly { readonly code: string }[]): string[] {
  return warnings.map(({ code }) => code);
}
