import { describe, expect, test } from 'vitest';
import { accelerator, chordName, chordOf, isUsable } from './chords';

const press = (key: string, held: KeyboardEventInit = {}) => chordOf(new KeyboardEvent('keydown', { key, ...held }));

describe('a chord', () => {
  test('consists of the modifiers and the key', () => {
    expect(press('k', { ctrlKey: true })).toBe('Mod+K');
    expect(press('F', { ctrlKey: true, shiftKey: true })).toBe('Mod+Shift+F');
    expect(press('ArrowDown', { altKey: true })).toBe('Alt+ArrowDown');
    expect(press('F2')).toBe('F2');
    expect(press('!', { altKey: true, shiftKey: true, code: 'Digit1' })).toBe('Alt+Shift+1');
  });

  test('ignores Shift for signs, because that depends on the layout', () => {
    expect(press('/', { ctrlKey: true, shiftKey: true })).toBe('Mod+/');
    expect(press('+', { ctrlKey: true, shiftKey: true })).toBe('Mod+=');
  });

  test('is nothing while only modifiers are held', () => {
    for (const key of ['Control', 'Shift', 'Alt', 'Meta', 'Dead']) expect(press(key, { ctrlKey: true })).toBeUndefined();
  });

  test('must not be a key that types text', () => {
    expect(['A', 'Shift+A', 'Enter', 'Mod+Escape', 'Tab'].filter(isUsable)).toEqual([]);
    const good = ['Mod+A', 'Alt+1', 'F5', 'Mod+Shift+ArrowUp'];
    expect(good.filter(isUsable)).toEqual(good);
  });

  test('has a name for the screen and one for the menu bar', () => {
    expect(chordName('Mod+Shift+F')).toBe('Ctrl+Shift+F');
    expect(chordName('Alt+ArrowUp')).toBe('Alt+↑');
    expect(accelerator('Mod+Shift+F')).toBe('CmdOrCtrl+Shift+F');
    expect(accelerator('Alt+ArrowUp')).toBe('Alt+Up');
    expect(accelerator('Mod+,')).toBe('CmdOrCtrl+,');
    expect(accelerator('Mod+Ü')).toBeNull();
  });
});
