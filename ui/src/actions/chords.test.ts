import { describe, expect, test } from 'vitest';
import { accelerator, chordName, chordOf, isUsable } from './chords';

const press = (key: string, held: KeyboardEventInit = {}) => chordOf(new KeyboardEvent('keydown', { key, ...held }));

describe('a chord', () => {
  test('is what is held and what is pressed', () => {
    expect(press('k', { ctrlKey: true })).toBe('Mod+K');
    expect(press('F', { ctrlKey: true, shiftKey: true })).toBe('Mod+Shift+F');
    expect(press('ArrowDown', { altKey: true })).toBe('Alt+ArrowDown');
    expect(press('F2')).toBe('F2');
    expect(press('!', { altKey: true, shiftKey: true, code: 'Digit1' })).toBe('Alt+Shift+1');
  });

  test('does not ask for Shift where a layout needs it to write the sign', () => {
    expect(press('/', { ctrlKey: true, shiftKey: true })).toBe('Mod+/');
    expect(press('+', { ctrlKey: true, shiftKey: true })).toBe('Mod+=');
  });

  test('is nothing while only modifiers are held', () => {
    for (const key of ['Control', 'Shift', 'Alt', 'Meta', 'Dead']) expect(press(key, { ctrlKey: true })).toBeUndefined();
  });

  test('must not be what one types', () => {
    expect(['A', 'Shift+A', 'Enter', 'Mod+Escape', 'Tab'].filter(isUsable)).toEqual([]);
    const good = ['Mod+A', 'Alt+1', 'F5', 'Mod+Shift+ArrowUp'];
    expect(good.filter(isUsable)).toEqual(good);
  });

  test('has a name for people and one for the menu bar', () => {
    expect(chordName('Mod+Shift+F')).toBe('Ctrl+Shift+F');
    expect(chordName('Alt+ArrowUp')).toBe('Alt+↑');
    expect(accelerator('Mod+Shift+F')).toBe('CmdOrCtrl+Shift+F');
    expect(accelerator('Alt+ArrowUp')).toBe('Alt+Up');
    expect(accelerator('Mod+,')).toBe('CmdOrCtrl+,');
    expect(accelerator('Mod+Ü')).toBeNull();
  });
});
