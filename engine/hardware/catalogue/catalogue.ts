// The catalogue as the rest reads it: every figure with its source, date and confidence written out, own entries over
// built-in ones. A damaged own file takes nothing away: the built-in catalogue goes on, and what is wrong is said.

import builtIn from '../catalogue.json' with { type: 'json' };
import { InputError } from '../../protocol/errors.ts';
import { checkFile, problemText, rowProblems, type LooseRow, type LooseRows, type Problem } from './check.ts';
import {
  catalogueFile,
  deviceFigureNames,
  ownFile,
  rowNames,
  rowSchemas,
  type CatalogueFile,
  type Confidence,
  type DeviceFigure,
  type DeviceKind,
  type DeviceUse,
  type FigureEntry,
  type RowName,
} from './schema.ts';

export interface Source {
  readonly title: string;
  readonly url: string | null;
  /** When it was published; `null`: it does not say. */
  readonly date: string | null;
  readonly read: string;
}

export interface Figure {
  readonly value: number;
  /** Where sources or variants differ. */
  readonly low?: number;
  readonly high?: number;
  readonly source: string;
  readonly confidence: Confidence;
  /** As of when, `2026-11-21`; `null`: undated. */
  readonly date: string | null;
  readonly note?: string;
}

export interface Device extends Readonly<Partial<Record<DeviceFigure, Figure>>> {
  readonly id: string;
  readonly name: string;
  readonly vendor: string;
  readonly kind: DeviceKind;
  readonly use: DeviceUse;
  readonly year?: number;
  readonly unified: boolean;
  readonly note?: string;
  /** The person added or changed it. */
  readonly own: boolean;
}

export interface Offer {
  readonly id: string;
  readonly provider: string;
  readonly instance: string;
  /** A device of the catalogue. */
  readonly device?: string;
  readonly deviceName: string;
  readonly count: number;
  /** USD an hour of the whole instance. */
  readonly onDemand: Figure;
  readonly spot?: Figure;
  readonly region: string;
  readonly note?: string;
  readonly own: boolean;
}

export interface Rate {
  readonly id: string;
  readonly name: string;
  readonly rate: Figure;
  readonly own: boolean;
}

export interface Catalogue {
  readonly compiled: string;
  readonly sources: ReadonlyMap<string, Source>;
  readonly devices: readonly Device[];
  readonly offers: readonly Offer[];
  /** g of CO₂ a kWh. */
  readonly grids: readonly Rate[];
  /** USD a kWh. */
  readonly tariffs: readonly Rate[];
}

/** Source of what a person typed, unless they say another. */
export const ownSource = 'own';

/** The built-in catalogue, with `own` (the text of a person's file) over it; `problems` are those of that file. */
export function readCatalogue(own: string | null = null): { catalogue: Catalogue; problems: readonly Problem[] } {
  const file = builtInFile();
  if (own === null) return { catalogue: resolve(file, new Set()), problems: [] };
  const { value, problems } = mergeOwn(file, own);
  if (value === null) return { catalogue: resolve(file, new Set()), problems };
  return { catalogue: resolve(value.file, value.changed), problems: [] };
}

/** What is wrong with a file: an own one, or a whole catalogue. */
export function checkCatalogue(text: string): readonly Problem[] {
  const whole = /"compiled"\s*:/.test(text);
  if (whole) return checkFile(text, catalogueFile, wholeProblems).problems;
  return mergeOwn(builtInFile(), text).problems;
}

/** The error of a damaged file: its first problem, and how many more there are. */
export function catalogueError(file: string, problems: readonly Problem[]): InputError {
  const [first, ...others] = problems;
  const more = others.length === 0 ? '' : ` And ${others.length} more.`;
  return new InputError(
    'input.catalogue',
    `${file}: ${problemText(first)}${more}`,
    'See docs/hardware.md for the fields.',
  );
}

let parsed: CatalogueFile | null = null;

function builtInFile(): CatalogueFile {
  parsed ??= catalogueFile.parse(builtIn);
  return parsed;
}

type Placed = ReturnType<typeof rowProblems>;

const wholeProblems = (rows: LooseRows): Placed => [
  ...rowProblems(rows, (key) => Object.hasOwn(rows.sources, key)),
  ...deviceProblems(rows.devices, rows.offers),
];

/** Offers of devices that are nowhere. */
function deviceProblems(devices: readonly LooseRow[], offers: readonly LooseRow[]): Placed {
  const known = new Set(devices.map((device) => device.id));
  return offers.flatMap(({ device, deviceName }, index): Placed => {
    if (device === undefined)
      return deviceName === undefined ? [{ place: ['offers', index], what: 'device or deviceName expected' }] : [];
    if (known.has(device) || typeof device !== 'string') return [];
    return [{ place: ['offers', index, 'device'], what: `there is no device “${device}”` }];
  });
}

interface Merged {
  readonly file: CatalogueFile;
  /** Rows with something of the person's, as `devices/rtx-4090`. */
  readonly changed: ReadonlySet<string>;
}

