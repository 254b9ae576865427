// `catalogue`: what is known of devices and of renting them, each figure with its source, and the check of a file of one's own.

import {
  catalogueError,
  checkCatalogue,
  type Device,
  type Figure,
  type Offer,
} from '../../../engine/hardware/catalogue/catalogue.ts';
import { isStale, staleText, trusted } from '../../../engine/hardware/catalogue/figures.ts';
import { deviceKinds } from '../../../engine/hardware/catalogue/schema.ts';
import { about } from '../about.ts';
import { choiceOption, textOption, type Command } from '../command.ts';
import { homeFolder } from '../../../engine/system/home-folder.ts';
import { openCatalogue, problemLines, readCatalogueText } from '../own-catalogue.ts';
import { counted, type Column, type Output } from '../output.ts';

export const catalogue: Command = {
  ...about.catalogue,
  positionals: [0, 0],
  options: {
    kind: { type: 'string', value: 'KIND', help: `only these: ${deviceKinds.join(', ')}` },
    check: { type: 'string', value: 'FILE', help: 'say what is wrong with a file, by line and field', path: true },
  },
  run: async ({ options, output }) => {
    const file = textOption(options, 'check');
    const kind = choiceOption(options, 'kind', deviceKinds);
    if (file !== undefined) return check(file, output);
    const opened = openCatalogue(homeFolder(), output);
    const devices = opened.catalogue.devices.filter((device) => kind === undefined || device.kind === kind);
    const shown = new Set(devices.map(({ id }) => id));
    const offers = opened.catalogue.offers.filter(
      ({ device }) => kind === undefined || (device !== undefined && shown.has(device)),
    );
    const prices = offers.map(({ onDemand }) => onDemand);
    const now = Date.now();
    await output.events(devices.map((device) => ({ event: 'device', ...device })));
    await output.events(offers.map((offer) => ({ event: 'offer', ...offer, stale: isStale(offer.onDemand, now) })));
    output.event({
      event: 'catalogue',
      compiled: opened.catalogue.compiled,
      devices: devices.length,
      offers: offers.length,
      stale_offers: prices.filter((price) => isStale(price, now)).length,
      problems: opened.problems,
    });
    if (output.json) return;
    output.table(devices, deviceColumns);
    output.line();
    output.table(offers, offerColumns);
    output.line();
    output.line('* from memory or in dispute: advice leaves it out. Rates are dense peaks in TFLOP/s; USD an hour.');
    const stale = staleText(prices, now);
    if (stale !== '') output.line(`! ${stale}.`);
  },
};

function check(file: string, output: Output): void {
  const problems = checkCatalogue(readCatalogueText(file));
  output.event({ event: 'catalogue', file, problems });
  if (problems.length === 0) {
    output.line(`${file}: nothing wrong.`);
    return;
  }
  for (const line of problemLines(problems)) output.line(line);
  output.line(counted(problems.length, 'problem'));
  throw catalogueError(file, problems);
}

const shownFigure = (figure: Figure | undefined): string =>
  figure === undefined ? '' : `${figure.value}${trusted(figure) ? ' ' : '*'}`;

const figureColumn = (title: string, read: (device: Device) => Figure | undefined): Column<Device> => ({
  title: `${title} `,
  value: (device) => shownFigure(read(device)),
  right: true,
});

const deviceColumns: readonly Column<Device>[] = [
  { title: 'id', value: ({ id, own }) => (own ? `${id} (own)` : id) },
  { title: 'kind', value: ({ kind, use }) => (use === 'training' ? kind : `${kind}, ${use}`) },
  figureColumn('GB', ({ memory }) => memory),
  figureColumn('GB/s', ({ bandwidth }) => bandwidth),
  figureColumn('fp32', ({ fp32 }) => fp32),
  figureColumn('16 bit', ({ fp16 }) => fp16),
  figureColumn('W', ({ power }) => power),
  figureColumn('USD', ({ streetPrice, launchPrice }) => streetPrice ?? launchPrice),
];

const offerColumns: readonly Column<Offer>[] = [
  { title: 'offer', value: ({ provider, instance, own }) => `${provider} ${instance}${own ? ' (own)' : ''}` },
  { title: 'device', value: ({ deviceName, count }) => (count === 1 ? deviceName : `${count} × ${deviceName}`) },
  { title: 'on demand ', value: ({ onDemand }) => shownFigure(onDemand), right: true },
  { title: 'spot ', value: ({ spot }) => shownFigure(spot), right: true },
  { title: 'as of', value: ({ onDemand }) => onDemand.date ?? 'undated' },
];
