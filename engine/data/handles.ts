// Prepared rows by the handles they were given out under. Who asks for what somebody holds already shares it, and what was let go last stays for
// a while: runs of one queue often want the same, one after the other.

import { randomUUID } from 'node:crypto';
import { InputError } from '../protocol/errors.ts';
import type { PreparedData } from '../protocol/data.ts';
import type { Prepared } from './prepare.ts';

interface Shared {
  readonly made: Prepared;
  /** What it was prepared from and how; null: nobody can ask for it again. */
  readonly key: string | null;
  holders: number;
}

/** Milliseconds for which rows stay that nobody holds. */
const idleMilliseconds = 30_000;

export class Handles {
  readonly #given = new Map<string, Shared>();
  /** A process that replaces one gives no handle out that somebody may still hold from before. */
  readonly #life = randomUUID().slice(0, 8);
  /** Held by nobody: the last one let go. */
  #idle: Shared | null = null;
  #timer: NodeJS.Timeout | undefined;
  #count = 0;

  /** Under a handle of its own. */
  keep(made: Prepared, key: string | null = null): PreparedData {
    return this.#give({ made, key, holders: 0 });
  }

  /** What was prepared under this key; null: it has to be prepared, and what nobody holds has made room. */
  async share(key: string): Promise<PreparedData | null> {
    const held = [...this.#given.values()].find((shared) => shared.key === key);
    if (held) return this.#give(held);
    const idle = this.#idle;
    if (idle?.key !== key) {
      await this.#setIdle(null);
      return null;
    }
    this.#idle = null;
    clearTimeout(this.#timer);
    return this.#give(idle);
  }

  /** Throws InputError `data.handle` for what was released already. */
  get(handle: string): Prepared {
    const found = this.#given.get(handle);
    if (found === undefined) throw new InputError('data.handle', `The prepared data ${handle} was released already.`);
    return found.made;
  }

  async release(handle: string): Promise<void> {
    const shared = this.#given.get(handle);
    this.#given.delete(handle);
    if (!shared || --shared.holders > 0) return;
    if (shared.key === null) return free(shared);
    await this.#setIdle(shared);
  }

  async close(): Promise<void> {
    await this.#setIdle(null);
    const all = new Set(this.#given.values());
    this.#given.clear();
    for (const shared of all) await free(shared);
  }

  #give(shared: Shared): PreparedData {
    const handle = `prepared-${this.#life}-${++this.#count}`;
    shared.holders++;
    this.#given.set(handle, shared);
    return { ...shared.made.info, handle };
  }

  /** At once, before the one it takes the place of is freed: meanwhile others may be let go, too. */
  async #setIdle(shared: Shared | null): Promise<void> {
    clearTimeout(this.#timer);
    const before = this.#idle;
    this.#idle = shared;
    if (shared)
      this.#timer = setTimeout(() => void this.#setIdle(null).catch(() => undefined), idleMilliseconds).unref();
    if (before) await free(before);
  }
}

async function free({ made }: Shared): Promise<void> {
  await made.rows.release();
  await made.kept?.close();
}
