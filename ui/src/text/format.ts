/** Formats numbers, times and paths for the screen, in its language. */
import { en } from '../i18n/en';
import { locale } from '../i18n/live';

/** Making one takes longer than using it. */
const formats = new Map<string, Intl.NumberFormat>();

function decimal(value: number, most = 0, least = most, currency?: 'USD'): string {
  const key = [locale(), most, least, currency].join();
  let format = formats.get(key);
  if (!format) {
    format = new Intl.NumberFormat(locale(), {
      maximumFractionDigits: most,
      minimumFractionDigits: least,
      useGrouping: false,
      ...(currency && { style: 'currency', currency, currencyDisplay: 'narrowSymbol' }),
    });
    formats.set(key, format);
  }
  return format.format(value);
}

export function duration(millis: number): string {
  const seconds = Math.max(0, millis) / 1000;
  const { units } = en;
  if (seconds < 1) return units.milliseconds(decimal(seconds * 1000));
  if (seconds < 10) return units.seconds(decimal(seconds, 1));
  if (seconds < 60) return units.seconds(decimal(seconds));
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${units.minutes(decimal(minutes))} ${units.seconds(decimal(seconds % 60))}`
    : `${units.hours(decimal(Math.floor(minutes / 60)))} ${units.minutes(decimal(minutes % 60))}`;
}

/** A duration that is worth a word: empty below a second. */
export function longDuration(millis: number): string {
  return millis < 1000 ? '' : duration(millis);
}

/** A countdown: "9 s", or "9:59" with two digits for the seconds. */
export function countdown(seconds: number): string {
  if (seconds < 60) return en.units.seconds(decimal(seconds));
  const two = (part: number) => String(part).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  const rest = two(seconds % 60);
  return minutes < 60 ? `${minutes}:${rest}` : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${rest}`;
}

export function count(value: number): string {
  if (value < 1000) return String(value);
  if (value < 999_950) return en.units.thousands(decimal(value / 1000, value < 9_950 ? 1 : 0));
  return en.units.millions(decimal(value / 1_000_000, 1));
}

/** The size of a context: "128k", "1M"; empty if unknown. */
export function contextSize(tokens: number): string {
  if (tokens === 0) return '';
  if (tokens < 1000) return String(tokens);
  if (tokens < 999_500) return en.units.thousands(decimal(tokens / 1000));
  return en.units.millions(decimal(tokens / 1_000_000, 1, 0));
}

/** A price with as few digits as possible: "$3", "$0.25". */
export function price(dollars: number): string {
  return decimal(dollars, 3, 0, 'USD');
}

/** A size in bytes with a suitable unit. */
export function bytes(count: number): string {
  const { units } = en;
  if (count < 1024) return units.bytes(decimal(count));
  const said = [units.kilobytes, units.megabytes, units.gigabytes];
  let size = count / 1024;
  let unit = 0;
  while (size >= 1024 && unit < said.length - 1) {
    size /= 1024;
    unit += 1;
  }
  const number = decimal(size, size < 10 ? 1 : 0, 0);
  return said[unit]?.(number) ?? number;
}

export function money(dollars: number): string {
  if (dollars === 0) return '';
  return dollars < 0.01 ? decimal(dollars, 4, 4, 'USD') : decimal(dollars, 2, 2, 'USD');
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** An age for a list: "now", "5m", "3h", "2d", then a date. */
export function ago(then: number, now: number): string {
  const past = now - then;
  const whole = (unit: number) => decimal(Math.floor(past / unit));
  const { ages } = en.units;
  if (past < MINUTE) return ages.now;
  if (past < HOUR) return ages.minutes(whole(MINUTE));
  if (past < DAY) return ages.hours(whole(HOUR));
  if (past < 7 * DAY) return ages.days(whole(DAY));
  return new Date(then).toLocaleDateString(locale(), { day: 'numeric', month: 'short' });
}

export function clock(then: number): string {
  return new Date(then).toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'short' });
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
