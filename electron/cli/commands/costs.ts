// `costs`: what all runs of the history have cost together, at the person's own electricity.

import { costWords, totalCost } from '../../../engine/hardware/bill.ts';
import { byMonth, secondsOf } from '../../../engine/hardware/use.ts';
import { phases, type BilledRun } from '../../../engine/protocol/bill.ts';
import { electricityFields, electricityKey } from '../../../engine/settings/electricity.ts';
import { about } from '../about.ts';
import type { Command } from '../command.ts';
import { electricityAsked, electricityHere } from '../electricity.ts';
import { homeFolder } from '../../../engine/system/home-folder.ts';
import { counted, formatSeconds } from '../output.ts';
import { openCatalogue } from '../own-catalogue.ts';

const { tariff, grid } = electricityFields;

export const costs: Command = {
  ...about.costs,
  positionals: [0, 0],
  options: {
    tariff: { type: 'string', value: 'USD', help: `${tariff.help}; kept (at first ${tariff.default})` },
    grid: { type: 'string', value: 'GRAMS', help: `${grid.help}; kept (at first ${grid.default}, the world's mean)` },
  },
  run: async ({ options, output, services }) => {
    const asked = electricityAsked(options);
    const store = await services.store;
    const electricity = await electricityHere(store, asked);
    if (Object.keys(asked).length > 0) await store.setSetting({ key: electricityKey, value: electricity });
    const { catalogue } = openCatalogue(homeFolder(), output);
    const billed = await store.bills();
    const rows = [...byMonth(billed), { month: 'all', runs: billed }].map(({ month, runs }) => {
      const { total, unknown } = totalCost(
        runs.map(({ bill }) => bill ?? undefined),
        electricity,
        catalogue,
      );
      return { month, runs: runs.length, seconds: secondsOf(runs), phases: phaseTotals(runs), total, unknown };
    });
    await output.events(
      rows.map(({ month, runs, seconds, phases: spent, total, unknown }) => ({
        event: 'costs',
        month,
        runs,
        seconds,
        phases: spent,
        kwh: total?.kilowattHours ?? null,
        carbon_kg: total?.carbon ?? null,
        money_usd: total?.money ?? null,
        source: total?.source ?? null,
        unknown_runs: unknown,
      })),
    );
    if (output.json) return;
    if (billed.length === 0) {
      output.line('No run has begun yet. Train one: trainyard train data.csv');
      return;
    }
    output.table(rows, [
      { title: 'month', value: ({ month }) => month },
      { title: 'runs', value: ({ runs }) => String(runs), right: true },
      { title: 'time', value: ({ seconds }) => formatSeconds(seconds), right: true },
      { title: 'energy, carbon, money', value: ({ total }) => (total ? `${costWords(total)} (${total.source})` : '–') },
    ]);
    const { unknown } = rows[rows.length - 1];
    output.line(`At ${electricity.tariff} USD and ${electricity.grid} g CO₂ a kWh: change with --tariff and --grid.`);
    if (unknown > 0)
      output.line(`${counted(unknown, 'run')} left out: of an earlier version, or on a GPU whose power is not known.`);
  },
};

function phaseTotals(runs: readonly BilledRun[]): Readonly<Record<string, number>> {
  const sums = phases.map(
    (phase) => [phase, runs.reduce((sum, { bill }) => sum + (bill?.phases[phase] ?? 0), 0)] as const,
  );
  return Object.fromEntries(sums);
}
