// Sample tables that are made when they are asked for, the same rows every time. They describe nobody: what is true of them stands in
// the formulas here, so that what a model finds can be held against it.

import { generator, normal, pick } from './drawn.ts';

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, ...rows].map((row) => row.map(cell).join(',')).join('\n') + '\n';

const cell = (value: string | number): string =>
  /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

/** What a square metre costs in the middle of each district. */
const districts = [
  ['Old town', 17.5],
  ['Harbour', 15.5],
  ['Gardens', 14],
  ['Station', 12.5],
  ['Mills', 11],
  ['Heights', 16],
] as const;

/**
 * 1,200 flats to let, the rent to be predicted: dear where it is central and new, with a bend in both, and a deviation of about 60
 * that nothing explains.
 */
export function flats(): string {
  const random = generator(1_871);
  const rows = Array.from({ length: 1_200 }, () => {
    const [district, dear] = pick(random, districts);
    const rooms = 1 + Math.floor(random() * 5);
    const area = Math.round(16 + 21 * rooms + 8 * normal(random));
    const built = Math.round(1_890 + 133 * Math.sqrt(random()));
    const floor = Math.floor(random() * 7);
    const lift = floor > 3 || random() < 0.3;
    const balcony = random() < 0.45;
    const distance = Math.round((0.4 + 7 * random() ** 1.5) * 10) / 10;
    const heating = pick(random, ['district', 'gas', 'electric', 'heat pump']);
    // Old houses are liked, those of the sixties are not.
    const age = ((built - 1_963) / 60) ** 2 * 1.1 - 0.6;
    const perMetre = dear * Math.exp(-0.07 * distance) + age + (heating === 'electric' ? -0.8 : 0);
    const stairs = lift ? 0 : -14 * floor;
    const rent = area * perMetre + (balcony ? 55 : 0) + stairs + 60 * normal(random);
    return [
      district,
      area,
      rooms,
      floor,
      lift ? 'yes' : 'no',
      balcony ? 'yes' : 'no',
      built,
      distance,
      heating,
      Math.max(180, Math.round(rent)),
    ];
  });
  return table(
    ['district', 'area_m2', 'rooms', 'floor', 'lift', 'balcony', 'built', 'km_to_centre', 'heating', 'rent'],
    rows,
  );
}

const plans = [
  ['basic', 9],
  ['family', 19],
  ['business', 39],
] as const;

/**
 * 1,500 customers of a made-up company, about an eighth of whom left: with everything that is wrong in tables people really have.
 * `closed_on` gives the answer away, `country` says nothing, `customer` is a number to count by, cells are missing in five ways.
 */
export function customers(): string {
  const random = generator(90_210);
  const missing = ['', 'n/a', 'NA', '?', '-'];
  const holey = (value: string | number, share: number): string | number =>
    random() < share ? pick(random, missing) : value;
  const day = (days: number): string => new Date(Date.UTC(2021, 0, 1 + days)).toISOString().slice(0, 10);
  const rows = Array.from({ length: 1_500 }, (_, i) => {
    const [plan, fee] = pick(random, plans);
    const age = random() < 0.006 ? 999 : Math.round(44 + 14 * normal(random));
    const calls = Math.max(0, Math.round(2 + 2 * normal(random)));
    const price = Math.round(fee * (85 + 30 * random())) / 100;
    const joined = Math.floor(random() * 1_400);
    const online = random() < 0.6;
    const pull = -3.1 + 0.75 * Math.max(0, calls - 2) + (plan === 'basic' ? 0.7 : 0) + (online ? -0.5 : 0.4);
    const left = random() < 1 / (1 + Math.exp(-pull));
    return [
      100_001 + i,
      day(joined),
      'Utopia',
      plan,
      holey(age, 0.07),
      holey(price, 0.05),
      calls,
      holey(online ? 'yes' : 'no', 0.1),
      left ? day(joined + 60 + Math.floor(random() * 900)) : '',
      left ? 'yes' : 'no',
    ];
  });
  const twice = Array.from({ length: 25 }, () => pick(random, rows));
  return table(
    [
      'customer',
      'joined',
      'country',
      'plan',
      'age',
      'monthly_fee',
      'complaints',
      'online_account',
      'closed_on',
      'churned',
    ],
    [...rows, ...twice],
  );
}

const things = ['kettle', 'lamp', 'bicycle', 'radio', 'backpack', 'scarf', 'chair', 'camera'] as const;
const good = [
  'It works better than I had hoped',
  'I would buy it again without a second thought',
  'The quality is excellent for the price',
  'It arrived early and well packed',
  'My whole family loves it',
  'Not a single complaint after months of daily use',
  'It is hard to find anything bad about it',
  'Setting it up was simple and quick',
] as const;
const bad = [
  'It broke within a week',
  'I would not buy it again',
  'The quality is poor for the price',
  'It arrived late and damaged',
  'Nobody in my family likes it',
  'Not worth the money at all',
  'It is hard to find anything good about it',
  'Setting it up took hours and still failed',
] as const;
const openings = ['I bought this {} last month.', 'A {} for my sister.', 'My second {} of this kind.', 'So, the {}.'];
const sides = [
  'The colour is as shown.',
  'It came in a plain box after {} days.',
  'It weighs {} ounces.',
  'I use it at home.',
  'The manual is short.',
  '',
];

/**
 * 1,000 reviews, half of them kind. Words alone mislead: “not a single complaint” is kind, “hard to find anything good” is not, and one in
 * seven says something of the other side as well.
 */
export function reviews(): string {
  const random = generator(77_003);
  const rows = Array.from({ length: 1_000 }, () => {
    const kind = random() < 0.5;
    const [own, other] = kind ? [good, bad] : [bad, good];
    const thing = pick(random, things);
    const first = pick(random, own);
    const second = pick(random, own);
    const turn = random() < 1 / 7 ? `${pick(random, other)}, yet ${lower(first)}.` : `${first}.`;
    const side = pick(random, sides).replace('{}', String(2 + Math.floor(random() * 28)));
    const parts = [pick(random, openings).replace('{}', thing), turn, side];
    if (second !== first && random() < 0.6) parts.push(`${second}.`);
    return [parts.filter((part) => part !== '').join(' '), kind ? 'recommended' : 'not recommended'];
  });
  return table(['review', 'verdict'], rows);
}

const lower = (sentence: string): string =>
  /^I\b/.test(sentence) ? sentence : sentence.charAt(0).toLowerCase() + sentence.slice(1);
