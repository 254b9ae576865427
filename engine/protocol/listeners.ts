// A list of listeners for one kind of event: the one emitter of the project.

export class Listeners<E> {
  readonly #listeners = new Set<(event: E) => void>();

  get size(): number {
    return this.#listeners.size;
  }

  /** Returns the function that takes the listener out again. */
  add(listener: (event: E) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Those that are there now hear of it, whoever comes or goes meanwhile. */
  emit(event: E): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}
