// Which of the waiting runs may begin beside those that train, and with how many threads. Pure: who works the queue off asks anew whenever a
// run has begun, has said what it uses, or has ended.

/** What a run takes of the machine. */
export interface Claim {
  readonly run: number;
  /** `any`: it measures both and chooses, and wants neither disturbed. A run on the GPU takes no core: it waits for its device. */
  readonly device: 'cpu' | 'gpu' | 'any';
  /** CPU threads; 0: as many as pay, which is all that it may have until it says how many it uses. */
  readonly threads: number;
  /** Bytes its process grows by; null: not known. */
  readonly bytes: number | null;
}

export interface Room {
  readonly cores: number;
  /** Bytes that runs may take in all, those that train already included. */
  readonly bytes: number;
  /**
   * Runs that train at a time, as a person chose; null: by itself, which is one on each device and on the CPU more where those before leave
   * cores unused.
   */
  readonly atOnce: number | null;
}

export interface Turn {
  readonly run: number;
  /** Threads it may use; 0: nobody else wants any. */
  readonly threads: number;
}

/**
 * Those of `waiting` that begin now, in their order. No run passes another that waits for the same thing: cores, the GPU, memory. So the largest
 * one begins when enough has ended, however many small ones stand behind it. A run that is alone always may begin.
 */
export function turns(room: Room, going: readonly Claim[], waiting: readonly Claim[]): readonly Turn[] {
  const begun: Claim[] = [...going];
  const chosen: Turn[] = [];
  const short = { cpu: false, gpu: false };
  for (const claim of waiting) {
    if (room.atOnce !== null && begun.length >= room.atOnce) break;
    const [onCpu, onGpu] = [claim.device !== 'gpu', claim.device !== 'cpu'];
    const threads = onCpu ? threadsFor(room, begun, claim) : 0;
    const gpuIsBusy = onGpu && begun.some(({ device }) => device !== 'cpu');
    if (threads === null || gpuIsBusy || (onCpu && short.cpu) || (onGpu && short.gpu)) {
      short.cpu ||= onCpu;
      short.gpu ||= onGpu;
      continue;
    }
    const fits = fitsMemory(room, begun, claim);
    if (fits === false) break;
    if (fits === null && onCpu && begun.some(({ device }) => device !== 'gpu')) {
      short.cpu = true;
      continue;
    }
    chosen.push({ run: claim.run, threads });
    begun.push({ ...claim, threads: threads || claim.threads });
  }
  return chosen;
}

/** Null: there are too few left. */
function threadsFor({ cores, atOnce }: Room, begun: readonly Claim[], { threads }: Claim): number | null {
  const onCpu = begun.filter(({ device }) => device !== 'gpu');
  const taken = onCpu.reduce((sum, claim) => sum + (claim.threads || cores), 0);
  // A number that a person chose is a promise: each gets its part from the first on.
  const part = atOnce === null || atOnce === 1 ? null : Math.max(1, Math.floor(cores / atOnce));
  if (onCpu.length === 0 && (threads > 0 || part === null)) return threads;
  const left = cores - taken;
  const wanted = threads > 0 ? Math.min(threads, cores) : (part ?? Math.max(1, left));
  return wanted <= left ? wanted : null;
}

/** Null: nobody knows. */
function fitsMemory({ bytes }: Room, begun: readonly Claim[], claim: Claim): boolean | null {
  if (begun.length === 0) return true;
  const all = [...begun, claim].map((each) => each.bytes);
  if (all.reduce<number>((sum, each) => sum + (each ?? 0), 0) > bytes) return false;
  return all.includes(null) ? null : true;
}
