import { createRoot } from 'solid-js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createCaretRest, type CaretRest } from './caret';

let field: HTMLTextAreaElement;
let focused: string[];

beforeEach(() => {
  vi.useFakeTimers();
  field = document.createElement('textarea');
  document.body.append(field);
  field.focus();
  focused = [];
  for (const name of ['blur', 'focus']) field.addEventListener(name, () => focused.push(name));
});
afterEach(() => {
  field.remove();
  vi.useRealTimers();
});

const rest = (isFree = () => true): CaretRest => createRoot(() => createCaretRest(() => field, isFree));

test('a field that a script has changed is focused anew once it is quiet', () => {
  const caret = rest();
  caret.moved();
  vi.advanceTimersByTime(1000);
  caret.moved();
  vi.advanceTimersByTime(1000);
  expect(focused).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(focused).toEqual(['blur', 'focus']);
  expect(document.activeElement).toBe(field);
});

test('who types, has left, or has something open is not disturbed', () => {
  const caret = rest();
  caret.moved();
  caret.typed();
  vi.advanceTimersByTime(5000);
  expect(focused).toEqual([]);

  rest(() => false).moved();
  vi.advanceTimersByTime(5000);
  expect(focused).toEqual([]);

  field.blur();
  caret.moved();
  vi.advanceTimersByTime(5000);
  expect(focused).toEqual(['blur']);
});
