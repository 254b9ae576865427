// Numbers and dates as regions write them: what is shown, what a field takes, what is the same everywhere, and which region it is.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { regionalFormat } from '../../electron/main/regional-format.ts';
import {
  asEnglish,
  bytes,
  clockTime,
  dateOf,
  dayAndTime,
  dayOfYear,
  doneAt,
  duration,
  fixed,
  fullTime,
  percent,
  percentOf,
  plain,
  plural,
  regional,
  score,
  short,
  timeOfDay,
  useRegion,
  when,
} from '../../renderer/lib/format.ts';
import { readTyped, stepped } from '../../renderer/lib/typed.ts';
import { sliceText } from '../../engine/evaluation/slices.ts';
import { intervalText, sliceWords } from '../../renderer/views/run/evaluation/words.ts';
import { toCsv } from '../../renderer/views/hardware/cost/csv.ts';
import type { CostRow } from '../../renderer/views/hardware/cost/rows.ts';

afterEach(() => useRegion(null));

const region = (tag: string): void => useRegion({ numbers: tag, dates: tag });
const evening = new Date(2026, 0, 3, 21, 5, 9).getTime();
const night = new Date(2026, 10, 27, 0, 5, 9).getTime();

/** Narrow and wide spaces alike, and the apostrophe of whatever ICU there is. */
const seen = (text: string): string =>
  text
    .replace(/[\u00a0\u202f]/g, ' ')
    .replace('’', "'")
    .replaceAll('’', "'");

/** By region: −1234567.891, a small number, one of powers, a date, its day, times. */
const written: Readonly<Record<string, readonly string[]>> = {
  'en-US': ['−1,234,567.89', '0.00123', '1.23e−5', 'Jan 3, 2026', 'Jan 3', '9:05 pm', '9:05:09 pm', '12:05 am'],
  'de-DE': ['−1.234.567,89', '0,00123', '1,23e−5', '03.01.2026', '03.01.', '21:05', '21:05:09', '00:05'],
  'fr-FR': ['−1 234 567,89', '0,00123', '1,23e−5', '03/01/2026', '03/01', '21:05', '21:05:09', '00:05'],
  'en-IN': ['−12,34,567.89', '0.00123', '1.23e−5', '3 Jan 2026', '3 Jan', '9:05 pm', '9:05:09 pm', '12:05 am'],
  'hi-IN': ['−12,34,567.89', '0.00123', '1.23e−5', '03/01/2026', '03/01', '9:05 pm', '9:05:09 pm', '12:05 am'],
  'ar-EG': ['−1,234,567.89', '0.00123', '1.23e−5', '03/01/2026', '03/01', '9:05 pm', '9:05:09 pm', '12:05 am'],
  'de-CH': ["−1'234'567.89", '0.00123', '1.23e−5', '03.01.2026', '03.01.', '21:05', '21:05:09', '00:05'],
  'sv-SE': ['−1 234 567,89', '0,00123', '1,23e−5', '2026-01-03', '01-03', '21:05', '21:05:09', '00:05'],
  'fi-FI': ['−1 234 567,89', '0,00123', '1,23e−5', '03.01.2026', '03.01.', '21.05', '21.05.09', '00.05'],
  'ko-KR': ['−1,234,567.89', '0.00123', '1.23e−5', '2026. 01. 03.', '01. 03.', '9:05 pm', '9:05:09 pm', '12:05 am'],
};
const all = (): readonly string[] => [
  ...[fixed(-1234567.891, 2), short(0.00123), short(0.0000123), dateOf(evening), dayOfYear(evening)],
  ...[timeOfDay(evening), clockTime(evening), timeOfDay(night)],
];

for (const [tag, expected] of Object.entries(written)) {
  test(`${tag}: digits and words are English, signs and order its own`, () => {
    region(tag);
    assert.deepEqual(all().map(seen), expected);
  });
}

