// Requests as nobody should send them: a seeded generator that runs inside a page and posts to a port of the app. What it is
// worth is counted: how many were answered, and with what.

import type { Page } from '@playwright/test';

export interface Malformed {
  /** What the other side serves: names that exist, called in wrong ways. */
  readonly methods: readonly string[];
  readonly services: readonly string[];
  readonly count: number;
  readonly seed: number;
  /** Which of the ports the page was given. */
  readonly port: number;
}

export interface Outcome {
  readonly sent: number;
  /** Calls with a number that a call can have: each of them is to be answered. */
  readonly expected: number;
  readonly results: number;
  readonly errors: number;
  /** The errors' texts, each once. */
  readonly texts: readonly string[];
}

/** Keeps every port that a page of the app is given, in `testPorts`. */
export function keepPorts(): void {
  addEventListener('message', (event) => {
    if (event.data === 'trainyard:port')
      Object.assign(globalThis, { testPorts: event.ports, testPort: event.ports[0] });
  });
}

export async function sendMalformed(page: Page, what: Malformed): Promise<Outcome> {
  return page.evaluate(async ({ methods, services, count, seed, port }: Malformed): Promise<Outcome> => {
    const { testPorts } = globalThis as unknown as { testPorts: readonly MessagePort[] };
    const target = testPorts[port];
    let state = seed;
    const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)];

    /** Whether the message can come out at the other side: a page's own objects cannot. */
    let arrives = true;

    const deep = (levels: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { a: value };
      return value;
    };
    const circular = (): unknown => {
      const value: Record<string, unknown> = { run: 1 };
      value['self'] = value;
      return value;
    };
    const polluted = (): unknown =>
      JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    const scalars: readonly (() => unknown)[] = [
      () => undefined,
      () => null,
      () => NaN,
      () => -1,
      () => -0,
      () => 1e308,
      () => Infinity,
      () => 2 ** 53,
      () => 0.5,
      () => true,
      () => '',
      () => '\0',
      () => '../../../etc/passwd',
      () => "'; DROP TABLE runs; --",
      () => '\ud800',
      () => 'x'.repeat(Math.floor(random() * 300_000)),
      () => 10n ** 30n,
      () => new Date(NaN),
      () => /x/g,
      () => new Uint8Array(Math.floor(random() * 1000)),
      () => new Float64Array([NaN, Infinity]),
      () => new Map([[{}, NaN]]),
      () => new Set([1, '1']),
      () => new Error('an error'),
      () => new Array(Math.floor(random() * 1e6)),
      () => deep(Math.floor(random() * 2000)),
      () => circular(),
      () => polluted(),
      () => ((arrives = false), new Blob(['x'])),
    ];
    const keys = [
      'run',
      'runs',
      'dataset',
      'settings',
      'config',
      'job',
      'token',
      'rows',
      'limit',
      'offset',
      'key',
      'value',
      'handle',
      'shard',
      'patch',
      'format',
      'kind',
      '__proto__',
      'constructor',
      'toString',
      'length',
      '',
    ];
    const request = (): unknown => {
      if (random() < 0.4) return pick(scalars)();
      return Object.fromEntries(Array.from({ length: Math.floor(random() * 5) }, () => [pick(keys), pick(scalars)()]));
    };
    const names = [
      ...methods,
      ...methods,
      'toString',
      '__proto__',
      'constructor',
      'hasOwnProperty',
      'then',
      'onReport',
      'on',
      '',
      'x'.repeat(10_000),
      'none',
    ];
    const name = (): unknown => (random() < 0.9 ? pick(names) : pick(scalars)());
    const kinds = ['call', 'listen', 'unlisten', 'result', 'error', 'event', 'none'];

    const waiting = new Set<number>();
    const outcome = { sent: 0, expected: 0, results: 0, errors: 0 };
    const texts = new Set<string>();
    const receive = ({ data }: MessageEvent): void => {
      if (!waiting.delete(data?.id)) return;
      if (data.kind === 'error') {
        outcome.errors += 1;
        texts.add(`${data.error.code} ${data.error.message} ${data.error.hint}`.slice(0, 2000));
      } else outcome.results += 1;
    };
    target.addEventListener('message', receive);
    target.start();

    for (let i = 0; i < count; i++) {
      const kind = random() < 0.7 ? 'call' : pick(kinds);
      arrives = true;
      const own = random() < 0.85;
      const id = own ? 2e9 + seed * 1e5 + i : pick(scalars)();
      const message: unknown =
        random() < 0.05
          ? pick(scalars)()
          : {
              service: random() < 0.9 ? services[0] : pick([...services, 'none', null]),
              kind,
              id,
              name: name(),
              request: request(),
              value: request(),
              error: pick(scalars)(),
            };
      const sent = message as { service?: unknown; kind?: unknown; name?: unknown } | null;
      const answered =
        arrives &&
        own &&
        typeof sent === 'object' &&
        sent?.kind === 'call' &&
        sent.service === services[0] &&
        typeof sent.name === 'string' &&
        !/^on[A-Z]/.test(sent.name);
      try {
        const transfer = random() < 0.05 ? [new ArrayBuffer(8), new MessageChannel().port1] : [];
        if (answered) waiting.add(id as number);
        target.postMessage(message, transfer);
        outcome.sent += 1;
        if (answered) outcome.expected += 1;
      } catch {
        // What cannot be copied never leaves the page.
        waiting.delete(id as number);
      }
      if (i % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const end = Date.now() + 20_000;
    while (waiting.size > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
    target.removeEventListener('message', receive);
    return { ...outcome, texts: [...texts] };
  }, what);
}
