// Why a process ended, in words that stand behind "it is gone:".

export function endingOf(code: number | null, signal: NodeJS.Signals | null = null): string {
  if (signal !== null) return `it was ended by ${signal}`;
  if (code === null || code === 0) return 'it ended by itself';
  const killed = code === 9 || code === 15 || code > 128 || code < 0;
  return killed ? `it was killed or ran out of memory, code ${code}` : `it failed with code ${code}`;
}
