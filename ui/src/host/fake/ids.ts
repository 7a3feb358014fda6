/** Ids of the scripted host: in the form of the app, but counted instead of random. */
const START = Date.UTC(2026, 10, 16, 7, 0, 0);

export interface Clock {
  /** Always later than the time before. */
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
