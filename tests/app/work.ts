// What the window has to do, counted: calls and messages, elements made, layouts, drawings and the points in them. Unlike
// milliseconds such counts are the same on a fast machine and on a busy one, so CI holds them; the times are in
// tests/app/window-bench.ts. Calls that a test makes itself (callService) are not counted.

import { callService, type App } from './launch.ts';

export interface Work {
  /** Calls of the page to the AppService, by name. */
  readonly calls: Readonly<Record<string, number>>;
  /** Calls that were waiting for their answers at the same time, at most, by name. */
  readonly waiting: Readonly<Record<string, number>>;
  /** Characters, as JSON, of the answers, by name of the call. */
  readonly answers: Readonly<Record<string, number>>;
  /** Events that came, by name. */
  readonly events: Readonly<Record<string, number>>;
  /** Characters, as JSON, of the messages that came: the largest, and all. */
  readonly largestMessage: number;
  readonly received: number;
  /** Elements put into the document. */
  readonly added: number;
  /** Times a canvas was cleared to be drawn anew, by the label beside it. */
  readonly drawings: Readonly<Record<string, number>>;
  /** Most points of lines in one drawing. */
  readonly points: number;
  /** Layouts and computations of style that Chromium made. */
  readonly layouts: number;
  readonly styles: number;
  /** Seconds that passed, by the page's clock. */
  readonly seconds: number;
  /** Seconds of training between the first and the last report that came. */
  readonly trained: number;
}

type Counts = Omit<Work, 'layouts' | 'styles'>;

export interface Watch {
  /** What has come together since the last reading, or the start. */
  read(): Promise<Work>;
  /** Waits for so many reports of a run since the last reading. */
  waitForReports(count: number): Promise<void>;
  /** Waits until no call of this name is on its way: one that follows from an answer is made at once. */
  waitForAnswers(name: string): Promise<void>;
}

/** Counts from now on. */
export async function watchWork(app: App): Promise<Watch> {
  // The first call opens the test's ear on the page's port.
  await callService(app, 'runs', { limit: 1 });
  await app.page.evaluate(installCounters);
  const session = await app.page.context().newCDPSession(app.page);
  await session.send('Performance.enable');
  const chromium = async (): Promise<{ layouts: number; styles: number }> => {
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? NaN;
    return { layouts: of('LayoutCount'), styles: of('RecalcStyleCount') };
  };
  let before = await chromium();
  return {
    async read() {
      const counts = await app.page.evaluate(() => (globalThis as unknown as { readWork(): Counts }).readWork());
      const now = await chromium();
      const { layouts, styles } = before;
      before = now;
      return { ...counts, layouts: now.layouts - layouts, styles: now.styles - styles };
    },
    async waitForReports(count) {
      await app.page.waitForFunction(
        (wanted) => (globalThis as unknown as { reports(): number }).reports() >= wanted,
        count,
        { polling: 500 },
      );
    },
    async waitForAnswers(name) {
      await app.page.waitForFunction(
        (called) => (globalThis as unknown as { onTheirWay(called: string): number }).onTheirWay(called) === 0,
        name,
      );
    },
  };
}

/** Runs in the page. */
function installCounters(): void {
  /** callService's own numbers begin here. */
  const ownCalls = 1e9;
  const nothing = () => ({
    calls: {} as Record<string, number>,
    waiting: {} as Record<string, number>,
    answers: {} as Record<string, number>,
    events: {} as Record<string, number>,
    largestMessage: 0,
    received: 0,
    added: 0,
    drawings: {} as Record<string, number>,
    points: 0,
    seconds: 0,
    trained: 0,
  });
  let work = nothing();
  let since = performance.now();
  let firstReport: number | undefined;
  const one = (counts: Record<string, number>, name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1;
  };

  const unanswered = new Map<number, string>();
  const { testPort } = globalThis as unknown as { testPort: MessagePort };
  const post = testPort.postMessage.bind(testPort);
  testPort.postMessage = (message: { kind: string; id: number; name: string }, ...rest: unknown[]) => {
    if (message.kind === 'call' && message.id < ownCalls) {
      one(work.calls, message.name);
      unanswered.set(message.id, message.name);
      // Not at once: the answer to which the page makes the next call has not come here yet.
      setTimeout(() => {
        const alike = [...unanswered.values()].filter((name) => name === message.name).length;
        work.waiting[message.name] = Math.max(work.waiting[message.name] ?? 0, alike);
      });
    }
    (post as (...all: unknown[]) => void)(message, ...rest);
  };
  testPort.addEventListener('message', ({ data }) => {
    if (data.id >= ownCalls) return;
    const length = JSON.stringify(data).length;
    const answered = unanswered.get(data.id);
    if (answered !== undefined) work.answers[answered] = (work.answers[answered] ?? 0) + length;
    unanswered.delete(data.id);
    work.received += length;
    work.largestMessage = Math.max(work.largestMessage, length);
    if (data.kind !== 'event') return;
    one(work.events, data.name);
    if (data.name !== 'onReport') return;
    firstReport ??= data.value.progress.secondsElapsed as number;
    work.trained = data.value.progress.secondsElapsed - firstReport;
  });

  new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes)
        if (node instanceof Element) work.added += 1 + node.getElementsByTagName('*').length;
  }).observe(document.body, { childList: true, subtree: true });

  const canvas = CanvasRenderingContext2D.prototype;
  const { clearRect, lineTo } = canvas;
  let points = 0;
  canvas.clearRect = function (...area) {
    points = 0;
    one(work.drawings, this.canvas.closest('[aria-label]')?.getAttribute('aria-label') ?? 'unnamed');
    clearRect.apply(this, area);
  };
  canvas.lineTo = function (...at) {
    work.points = Math.max(work.points, ++points);
    lineTo.apply(this, at);
  };

  Object.assign(globalThis, {
    reports: () => work.events['onReport'] ?? 0,
    onTheirWay: (called: string) => [...unanswered.values()].filter((name) => name === called).length,
    readWork: () => {
      const read = { ...work, seconds: (performance.now() - since) / 1000 };
      work = nothing();
      since = performance.now();
      firstReport = undefined;
      return read;
    },
  });
}
