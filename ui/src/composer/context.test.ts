import { describe, expect, test } from 'vitest';
import { createClock } from '../host/fake/ids';
import { assistant } from '../host/fake/parts';
import type { ModelView } from '../protocol';
import { contextOf, keptOf } from './context';

const MODEL = { context: 200_000, output: 64_000 } as ModelView;
const answer = (input: number, read = 0) =>
  assistant('ses_a', 'msg_a', createClock(), {
    tokens: { input, output: 1000, reasoning: 500, cache: { read, write: 0 } },
  });

describe('the context', () => {
  test('is as full as the newest step that counted made it', () => {
    const messages = [answer(5000), answer(20_000, 10_000), assistant('ses_a', 'msg_a', createClock())];
    expect(contextOf(messages, MODEL)).toEqual({ used: 31_000, usable: 168_000, limit: 200_000, willCompact: false });
  });

  test('is summed up next when no more fits', () => {
    expect(contextOf([answer(170_000)], MODEL).willCompact).toBe(true);
  });

  test('has no limit where nobody knows it', () => {
    expect(contextOf([answer(10)], undefined)).toEqual({ used: 1010, usable: 0, limit: 0, willCompact: false });
  });

  test.each([
    [4_000, 2_000],
    [40_000, 10_000],
    [168_000, 15_000],
  ])('of %d keeps about the newest %d', (usable, kept) => {
    expect(keptOf(usable)).toBe(kept);
  });
});
