/** Runs `work` one at a time: asked for while it runs, it is run once more, however often it was asked for. */
export function coalesced(work: () => Promise<void>): () => void {
  let asked = false;
  let running = false;
  const run = async (): Promise<void> => {
    running = true;
    try {
      while (asked) {
        asked = false;
        await work();
      }
    } finally {
      running = false;
    }
  };
  return () => {
    asked = true;
    if (!running) void run();
  };
}
