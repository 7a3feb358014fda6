import { describe, expect, test } from 'vitest';
import { compareIds, insertInOrder } from './order';

const id = (counter: string) => `prt_${counter}AbCdEfGhIjKlMn`;

describe('ids', () => {
  test('order by their counter', () => {
    expect(compareIds(id('000000000001'), id('000000000002'))).toBe(-1);
    expect(compareIds(id('000000000002'), id('000000000001'))).toBe(1);
  });

  test('order across the wrap of the counter, where text order is wrong', () => {
    const before = id('ffffffffffff');
    const after = id('000000000000');
    expect(after < before).toBe(true);
    expect(compareIds(before, after)).toBe(-1);
    expect(compareIds(after, before)).toBe(1);
  });

  test('say nothing when they are foreign or alike', () => {
    expect(compareIds('part-1', 'part-2')).toBe(0);
    expect(compareIds(id('0000000000aa'), id('0000000000aa'))).toBe(0);
  });
});

test('an item goes to its place, and equals keep the order in which they came', () => {
  const byTens = (a: number, b: number) => Math.floor(a / 10) - Math.floor(b / 10);
  expect(insertInOrder([10, 20, 21, 30], 22, byTens)).toEqual([10, 20, 21, 22, 30]);
  expect(insertInOrder([], 1, byTens)).toEqual([1]);
  expect(insertInOrder([20], 10, byTens)).toEqual([10, 20]);
});
