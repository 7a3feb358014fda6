/** Short units behind a number. */
export const units = {
  milliseconds: (count: string) => `${count} ms`,
  seconds: (count: string) => `${count} s`,
  minutes: (count: string) => `${count} min`,
  hours: (count: string) => `${count} h`,
  thousands: (count: string) => `${count}k`,
  millions: (count: string) => `${count}M`,
  bytes: (count: string) => `${count} B`,
  kilobytes: (count: string) => `${count} KB`,
  megabytes: (count: string) => `${count} MB`,
  gigabytes: (count: string) => `${count} GB`,
  /** How long ago, in a narrow list. */
  ages: {
    now: 'now',
    minutes: (count: string) => `${count}m`,
    hours: (count: string) => `${count}h`,
    days: (count: string) => `${count}d`,
  },
};
