// What a run's bill comes to: energy, carbon and money. Energy is the processor's own figure where it has one; else an estimate
// from the time that processor and GPU were at work, and it is said which.

import type { RunBill } from '../protocol/bill.ts';
import { electricityFields, type Electricity } from '../settings/electricity.ts';
import type { Catalogue, Device } from './catalogue/catalogue.ts';
import { assumedLoad, carbon, energyCost, wattsPerThread } from './formulas/energy.ts';

export interface BillCost {
  readonly kilowattHours: number;
  /** kg of CO₂. */
  readonly carbon: number;
  /** USD. */
  readonly money: number;
  /** `mixed`: of several runs, some measured. */
  readonly source: 'measured' | 'estimated' | 'mixed';
  /** How it was found, a sentence. */
  readonly how: string;
}

const joulesPerKilowattHour = 3.6e6;
const load = (assumedLoad.low + assumedLoad.high) / 2;

/** Null: it ran on a GPU whose power nobody knows. */
export function costOf(bill: RunBill, electricity: Electricity, catalogue: Catalogue): BillCost | null {
  const card = bill.gpuSeconds > 0 ? deviceNamed(catalogue, bill.deviceName ?? '') : null;
  const watts = card?.power?.value ?? 0;
  if (bill.gpuSeconds > 0 && watts === 0) return null;
  const gpuJoules = watts * load * bill.gpuSeconds;
  const gpuWords =
    watts === 0 ? '' : `${card!.name} at ${percent(load)} of its ${watts} W for ${seconds(bill.gpuSeconds)}`;
  if (bill.joules !== undefined && watts === 0) {
    const how = 'Measured by the meter of the processor; what else ran meanwhile is in it.';
    return priced(bill.joules, electricity, 'measured', how);
  }
  const cpuJoules = bill.joules ?? wattsPerThread * bill.cpuSeconds;
  const cpuWords =
    bill.joules !== undefined
      ? 'the processor by its meter'
      : `${seconds(bill.cpuSeconds)} of processor time at ${wattsPerThread} W a thread`;
  const how = `Estimated: ${[cpuWords, gpuWords].filter(Boolean).join(', ')}.`;
  return priced(cpuJoules + gpuJoules, electricity, 'estimated', how);
}

/** The bills of many runs together. `unknown`: how many have none that can be told. */
export function totalCost(
  bills: readonly (RunBill | undefined)[],
  electricity: Electricity,
  catalogue: Catalogue,
): { readonly total: BillCost | null; readonly unknown: number } {
  const costs = bills.flatMap((bill) => (bill && costOf(bill, electricity, catalogue)) ?? []);
  const unknown = bills.length - costs.length;
  if (costs.length === 0) return { total: null, unknown };
  const measured = costs.filter(({ source }) => source === 'measured').length;
  const source = measured === costs.length ? 'measured' : measured === 0 ? 'estimated' : 'mixed';
  const joules = costs.reduce((sum, { kilowattHours }) => sum + kilowattHours * joulesPerKilowattHour, 0);
  const how = source === 'mixed' ? `Measured for ${measured} of ${costs.length} runs.` : costs[0].how;
  return { total: priced(joules, electricity, source, how), unknown };
}

/** A device by the name its driver gives it: `NVIDIA GeForce RTX 4090 (Vulkan)`. The longest name that fits. */
export function deviceNamed(catalogue: Catalogue, name: string): Device | null {
  const words = wordsOf(name);
  const fitting = catalogue.devices.filter((device) => {
    const wanted = wordsOf(device.name);
    return wanted.length > 0 && wanted.every((word) => words.includes(word));
  });
  return fitting.sort((a, b) => b.name.length - a.name.length)[0] ?? null;
}

/** The electricity that a kept setting says, or the default of what it does not say well. */
export function electricityOf(kept: unknown): Electricity {
  const given = typeof kept === 'object' && kept !== null ? (kept as Readonly<Record<string, unknown>>) : {};
  const read = (name: keyof Electricity): number => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    const { minimum, maximum, default: usual } = electricityFields[name];
    return typeof value === 'number' && value >= minimum && value <= maximum ? value : usual;
  };
  return { tariff: read('tariff'), grid: read('grid') };
}

/** `0.8 Wh, 0.4 g CO₂, 0.014 ¢`. */
export const costWords = ({ kilowattHours, carbon: kilograms, money }: BillCost): string =>
  [energyText(kilowattHours), carbonText(kilograms), moneyText(money)].join(', ');

/** `0.8 Wh`, `5.2 kWh`, `12 mWh`; below what anybody reads `under 0.001 mWh`. */
export function energyText(kilowattHours: number): string {
  const units = [
    ['MWh', 1e-3],
    ['kWh', 1],
    ['Wh', 1e3],
    ['mWh', 1e6],
  ] as const;
  const [unit, factor] = units.find(([, by]) => kilowattHours * by >= 1) ?? units[3];
  return `${small(kilowattHours * factor)} ${unit}`;
}

/** `1.9 kg CO₂`, `0.4 g CO₂`, `under 0.001 g CO₂`. */
export function carbonText(kilograms: number): string {
  return kilograms >= 1 ? `${short(kilograms)} kg CO₂` : `${small(1000 * kilograms)} g CO₂`;
}

/** `$0.94`, `$407,998.80`; under a cent `0.004 ¢`, `under 0.001 ¢`. */
export function moneyText(usd: number): string {
  return usd >= 0.01 || usd === 0
    ? `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
    : `${small(100 * usd)} ¢`;
}

function priced(joules: number, { tariff, grid }: Electricity, source: BillCost['source'], how: string): BillCost {
  const kilowattHours = joules / joulesPerKilowattHour;
  return {
    kilowattHours,
    carbon: carbon(kilowattHours, grid),
    money: energyCost(kilowattHours, tariff),
    source,
    how,
  };
}

/** Of the smallest unit there is: what is next to nothing is said to be. */
const small = (value: number): string => (value > 0 && value < 0.001 ? 'under 0.001' : short(value));

const wordsOf = (name: string): readonly string[] => name.toLowerCase().match(/[a-z0-9]+/g) ?? [];
const percent = (share: number): string => `${Math.round(100 * share)} %`;
const seconds = (value: number): string =>
  value < 120 ? `${short(value)} s` : value < 7200 ? `${short(value / 60)} min` : `${short(value / 3600)} h`;
const short = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2)));
