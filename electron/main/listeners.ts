// A list of listeners for one kind of event.

export class Listeners<E> {
  readonly #listeners = new Set<(event: E) => void>();

  /** Returns the function that takes the listener out again. */
  add(listener: (event: E) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: E): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}
