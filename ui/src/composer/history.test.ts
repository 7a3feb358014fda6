import { describe, expect, test } from 'vitest';
import { noteSent, readHistory, step } from './history';

describe('earlier prompts', () => {
  test('are stored by project without repeats, newest last', () => {
    for (const text of ['one', 'two', 'one']) noteSent(localStorage, 'prj_a', text);
    expect(readHistory(localStorage, 'prj_a')).toEqual(['two', 'one']);
    expect(readHistory(localStorage, 'prj_b')).toEqual([]);
  });

  test('can be walked back and forward to the unsent text', () => {
    const sent = ['one', 'two'];
    const first = step(sent, undefined, -1, 'half');
    expect(first).toEqual({ text: 'two', walk: { at: 1, own: 'half' } });
    const second = step(sent, first?.walk, -1, 'two');
    expect(second?.text).toBe('one');
    expect(step(sent, second?.walk, -1, 'one')).toBeUndefined();
    const back = step(sent, step(sent, second?.walk, 1, 'one')?.walk, 1, 'two');
    expect(back).toEqual({ text: 'half', walk: undefined });
    expect(step(sent, undefined, 1, 'half')).toBeUndefined();
  });

  test('work without a storage', () => {
    noteSent(undefined, 'prj_a', 'x');
    expect(readHistory(undefined, 'prj_a')).toEqual([]);
  });
});
