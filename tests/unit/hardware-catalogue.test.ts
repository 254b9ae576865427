// The catalogue of hardware: what it holds, that no figure is absurd or without a source, and what a file of one's own may do to it.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { checkCatalogue, readCatalogue, type Device, type Figure } from '../../engine/hardware/catalogue/catalogue.ts';
import { problemText } from '../../engine/hardware/catalogue/check.ts';
import { ageInDays, isStale, staleText, trusted } from '../../engine/hardware/catalogue/figures.ts';
import { deviceFigureNames } from '../../engine/hardware/catalogue/schema.ts';
import { parseCommand, type CommandContext } from '../../electron/cli/command.ts';
import { breakeven } from '../../electron/cli/commands/breakeven.ts';
import { temporaryHome, trainyard } from '../support/cli.ts';

const file = path.resolve(import.meta.dirname, '../../engine/hardware/catalogue.json');
const text = fs.readFileSync(file, 'utf8');
const { catalogue } = readCatalogue();
const { devices, offers, grids, tariffs, sources } = catalogue;
const device = (id: string): Device => devices.find((row) => row.id === id)!;
const figuresOf = (row: Device): Figure[] => deviceFigureNames.flatMap((name) => row[name] ?? []);
const all: readonly Figure[] = [
  ...devices.flatMap(figuresOf),
  ...offers.flatMap(({ onDemand, spot }) => (spot ? [onDemand, spot] : [onDemand])),
  ...[...grids, ...tariffs].map(({ rate }) => rate),
];
const problems = (own: string): string[] => checkCatalogue(own).map(problemText);

test('it holds 80 devices of all kinds, 36 offers, grids and tariffs', () => {
  assert.deepEqual(problems(text), []);
  assert.ok(devices.length >= 80, String(devices.length));
  assert.ok(offers.length >= 36, String(offers.length));
  assert.ok(grids.length >= 20 && tariffs.length >= 5);
  const kinds = new Set(devices.map(({ kind }) => kind));
  assert.deepEqual([...kinds].sort(), ['asic', 'cpu', 'edge', 'fpga', 'gpu', 'neuromorphic', 'tpu']);
  for (const { id, kind, use } of devices) {
    if (kind === 'edge' || kind === 'fpga' || kind === 'neuromorphic') assert.notEqual(use, 'training', id);
  }
});

test('every figure has a source with an address or a reason, a confidence and a real date', () => {
  for (const figure of all) {
    const source = sources.get(figure.source);
    assert.ok(source, figure.source);
    assert.ok(source.url !== null || ['memory', 'derived', 'EU', 'IEA'].includes(figure.source), figure.source);
    for (const date of [figure.date, source.date, source.read]) {
      if (date === null) continue;
      assert.equal(new Date(date).toISOString().slice(0, 10), date);
      assert.ok(date <= catalogue.compiled, `${figure.source}: ${date}`);
    }
    assert.equal(figure.source === 'memory', figure.confidence === 'memory', JSON.stringify(figure));
    assert.ok((figure.low ?? figure.value) <= figure.value && figure.value <= (figure.high ?? figure.value));
  }
});

test('no figure is absurd', () => {
  for (const row of devices) {
    const { id, kind, memory, bandwidth, fp32, tf32, fp16, fp8, power, year, launchPrice, achieved16 } = row;
    const atLeast = (more: Figure | undefined, less: Figure | undefined): boolean =>
      more === undefined || less === undefined || more.value >= less.value;
    // The one card whose 16-bit rate is a sixty-fourth: it has no tensor cores.
    assert.ok(atLeast(fp16, fp32) || id === 'gtx-1080-ti', `${id}: 16 bit below float32`);
    assert.ok(atLeast(tf32, fp32), `${id}: TF32 below float32`);
    assert.ok(atLeast(fp16, tf32) || id === 'gtx-1080-ti', `${id}: 16 bit below TF32`);
    assert.ok(atLeast(fp8, fp16), `${id}: 8 bit below 16`);
    const between = (figure: Figure | undefined, low: number, high: number): boolean =>
      figure === undefined || (figure.value >= low && figure.value <= high);
    assert.ok(between(memory, 0.001, 600) && between(bandwidth, 15, 10_000), id);
    assert.ok(between(fp32, 0.1, 300) && between(power, 2, 1500) && between(launchPrice, 40, 35_000), id);
    assert.ok(between(achieved16, 0.3, 1), id);
    assert.ok(year === undefined || (year >= 2016 && year <= 2026), id);
    if (kind !== 'cpu' && kind !== 'neuromorphic') assert.ok(memory, `${id} without memory`);
    // The ridge of float32, in FLOP a byte.
    if (fp32 && bandwidth) assert.ok(between({ ...fp32, value: (fp32.value * 1e3) / bandwidth.value }, 1, 1000), id);
  }
  for (const { id, count, onDemand, spot } of offers) {
    assert.ok(onDemand.value / count <= 13, id);
    assert.ok(spot === undefined || spot.value < onDemand.value, id);
  }
  for (const { id, rate } of grids) assert.ok(rate.value >= 20 && rate.value <= 800, id);
  for (const { id, rate } of tariffs) assert.ok(rate.value > 0.05 && rate.value < 0.6, id);
});

