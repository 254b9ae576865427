// Ids as they come, in memory that grows by doubling.

export class IdList {
  #ids = new Int32Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(id: number): void {
    if (this.#length === this.#ids.length) this.#grow(1);
    this.#ids[this.#length++] = id;
  }

  addAll(ids: ArrayLike<number>): void {
    if (this.#length + ids.length > this.#ids.length) this.#grow(ids.length);
    for (let i = 0; i < ids.length; i++) this.#ids[this.#length++] = ids[i];
  }

  /** Forgets all but the first ones. */
  cut(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  /** Those there are, as an array of their own. */
  taken(): Int32Array {
    return this.#ids.slice(0, this.#length);
  }

  #grow(more: number): void {
    const larger = new Int32Array(Math.max(2 * this.#ids.length, this.#length + more));
    larger.set(this.#ids);
    this.#ids = larger;
  }
}
