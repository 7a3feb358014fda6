import { describe, expect, test } from 'vitest';
import { FITTED, fitScale, moved, scaleOf, wheelSteps, zoomed } from './zoom';

const photo = { width: 2000, height: 1000 };
const icon = { width: 32, height: 32 };
const frame = { width: 1000, height: 800 };

describe('a picture in its frame', () => {
  test('is made smaller to fit, never larger', () => {
    expect(fitScale(photo, frame)).toBe(0.5);
    expect(fitScale(icon, frame)).toBe(1);
    expect(fitScale({ width: 0, height: 0 }, frame)).toBe(1);
  });

  test('grows by steps around the point under the pointer', () => {
    const near = zoomed(FITTED, 1, photo, frame, { x: 100, y: 0 });
    expect(near).toEqual({ zoom: 0.625, x: -25, y: 0 });
  });

  test('fits again when it would be smaller than that', () => {
    const near = zoomed(FITTED, 2, photo, frame);
    expect(zoomed(near, -3, photo, frame)).toEqual(FITTED);
  });

  test('is never more than eight times its size', () => {
    expect(scaleOf(zoomed(FITTED, 99, photo, frame), photo, frame)).toBe(8);
  });

  test('moves only as far as its edge, and not at all where it fits', () => {
    expect(moved(FITTED, 300, 300, photo, frame)).toEqual(FITTED);
    expect(moved({ zoom: 1, x: 0, y: 0 }, 900, 30, photo, frame)).toEqual({ zoom: 1, x: 500, y: 30 });
    expect(moved({ zoom: 1, x: 0, y: 0 }, -900, -900, photo, frame)).toEqual({ zoom: 1, x: -500, y: -100 });
  });
});

describe('the wheel', () => {
  const turned = (deltaY: number, deltaMode = 0) => wheelSteps({ deltaY, deltaMode });

  test('zooms in proportion to the wheel, one step at most', () => {
    expect(turned(-30)).toBe(0.5);
    expect(turned(3)).toBe(-0.05);
    expect([turned(-120), turned(900)]).toEqual([1, -1]);
    expect(turned(0)).toBe(0);
  });

  test('may count in lines or in pages', () => {
    expect(turned(-1, 1)).toBeCloseTo(1 / 3);
    expect([turned(-3, 1), turned(1, 2)]).toEqual([1, -1]);
  });

  test('does not jump to the maximum with one movement', () => {
    const touch = Array.from({ length: 12 }, () => turned(-4));
    const near = touch.reduce((view, steps) => zoomed(view, steps, photo, frame), FITTED);
    expect(scaleOf(near, photo, frame)).toBeLessThan(0.65);
  });
});
