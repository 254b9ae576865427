// Calls at most every `milliseconds`, the last request always served.

export function throttle(call: () => void, milliseconds: number): () => void {
  let last = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    if (timer !== undefined) return;
    const wait = Math.max(0, last + milliseconds - performance.now());
    timer = setTimeout(() => {
      timer = undefined;
      last = performance.now();
      call();
    }, wait);
  };
}
