/** Ids of the scripted host: the app's shape, counted instead of random. */
const START = Date.UTC(2026, 10, 16, 7, 0, 0);

export interface Clock {
  /** Later by a moment than every time before. */
  now(): number;
  id(prefix: 'ses' | 'msg' | 'prt'): string;
}

export function createClock(start = START): Clock {
  let time = start;
  let made = 0;
  return {
    now: () => (time += 40),
    id(prefix) {
      made += 1;
      const ticks = (BigInt(start) * 4096n + BigInt(made)) & 0xffff_ffff_ffffn;
      return `${prefix}_${ticks.toString(16).padStart(12, '0')}${String(made).padStart(14, '0')}`;
    },
  };
}
