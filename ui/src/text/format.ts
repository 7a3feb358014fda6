/** Formats numbers, times and paths for the screen. */

export function duration(millis: number): string {
  const seconds = Math.max(0, millis) / 1000;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A duration that is worth a word: empty below a second. */
export function longDuration(millis: number): string {
  return millis < 1000 ? '' : duration(millis);
}

/** A countdown: "9 s", or "9:59" with two digits for the seconds. */
export function countdown(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const two = (part: number) => String(part).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  const rest = two(seconds % 60);
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
}

export function count(value: number): string {
  if (value < 1000) return String(value);
  if (value < 999_950) return `${(value / 1000).toFixed(value < 9_950 ? 1 : 0)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** The size of a context: "128k", "1M"; empty if unknown. */
export function contextSize(tokens: number): string {
  if (tokens === 0) return '';
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`;
  return `${Number((tokens / 1_000_000).toFixed(1))}M`;
}

/** A price with as few digits as possible: "$3", "$0.25". */
export function price(dollars: number): string {
  return `$${Number(dollars.toFixed(3))}`;
}

/** A size in bytes with a suitable unit. */
export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  const units = ['KB', 'MB', 'GB'];
  let size = count / 1024;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${Number(size.toFixed(size < 10 ? 1 : 0))} ${units[unit]}`;
}

export function money(dollars: number): string {
  if (dollars === 0) return '';
  return dollars < 0.01 ? `$${dollars.toFixed(4)}` : `$${dollars.toFixed(2)}`;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** An age for a list: "now", "5m", "3h", "2d", then a date. */
export function ago(then: number, now: number): string {
  const past = now - then;
  if (past < MINUTE) return 'now';
  if (past < HOUR) return `${Math.floor(past / MINUTE)}m`;
  if (past < DAY) return `${Math.floor(past / HOUR)}h`;
  if (past < 7 * DAY) return `${Math.floor(past / DAY)}d`;
  return new Date(then).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
}

export function clock(then: number): string {
  return new Date(then).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

export function baseName(path: string): string {
  const name = path
    .replace(/[/\\]+$/, '')
    .split(/[/\\]/)
    .at(-1);
  return name || path;
}

/**
 * A path relative to `root`, if it is below it. A sibling whose name merely begins alike is not
 * changed, nor is the root itself.
 */
export function relativePath(path: string, root: string | undefined): string {
  if (!root) return path;
  const same = (text: string) => text.replaceAll('\\', '/');
  const prefix = same(root).replace(/\/+$/, '') + '/';
  const full = same(path);
  const drive = /^[a-z]:/i.test(prefix);
  const begins = drive ? full.toLowerCase().startsWith(prefix.toLowerCase()) : full.startsWith(prefix);
  return begins && full.length > prefix.length ? path.slice(prefix.length) : path;
}
