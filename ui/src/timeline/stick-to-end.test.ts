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

  test('stays at the end when a request takes room, and when it gives the room back', () => {
    const { element, stick } = reader(1000);
    element.clientHeight = 40;
    stick.grown();
    expect([element.scrollTop, stick.atEnd(), stick.isAway()]).toEqual([1000, true, false]);
    // The browser moves the view up together with the end, and the list corrects its estimate.
    element.clientHeight = 100;
    element.scrollTop = 850;
    stick.moved();
    expect([stick.atEnd(), stick.isAway()]).toEqual([true, false]);
  });

  test('who scrolls up is let go, also while the answer grows', () => {
    const { element, stick } = reader(1000);
    element.scrollHeight = 1040;
    stick.turned(-1);
    element.scrollTop = 800;
    stick.moved();
    expect(stick.atEnd()).toBe(false);
  });

  test('who drags the scrollbar up is let go, also while the answer grows', () => {
    const { element, stick } = reader(1000);
    stick.grab(true);
    element.scrollHeight = 1040;
    element.scrollTop = 800;
    stick.moved();
    expect(stick.atEnd()).toBe(false);
  });

  test('leaves it by a page, also while the list changes its size', () => {
    const { element, stick } = reader(1000);
    element.scrollHeight = 1040;
    element.scrollTop = 800;
    stick.moved();
    expect(stick.atEnd()).toBe(false);
  });
});
