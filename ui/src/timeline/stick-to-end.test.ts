import { createRoot } from 'solid-js';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createStick } from './stick-to-end';

/** A viewport of 100 over a content that grows. */
function reader(height: number) {
  const element = { scrollTop: 0, scrollHeight: height, clientHeight: 100 };
  const stick = createRoot(() => createStick(() => element as HTMLElement));
  stick.toEnd();
  element.scrollTop = height - 100;
  const grow = (by: number) => {
    element.scrollHeight += by;
    stick.grown();
  };
  return { element, stick, grow };
}

describe('a reader at the end', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('follows growing content', () => {
    const { element, grow } = reader(1000);
    grow(50);
    expect(element.scrollTop).toBe(1050);
  });

  test('who opens a card keeps it under the pointer, also if its details load later', () => {
    const { element, stick, grow } = reader(1000);
    stick.hold();
    grow(30);
    grow(300);
    expect(element.scrollTop).toBe(900);
    expect(stick.isAway()).toBe(true);
    vi.runAllTimers();
    expect(stick.atEnd()).toBe(false);
  });

  test('who opens a small card is still at the end', () => {
    const { element, stick, grow } = reader(1000);
    stick.hold();
    grow(10);
    expect(stick.isAway()).toBe(false);
    vi.runAllTimers();
    expect(stick.atEnd()).toBe(true);
    grow(50);
    expect(element.scrollTop).toBe(1060);
  });

  test('who closes a card and is moved up with the end is still at the end', () => {
    const { element, stick } = reader(1000);
    stick.hold();
    element.scrollHeight = 800;
    element.scrollTop = 700;
    stick.moved();
    vi.runAllTimers();
    expect(stick.atEnd()).toBe(true);
  });

  test('who scrolls away is not moved back by a delayed update', () => {
    const { stick } = reader(1000);
    stick.hold();
    stick.leave();
    vi.runAllTimers();
    expect(stick.atEnd()).toBe(false);
  });
});