test('a handful of figures, digit by digit', () => {
  const values = (id: string): (number | undefined)[] => {
    const { memory, bandwidth, fp32, fp16, power } = device(id);
    return [memory, bandwidth, fp32, fp16, power].map((figure) => figure?.value);
  };
  assert.deepEqual(values('rtx-4090'), [24, 1008, 82.6, 165.2, 450]);
  assert.deepEqual(values('a100-80gb'), [80, 2039, 19.5, 312, 400]);
  assert.deepEqual(values('h100-sxm'), [80, 3350, 67, 989, 700]);
  assert.deepEqual(values('mi355x'), [288, 8000, 157.3, 2500, 1400]);
  assert.deepEqual(values('rtx-3060-12gb'), [12, 360, 12.7, 25.5, 170]);
  assert.deepEqual(values('tpu-v4'), [34.36, 1200, undefined, 275, 170]);
  assert.deepEqual(values('epyc-9755'), [undefined, 614, 22.1, 44, 500]);
  assert.equal(device('rtx-3090').streetPrice!.value, 1500);
  const price = (id: string): number => offers.find((offer) => offer.id === id)!.onDemand.value;
  assert.equal(price('aws-p3-2xlarge'), 3.06);
  assert.equal(price('aws-p5-48xlarge'), 55.04);
  assert.equal(price('azure-nd96isr-h100-v5'), 98.32);
  assert.equal(price('google-cloud-tpu-v6e-a-chip'), 2.7);
  assert.equal(grids.find(({ id }) => id === 'FR')!.rate.value, 56);
});

test('what is remembered or disputed is not for advice; what is old or undated is said', () => {
  assert.equal(trusted(device('rtx-4090').fp16), true);
  assert.equal(trusted(device('rtx-6000-ada').fp16), false, 'from memory');
  assert.equal(trusted(device('b200-sxm').memory), false, 'disputed');
  assert.equal(trusted(undefined), false);
  const now = Date.parse('2026-11-22');
  assert.equal(ageInDays({ date: '2026-11-09' }, now), 13);
  assert.equal(isStale({ date: '2026-09-23' }, now), false, '60 days');
  assert.equal(isStale({ date: '2026-09-22' }, now), true, '61 days');
  assert.equal(isStale({ date: null }, now), true);
  assert.equal(isStale({ date: '2099-01-01' }, now), true, 'nobody has seen it yet');
  assert.equal(
    staleText([{ date: null }, { date: '2026-11-09' }], now),
    '1 of 2 prices are older than 60 days or undated',
  );
  assert.equal(staleText([{ date: '2026-11-09' }], now), '');
});

test('own entries lie over built-in ones, field by field, and are marked', () => {
  const own = {
    version: 1,
    devices: [
      { id: 'rtx-4090', streetPrice: { value: 1800, date: '2026-11-20' } },
      { id: 'my-card', name: 'My card', vendor: 'me', kind: 'gpu', use: 'training', memory: 16, fp32: 40 },
    ],
    offers: [{ id: 'aws-p3-2xlarge', onDemand: 2.5 }],
  };
  const { catalogue: merged, problems: none } = readCatalogue(JSON.stringify(own));
  assert.deepEqual(none, []);
  assert.equal(merged.devices.length, devices.length + 1);
  const changed = merged.devices.find(({ id }) => id === 'rtx-4090')!;
  assert.deepEqual(changed.streetPrice, { value: 1800, source: 'own', confidence: 'own', date: '2026-11-20' });
  assert.deepEqual(changed.fp32, device('rtx-4090').fp32, 'what it does not name stays as it is');
  assert.equal(changed.own, true);
  assert.equal(merged.devices.at(-1)!.memory!.confidence, 'own');
  const offer = merged.offers.find(({ id }) => id === 'aws-p3-2xlarge')!;
  assert.deepEqual([offer.onDemand.value, offer.onDemand.confidence, offer.spot!.confidence], [2.5, 'own', 'derived']);
});

