// Figures in words that every process says the same way.

/** `1 row`, `2,400 rows`. */
export function countText(count: number, one: string): string {
  return `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`;
}

/** `0.31 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function timeText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** The time of day of milliseconds since 1970, where the program runs: `07:00`, or `07:00:30` where it was chosen to the second. */
function clockText(time: number): string {
  const seconds = new Date(time).getSeconds();
  return seconds === 0 ? minuteText(time) : `${minuteText(time)}:${two(seconds)}`;
}

function minuteText(time: number): string {
  const date = new Date(time);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** A time as seen at another: the clock alone where it is of the same day, else `2026-12-24 07:00`. */
export function dueText(time: number, now: number): string {
  const today = new Date(time).toDateString() === new Date(now).toDateString();
  return today ? clockText(time) : momentText(time);
}

/** Of milliseconds since 1970, where the program runs: `2026-12-24 22:30`. */
export function momentText(time: number): string {
  const date = new Date(time);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${minuteText(time)}`;
}
