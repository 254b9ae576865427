// Work that is done again and again beside the calls.

/**
 * Calls `work` every so often without keeping the process alive. What fails is tried again the next time; it fails louder
 * where somebody asks for the same thing. Returns a function that ends it.
 */
export function repeat(milliseconds: number, work: () => unknown): () => void {
  const timer = setInterval(() => void Promise.resolve().then(work).catch(ignore), milliseconds);
  timer.unref();
  return () => clearInterval(timer);
}

function ignore(): void {
  // See above.
}
