// Calls at most every `milliseconds`, the last request always served.

export function throttle(call: () => void, milliseconds: number | (() => number)): () => void {
  const pause = (): number => (typeof milliseconds === 'number' ? milliseconds : milliseconds());
  let last = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    if (timer !== undefined) return;
    const wait = Math.max(0, last + pause() - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      last = performance.now();
      call();
    }, wait);
  };
}
