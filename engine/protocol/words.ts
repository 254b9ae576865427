// Figures in words that every process says the same way.

/** `1 row`, `2,400 rows`. */
export function countText(count: number, one: string): string {
  return `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
}

/** `0.31 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function timeText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${seconds.toFixed(2)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** The time of day of milliseconds since 1970, where the program runs: `07:00`, or `07:00:30` where it was chosen to the second. */
export function clockText(time: number): string {
  const seconds = new Date(time).getSeconds();
  return seconds === 0 ? minuteText(time) : `${minuteText(time)}:${two(seconds)}`;
}

function minuteText(time: number): string {
  const date = new Date(time);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Of milliseconds since 1970, where the program runs: `2026-12-24 22:30`. */
export function momentText(time: number): string {
  const date = new Date(time);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${minuteText(time)}`;
}