function mergeOwn(base: CatalogueFile, text: string): { value: Merged | null; problems: readonly Problem[] } {
  const changed = new Set<string>();
  let file: CatalogueFile = base;
  const { value: own, problems } = checkFile(text, ownFile, (rows) => {
    const found: Placed = [];
    const lists = Object.fromEntries(
      rowNames.map((list) => [list, mergeRows(list, base[list], rows[list], changed, found)]),
    ) as Pick<CatalogueFile, RowName>;
    const sources = { ...base.sources, ...rows.sources };
    file = { ...base, ...lists, sources };
    const offers = deviceProblems(lists.devices, lists.offers).flatMap(({ place, what }): Placed => {
      const { id } = lists.offers[place[1] as number];
      return [{ place: ['offers', rows.offers.findIndex((offer) => offer.id === id), ...place.slice(2)], what }];
    });
    return [...rowProblems(rows, (key) => key === ownSource || Object.hasOwn(sources, key)), ...found, ...offers];
  });
  return { value: own === null ? null : { file, changed }, problems };
}

type AnyRow = LooseRow & { readonly id: string };

/** Rows of the same name keep what the own one does not say; a new one has to be whole. One without a name is left out. */
function mergeRows(
  list: RowName,
  base: readonly AnyRow[],
  own: readonly LooseRow[],
  changed: Set<string>,
  problems: Placed,
): AnyRow[] {
  const rows = new Map(base.map((row) => [row.id, row]));
  for (const [index, row] of own.entries()) {
    if (!isNamed(row)) continue;
    const before = rows.get(row.id);
    const merged =
      before === undefined ? { source: ownSource, confidence: 'own', date: null, ...row } : changeRow(before, row);
    const result = rowSchemas[list].safeParse(merged);
    for (const { path } of result.success ? [] : result.error.issues) {
      // What is there and wrong has been told.
      if (path.length !== 1 || merged[path[0] as string] !== undefined) continue;
      problems.push({ place: [list, index, path[0] as string], what: 'missing, and not built in' });
    }
    rows.set(row.id, merged as AnyRow);
    changed.add(`${list}/${row.id}`);
  }
  return [...rows.values()];
}

const isNamed = (row: LooseRow): row is AnyRow => typeof row.id === 'string';

const figureFields = new Set<string>([...deviceFigureNames, 'onDemand', 'spot', 'gramsPerKWh', 'usdPerKWh']);

/** Figures that the person gives are theirs; the others keep the source they had. */
function changeRow(before: AnyRow, { source = ownSource, confidence = 'own', date = null, ...own }: AnyRow): AnyRow {
  const figures = Object.entries(own).map(([name, value]) => {
    if (!figureFields.has(name)) return [name, value];
    const entry = typeof value === 'number' ? { value } : (value as object);
    return [name, { source, confidence, date, ...entry }];
  });
  return { ...before, ...Object.fromEntries(figures) } as AnyRow;
}

function resolve(file: CatalogueFile, changed: ReadonlySet<string>): Catalogue {
  const dateOf = (source: string): string | null =>
    Object.hasOwn(file.sources, source) ? file.sources[source].date : null;
  const figureOf = (
    row: { source: string; confidence: Confidence; date?: string | null },
    entry: FigureEntry,
  ): Figure => {
    const own: Exclude<FigureEntry, number> = typeof entry === 'number' ? { value: entry } : entry;
    const source = own.source ?? row.source;
    // A date of the row is that of its own source.
    const inherited = source === row.source && row.date !== undefined ? row.date : dateOf(source);
    return {
      ...own,
      source,
      confidence: own.confidence ?? row.confidence,
      date: own.date === undefined ? inherited : own.date,
    };
  };
  const names = new Map(file.devices.map(({ id, name }) => [id, name]));
  return {
    compiled: file.compiled,
    sources: new Map(Object.entries(file.sources)),
    devices: file.devices.map((row) => {
      const { id, name, vendor, kind, use, year, unified = false, note } = row;
      const figures = deviceFigureNames.flatMap((field) => {
        const entry = row[field];
        return entry === undefined ? [] : [[field, figureOf(row, entry)] as const];
      });
      const own = changed.has(`devices/${id}`);
      return { id, name, vendor, kind, use, year, unified, note, own, ...Object.fromEntries(figures) };
    }),
    offers: file.offers.map((row) => {
      const { id, provider, instance, device, count, region, note } = row;
      const deviceName = row.deviceName ?? names.get(device ?? '') ?? '';
      const spot = row.spot === undefined ? undefined : figureOf(row, row.spot);
      const own = changed.has(`offers/${id}`);
      return {
        id,
        provider,
        instance,
        device,
        deviceName,
        count,
        onDemand: figureOf(row, row.onDemand),
        spot,
        region,
        note,
        own,
      };
    }),
    grids: file.grids.map((row) => ({
      id: row.id,
      name: row.name,
      rate: figureOf(row, row.gramsPerKWh),
      own: changed.has(`grids/${row.id}`),
    })),
    tariffs: file.tariffs.map((row) => ({
      id: row.id,
      name: row.name,
      rate: figureOf(row, row.usdPerKWh),
      own: changed.has(`tariffs/${row.id}`),
    })),
  };
}