test('a system that names no region, or one that nobody knows, writes as English: no tag throws', () => {
  const english = all();
  for (const tag of [
    'C',
    'POSIX',
    'C.UTF-8',
    'en',
    'en-US@posix',
    'en-US-u-va-posix',
    'nonsense',
    'zz-ZZ',
    '',
    'x',
    '-',
    '123',
    'de_',
    '💥',
  ]) {
    region('fr-FR');
    region(tag);
    if (tag !== 'de_') assert.deepEqual(all(), english, tag);
  }
  region('de_CH.UTF-8@euro');
  assert.equal(seen(fixed(1234.5, 1)), "1'234.5");
});

test('other digits, calendars and directions of writing stay out, whatever a tag asks for', () => {
  for (const tag of [
    'ar-EG',
    'ar-SA',
    'fa-IR',
    'he-IL',
    'bn-BD',
    'th-TH',
    'ja-JP-u-ca-japanese',
    'de-DE-u-nu-arab',
    'ckb-IQ',
    'bg-BG',
  ]) {
    region(tag);
    for (const text of all()) assert.match(text, /^[\d.,:/' ’\u00a0\u202f−e-]+(?:am|pm)?$/, `${tag}: ${text}`);
    assert.match(dateOf(evening), /2026/, tag);
  }
});

test('every way of writing follows, and English is what it was', () => {
  const lines = (): readonly string[] => [
    ...[score(0.12345), score(1234.56), score(-0.00001234), percent(0.1234, 1), percentOf(1, 5000), bytes(4_600_000)],
    ...[
      duration(0.25),
      plural(12345, 'row'),
      plain(12345.5),
      plain(1e-7),
      plain((0.5).toPrecision(3)),
      fullTime(night),
    ],
    ...[when(evening, night), when(null), fixed(NaN), fixed(Infinity)],
  ];
  assert.deepEqual(lines(), [
    ...['0.1235', '1,234.6', '−1.23e-5', '12.3\u00a0%', '<\u00a00.1\u00a0%', '4.6\u00a0MB'],
    ...['0.3\u00a0s', '12,345 rows', '12345.5', '1e-7', '0.500', '27 Nov 2026, 00:05:09'],
    ...['3 Jan 2026', '–', '–', '∞'],
  ]);
  region('de-DE');
  assert.deepEqual(lines(), [
    ...['0,1235', '1.234,6', '−1,23e-5', '12,3\u00a0%', '<\u00a00,1\u00a0%', '4,6\u00a0MB'],
    ...['0,3\u00a0s', '12.345 rows', '12345,5', '1e-7', '0,500', '27.11.2026, 00:05:09'],
    ...['03.01.2026', '–', '–', '∞'],
  ]);
});

test('a time of today is told by the clock, of another day with its day, of another year with its year', () => {
  const times = (): readonly string[] => [
    dayAndTime(night, night),
    dayAndTime(night, evening),
    dayAndTime(evening, night),
  ];
  const lastYear = new Date(2025, 11, 31, 7, 0).getTime();
  assert.deepEqual(times(), ['00:05', '27 Nov, 00:05', '3 Jan, 21:05']);
  assert.equal(dayAndTime(lastYear, evening), '31 Dec 2025, 07:00');
  region('de-DE');
  assert.deepEqual(times(), ['00:05', '27.11., 00:05', '03.01., 21:05']);
});

test('numbers and dates may be of two regions', () => {
  useRegion({ numbers: 'C', dates: 'de_DE.UTF-8' });
  assert.deepEqual([fixed(0.5, 1), dateOf(evening)], ['0.5', '03.01.2026']);
});

test('what is typed is read as it is shown; what could be two numbers is refused', () => {
  const read = (text: string): number | string | null => {
    const typed = readTyped(text);
    return 'value' in typed ? typed.value : typed.problem;
  };
  for (const tag of ['en-US', 'de-DE', 'fr-FR', 'de-CH', 'ar-EG']) {
    region(tag);
    for (const number of [0, 1, 0.01, 1000, 1234567, 1.5, 12.345, 1.234, -0.125, 1e-7, 1.5e-7, 1e21, 0.001, 100.001])
      assert.equal(read(plain(number)), number, `${tag}: ${plain(number)}`);
    for (const [text, value] of [
      ['0,01', 0.01],
      ['0.01', 0.01],
      [' 0,001 ', 0.001],
      ['.5', 0.5],
      [',5', 0.5],
      ['2,', 2],
      ['1e-3', 0.001],
      ['1,5E-3', 0.0015],
      ['−2', -2],
      ['0,125', 0.125],
    ] as const)
      assert.equal(read(text), value, `${tag}: ${text}`);
    for (const text of [
      '1.000.000',
      '1,000,000',
      '12,34,567',
      '1,00,000.5',
      '1 000',
      '1\u202f000',
      "1'000",
      '1’000,5',
      '1.000,5',
      '1,000.5',
    ])
      assert.match(String(read(text)), /signs between thousands: write it without them$/, `${tag}: ${text}`);
    for (const text of ['', ' ', 'a', '1,2,3', '1..2', '--1', '0x10', 'Infinity', 'NaN', '1e', '12,34,56.7.8', '٠٫٠١'])
      assert.equal(read(text), null, `${tag}: ${text}`);
  }
  region('de-DE');
  assert.equal(read('1,000'), 1);
  assert.equal(read('1.000'), '“1.000” could be 1000 or 1,000: write it like one of these');
  assert.equal(read('-12.345'), '“-12.345” could be -12345 or -12,345: write it like one of these');
  assert.deepEqual(['1.5', '1.0000', '0.125', '1234.567'].map(read), [1.5, 1, 0.125, 1234.567]);
  region('en-US');
  assert.equal(read('1.000'), 1);
  assert.equal(read('1,000'), '“1,000” could be 1000 or 1.000: write it like one of these');
});

test('a step keeps every digit that a number has: whole ones move by one, others by a tenth of their size', () => {
  for (const [value, whole, up, down] of [
    [12345678, true, 12345679, 12345677],
    [4294967294, true, 4294967295, 4294967293],
    [0, true, 1, -1],
    [0.001, false, 0.0011, 0.0009],
    [0.3, false, 0.31, 0.29],
    [990399.87, false, 1000399.87, 980399.87],
  ] as const) {
    assert.deepEqual([stepped(value, 1, whole), stepped(value, -1, whole)], [up, down], String(value));
  }
});

test('the ends of slices of numbers follow, names of categories do not, and files have neither', () => {
  const columns = [
    { name: 'rate', kind: 'number' },
    { name: 'engine', kind: 'category', categories: ['1.5 l'] },
  ] as const;
  const parts = [
    { column: 'rate', value: '−0.8232 to 1234.5' },
    { column: 'engine', value: '= 1.5 l' },
  ];
  assert.equal(sliceWords({ parts }, columns as never), 'rate −0.8232 to 1234.5, engine = 1.5 l');
  region('de-DE');
  assert.equal(sliceWords({ parts }, columns as never), 'rate −0,8232 to 1234,5, engine = 1.5 l');
  assert.equal(sliceText({ parts }), 'rate −0.8232 to 1234.5, engine = 1.5 l');
});

test('an interval of very small values is written in powers of ten: 0.000–0.000 said nothing', () => {
  const text = (low: number, high: number): string =>
    intervalText({ name: 'log_loss', value: low, low, high, linear: null, constant: null });
  assert.equal(text(2.531e-6, 6.13e-6), '2.53e−6–6.13e−6');
  assert.equal(text(0, 0.0123), '0.000–0.012');
  assert.equal(text(0.7771, 0.7774), '0.777', 'ends that are written alike are one');
});

test('the end of a long training is a day, without the minute nobody can know: with one it did not fit its column', () => {
  const day = 86_400;
  assert.equal(doneAt(45 * day, night), '11 Jan 2027');
  assert.equal(doneAt(2 * day, night), '29 Nov, 00:05');
  assert.equal(doneAt(301 * day, night), 'years');
});

test('what the engine says in figures follows, names and versions do not', () => {
  const said = [
    '0.24 mWh',
    'under 0.001 ¢',
    '$407,998.80',
    '1,410 ms',
    '12 s',
    'RTX 4090 takes 1.5 h',
    'LLVM 15.0.7, 256 bits',
    'p3.2xlarge at 2.40GHz',
  ];
  assert.deepEqual(said.map(regional), said);
  region('de-DE');
  assert.deepEqual(said.map(regional), [
    ...[
      '0,24 mWh',
      'under 0,001 ¢',
      '$407.998,80',
      '1.410 ms',
      '12 s',
      'RTX 4090 takes 1,5 h',
      'LLVM 15.0.7, 256 bits',
      'p3.2xlarge at 2.40GHz',
    ],
  ]);
  region('hi-IN');
  assert.equal(regional('$1,407,998.80'), '$14,07,998.80');
});

test('files are written alike in every region, also where they hold words with figures', () => {
  const row = { name: 'A card', kind: 'rent', numbers: 'float32', fits: false, fitNote: () => `needs ${bytes(4.6e9)}` };
  const rest = { epochRange: [1.5, 2.5], training: 1e6, kwh: 0.25, kilogramsCo2: null, money: 1234.5, price: null };
  const file = (): string => toCsv([{ ...row, ...rest } as unknown as CostRow]);
  const english = file();
  region('de-DE');
  assert.equal(file(), english);
  assert.match(english, /,needs 4\.6\u00a0GB,1\.5,2\.5,1000000,0\.25,,1234\.5,/);
  assert.throws(() =>
    asEnglish(() => {
      throw new Error('in between');
    }),
  );
  assert.equal(fixed(0.5, 1), '0,5');
});

test('10,000 rows of figures make no formatter each', () => {
  region('de-DE');
  const { NumberFormat, DateTimeFormat } = Intl;
  let made = 0;
  const counting = <T extends object>(real: T): T =>
    new Proxy(real, { construct: (of, args) => (made++, Reflect.construct(of as never, args)) });
  Object.assign(Intl, { NumberFormat: counting(NumberFormat), DateTimeFormat: counting(DateTimeFormat) });
  try {
    for (let i = 0; i < 10_000; i++) {
      fixed(i / 7, i % 5);
      short(i / 7, 3 + (i % 10));
      dateOf(evening + i * 1e6);
      fullTime(evening + i * 1e6);
    }
  } finally {
    Object.assign(Intl, { NumberFormat, DateTimeFormat });
  }
  assert.ok(made <= 15, `${made} formatters`);
});

test('the regional format: the system’s own, on Linux by its variables, LC_ALL’s before all', () => {
  const both = (tag: string): object => ({ numbers: tag, dates: tag });
  assert.deepEqual(regionalFormat('darwin', { LANG: 'fr_FR.UTF-8' }, 'de-DE'), both('de-DE'));
  assert.deepEqual(regionalFormat('win32', { LC_ALL: '', LANG: 'C' }, 'de-DE'), both('de-DE'));
  assert.deepEqual(regionalFormat('win32', { LC_ALL: 'C' }, 'de-DE'), both('C'));
  assert.deepEqual(regionalFormat('linux', {}, 'en-US@posix'), both('en-US@posix'));
  assert.deepEqual(regionalFormat('linux', { LC_ALL: '', LANG: 'de_DE.UTF-8' }, 'de-DE'), both('de_DE.UTF-8'));
  const desktop = { LANG: 'en_US.UTF-8', LC_NUMERIC: 'de_DE.UTF-8', LC_TIME: 'fr_FR.UTF-8' };
  assert.deepEqual(regionalFormat('linux', desktop, 'en-US'), { numbers: 'de_DE.UTF-8', dates: 'fr_FR.UTF-8' });
  assert.deepEqual(regionalFormat('linux', { ...desktop, LC_ALL: 'C.UTF-8' }, 'en-US'), both('C.UTF-8'));
});