test('what is wrong with a file names line and field', () => {
  const lines = text.split('\n');
  const row = lines.findIndex((line) => line.includes('"id": "rtx-3080-10gb"'));
  const at = lines.findIndex((line, i) => i > row && line.includes('"memory"'));
  assert.match(lines[at], /"memory": 10/);
  const damaged = lines.with(at, '      "memory": "ten",').join('\n');
  assert.deepEqual(problems(damaged), [`Line ${at + 1}, field \`devices[3].memory\`: a number expected.`]);

  assert.deepEqual(
    problems('{\n  "version": 1,\n  "devices": [\n    { "id": "x" }\n  ]\n}')[0],
    'Line 4, field `devices[0].name`: missing, and not built in.',
  );
  const rows = (fields: object): string => JSON.stringify({ version: 1, devices: [{ id: 'rtx-4090', ...fields }] });
  assert.deepEqual(problems(rows({ memory: -1 })), ['Line 1, field `devices[0].memory`: more than 0 expected.']);
  assert.deepEqual(problems(rows({ fp32: -4 })), ['Line 1, field `devices[0].fp32`: more than 0 expected.']);
  assert.deepEqual(problems(rows({ memory: { value: 'x' } })), [
    'Line 1, field `devices[0].memory.value`: a number expected.',
  ]);
  assert.deepEqual(problems(rows({ power: 1e9 })), ['Line 1, field `devices[0].power`: at most 100000 expected.']);
  assert.deepEqual(problems(rows({ fp32: 0 })), ['Line 1, field `devices[0].fp32`: more than 0 expected.']);
  assert.deepEqual(problems(rows({ fp32: { value: 0 } })), [
    'Line 1, field `devices[0].fp32`: a value above 0 expected.',
  ]);
  assert.deepEqual(problems(rows({ fp32: 90_000 })), ['Line 1, field `devices[0].fp32`: at most 10000 expected.']);
  assert.deepEqual(problems(rows({ streetPrice: 0 })), []);
  assert.deepEqual(problems(rows({ mem_gb: 1 })), ['Line 1, field `devices[0].mem_gb`: no such field.']);
  assert.deepEqual(problems(rows({ source: 'nowhere' })), [
    'Line 1, field `devices[0].source`: “nowhere” is not among the sources.',
  ]);
  assert.deepEqual(problems(rows({ date: '2026-02-30' })), [
    'Line 1, field `devices[0].date`: a date such as 2026-11-21 expected.',
  ]);
  assert.deepEqual(problems(rows({ memory: { value: 5, low: 6 } })), [
    'Line 1, field `devices[0].memory.value`: a value from low to high expected.',
  ]);
  assert.match(problems(rows({ kind: 'abacus' }))[0], /`devices\[0\]\.kind`: one of gpu, cpu, .* expected/);
  const offer = { id: 'o', provider: 'p', instance: 'i', device: 'nothing', count: 1, onDemand: 1, region: 'here' };
  assert.deepEqual(problems(JSON.stringify({ version: 1, offers: [offer] })), [
    'Line 1, field `offers[0].device`: there is no device “nothing”.',
  ]);
});

test('a file that is no JSON names the line, and the built-in catalogue goes on', () => {
  for (const [broken, message] of [
    ['{\n  "version": 1\n  "devices": []\n}', 'Line 3: “,” or “}” expected, got “"”.'],
    ['', 'Line 1: a value expected, got the end of the file.'],
    ['{"version": 1, "version": 2}', 'Line 1: “version” stands here twice.'],
    ['{"version": 01}', 'Line 1: 01 is no JSON value.'],
    ['{"version": "1\n"}', 'Line 1: a text without its closing quote.'],
    ['['.repeat(5000), 'Line 1: nested too deep.'],
    ['[1]', 'Line 1: an object expected.'],
  ]) {
    assert.deepEqual(problems(broken), [message]);
    assert.equal(readCatalogue(broken).catalogue.devices.length, devices.length);
  }
});

