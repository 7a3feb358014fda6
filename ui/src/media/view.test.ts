import { describe, expect, test } from 'vitest';
import { FITTED, fitScale, moved, scaleOf, zoomed } from './view';

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
