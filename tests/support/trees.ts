// Work that goes on in slices, done at once.

export async function finishAsync(work: Pick<AsyncGenerator<void, void, void>, 'next'>): Promise<void> {
  while (!(await work.next()).done) continue;
}