test('one look tells all that is wrong: kinds, missing fields, names twice, unknown devices and sources', () => {
  const own = `{ "version": 1,
  "devices": [ { "id": "my-card", "name": "Mine", "kind": "gpu", "memory": "much" },
    { "id": "rtx-4090", "fp32": 0, "colour": "red" },
    5 ],
  "offers": [ { "id": "o1", "provider": "P", "instance": "i", "device": "nowhere", "count": 1, "region": "r" },
    { "id": "o1", "onDemand": { "value": 2, "source": "hearsay" } } ] }`;
  assert.deepEqual(problems(own), [
    'Line 2, field `devices[0].memory`: a number expected.',
    'Line 2, field `devices[0].vendor`: missing, and not built in.',
    'Line 2, field `devices[0].use`: missing, and not built in.',
    'Line 3, field `devices[1].fp32`: more than 0 expected.',
    'Line 3, field `devices[1].colour`: no such field.',
    'Line 4, field `devices[2]`: an object expected.',
    'Line 5, field `offers[0].onDemand`: missing, and not built in.',
    'Line 5, field `offers[0].device`: there is no device “nowhere”.',
    'Line 6, field `offers[1].id`: “o1” is there twice.',
    'Line 6, field `offers[1].onDemand.source`: “hearsay” is not among the sources.',
  ]);
  const whole = text.replace('"kind": "gpu"', '"kind": "toaster"').replace(/"device": "[^"]+"/, '"device": "nowhere"');
  assert.equal(problems(whole).length, 2);
});

test('the command lists it, checks a file, and goes on with a damaged one', async (context) => {
  const home = temporaryHome(context);
  const listed = await trainyard(home, 'catalogue', '--kind', 'tpu', '--json');
  assert.equal(listed.code, 0, listed.stderr);
  assert.equal(listed.events.filter(({ event }) => event === 'device').length, 7);
  assert.ok(listed.events.some(({ event, device: id }) => event === 'offer' && id === 'tpu-v6e'));

  fs.mkdirSync(path.join(home, 'hardware'));
  const own = path.join(home, 'hardware', 'catalogue.json');
  fs.writeFileSync(own, '{ "version": 1,\n"devices": [{ "id": "rtx-4090", "memory": "much" }] }');
  const checked = await trainyard(home, 'catalogue', '--check', own);
  assert.equal(checked.code, 2);
  assert.match(checked.stderr, /Line 2, field `devices\[0\]\.memory`: a number expected\. See docs\/hardware\.md/);
  const people = await trainyard(home, 'catalogue');
  assert.equal(people.code, 0);
  assert.match(
    people.stderr,
    /Line 2, field `devices\[0\]\.memory`: a number expected\. The built-in catalogue is used\.\n$/,
  );
  assert.match(people.stdout, /^rtx-4090 +gpu +24 +1008 +82\.6 +165\.2 +450 +3130/m);
  assert.match(people.stdout, /^! \d+ of 61 prices are older than 60 days or undated\.$/m);
});

test('break-even by the command: 653.6 h, and what is refused', async (context) => {
  const home = temporaryHome(context);
  const run = (...args: readonly string[]): ReturnType<typeof trainyard> => trainyard(home, 'breakeven', ...args);
  const plain = await run('--card', '2000', '--rent', '3.06', '--json');
  assert.deepEqual([plain.events[0].event, plain.events[0].hours, plain.events[0].years], ['breakeven', 653.6, 0.746]);
  const [whole, never, negative] = await Promise.all([
    run('--card', '2000', '--rent', '0.79', '--power', '0.35', '--tariff', '0.18', '--host', '1500'),
    run('--card', '2000', '--rent', '0.05', '--power', '0.35', '--tariff', '0.18', '--json'),
    run('--card', '-5', '--rent', '3'),
  ]);
  assert.match(whole.stdout, /^Owning pays after 4,814 h of use: 5\.5 years at 10 % of all hours\.\nLeft out: resale/);
  assert.match((await run('--card', '1', '--rent', '3.06')).stdout, /^Owning pays after 0\.3 h of use: 3\.3 h at 10 %/);
  assert.equal(never.events[0].hours, null);
  assert.equal(negative.code, 2);
  assert.match(negative.stderr, /--card/);
  // The same command without a process for each.
  const refused = async (args: readonly string[], message: RegExp): Promise<void> => {
    const context = parseCommand(breakeven, args) as CommandContext;
    await assert.rejects(breakeven.run(context), message);
  };
  await refused(['--rent', '3'], /--card is missing/);
  await refused(['--card', '2000', '--rent', '1e9'], /--rent is “1e9”/);
  await refused(['--card', '2000', '--rent', '3', '--power', '0.3'], /--power without --tariff/);
  await refused(['--card', '2000', '--rent', '3', '--power', '350', '--tariff', '0.2'], /--power is “350”/);
  await refused(['--card', '2000', '--rent', '3', '--resale', '2001'], /--resale is “2001”/);
});
