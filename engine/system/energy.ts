// The processor's own energy meter, as Linux shows it (RAPL, /sys/class/powercap): microjoules that only grow and begin again
// at a maximum. Most systems let the administrator alone read it.

import fs from 'node:fs';
import path from 'node:path';

interface Zone {
  readonly file: string;
  /** Microjoules after which it begins again. */
  readonly range: number;
  last: number;
}

/**
 * Starts a measurement of all processor packages; the function returned tells the joules since then, or null once a zone
 * cannot be read any more. Null where there is no meter that may be read. It has to be asked more often than the meter runs
 * over (a minute at full load on the largest processors).
 */
export function startEnergyMeter(folder = '/sys/class/powercap'): (() => number | null) | null {
  const zones = packages(folder);
  if (zones.length === 0) return null;
  let microjoules = 0;
  return () => {
    for (const zone of zones) {
      const now = readNumber(zone.file);
      if (now === null) return null;
      microjoules += now >= zone.last ? now - zone.last : now + zone.range - zone.last;
      zone.last = now;
    }
    return microjoules / 1e6;
  };
}

/** Packages alone: cores and memory controllers (`intel-rapl:0:1`) are parts of one. Empty unless all can be read. */
function packages(folder: string): readonly Zone[] {
  const zones = namesIn(folder)
    .filter((name) => /^intel-rapl:\d+$/.test(name))
    .map((name) => {
      const file = path.join(folder, name, 'energy_uj');
      return { file, range: readNumber(path.join(folder, name, 'max_energy_range_uj')), last: readNumber(file) };
    });
  return zones.every((zone): zone is Zone => zone.range !== null && zone.last !== null) ? zones : [];
}

function namesIn(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

function readNumber(file: string): number | null {
  try {
    const value = Number(fs.readFileSync(file, 'utf8').trim() || NaN);
    return Number.isFinite(value) && value >= 0 ? value : null;
  } catch {
    return null;
  }
}
