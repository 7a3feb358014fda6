import { describe, expect, test } from 'vitest';
import { createClock } from '../host/fake/ids';
import { createWriter } from '../host/fake/parts';
import type { MessageView } from '../protocol';
import { rowsOf } from './turns';

const write = createWriter('ses_a', createClock());
const done = { time: { created: 1, completed: 2 }, finish: 'stop' as const };
const answerTo = (asked: MessageView, change = {}, parts = 1) =>
  write.answer(
    asked.info.id,
    { ...done, ...change },
    ...Array.from({ length: parts }, () => (id: string) => write.part(id, 'text', { text: 'x' })),
  );

describe('rows', () => {
  test('hold a prompt and its answers, also when another prompt came in between', () => {
    const [one, two] = [write.user('1'), write.user('2')];
    const [a, b] = [answerTo(one), answerTo(one)];
    const rows = rowsOf([one, a, two, b], [], []);
    expect(rows.map((row) => [row.user?.info.id, row.answers.map((answer) => answer.info.id)])).toEqual([
      [one.info.id, [a.info.id, b.info.id]],
      [two.info.id, []],
    ]);
  });

  test('a prompt comes first in its turn even if the clock went back before the answer', () => {
    const one = write.user('1');
    const a = answerTo(one);
    const [row] = rowsOf([a, one], [], []);
    expect([row?.user, row?.answers]).toEqual([one, [a]]);
  });

  test('stay the same objects while nothing in them changes', () => {
    const [one, two] = [write.user('1'), write.user('2')];
    const [a, b] = [answerTo(one), answerTo(two)];
    const before = rowsOf([one, a, two, b], [], []);
    const grown = { ...b, parts: [...b.parts, write.part(b.info.id, 'text', { text: 'more' })] };
    const after = rowsOf([one, a, two, grown], [], before);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    expect(after.map((row) => row.key)).toEqual(before.map((row) => row.key));
  });

  test('a very long turn takes several, whose keys stay when older messages come', () => {
    const one = write.user('1');
    const answers = Array.from({ length: 12 }, () => answerTo(one, {}, 10));
    const tail = rowsOf(answers.slice(6), [], []);
    const whole = rowsOf([one, ...answers], [], tail);
    expect(tail.length).toBeGreaterThan(1);
    expect(whole.map((row) => row.key)).toEqual(expect.arrayContaining(tail.map((row) => row.key)));
    expect(whole.flatMap((row) => row.answers)).toEqual(answers);
    expect(new Set(whole.map((row) => row.turnID))).toEqual(new Set([one.info.id]));
  });
});

describe('a queued prompt', () => {
  test('is one that the core lists as waiting, and its row changes when it no longer waits', () => {
    const [one, two] = [write.user('1'), write.user('2')];
    const messages = [one, answerTo(one), two];
    const waiting = rowsOf(messages, [two.info.id], []);
    expect(waiting.map((row) => row.queued)).toEqual([false, true]);
    const taken = rowsOf(messages, [], waiting);
    expect(taken.map((row) => row.queued)).toEqual([false, false]);
    expect(taken[0]).toBe(waiting[0]);
  });
});
