/**
 * Keys held together, as text: "Mod+Shift+F". Mod is the command key of the platform.
 *
 * Letters and signs are identified by the character, so that a shortcut follows the keyboard layout.
 * Digits are identified by the physical key, because with Shift and on some layouts it types another
 * character.
 */
import { isMac } from '../kit/keys';

export type Chord = string;

const ORDER = ['Mod', 'Ctrl', 'Alt', 'Shift'] as const;
type Modifier = (typeof ORDER)[number];

const MAC: Record<Modifier, string> = { Mod: '⌘', Ctrl: '⌃', Alt: '⌥', Shift: '⇧' };
const PC: Record<Modifier, string> = { Mod: 'Ctrl', Ctrl: 'Ctrl', Alt: 'Alt', Shift: 'Shift' };
const KEYS: Readonly<Record<string, string>> = {
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
  Escape: 'Esc',
  Delete: 'Del',
  ' ': 'Space',
};

/** Modifier keys. */
const HELD = new Set(['Control', 'Shift', 'Alt', 'Meta', 'AltGraph', 'CapsLock', 'Dead', 'Process', 'Unidentified']);

/** Undefined while only modifiers are pressed. */
export function chordOf(event: KeyboardEvent): Chord | undefined {
  if (HELD.has(event.key)) return undefined;
  const held: Record<Modifier, boolean> = {
    Mod: isMac ? event.metaKey : event.ctrlKey,
    Ctrl: isMac && event.ctrlKey,
    Alt: event.altKey,
    Shift: event.shiftKey,
  };
  const digit = /^Digit(\d)$/.exec(event.code)?.[1];
  const name = digit ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  // Whether a sign needs Shift depends on the layout, so Shift is left out.
  if (event.key.length === 1 && digit === undefined && !/[a-z]/i.test(event.key)) held.Shift = false;
  const key = name === '+' ? '=' : name;
  return [...ORDER.filter((modifier) => held[modifier]), key].join('+');
}

/** Without a modifier a key types text; only function keys may be used alone. */
export function isUsable(chord: Chord): boolean {
  const { modifiers, key } = split(chord);
  if (/^F\d{1,2}$/.test(key)) return true;
  if (key === 'Escape' || key === 'Tab' || key === 'Enter') return false;
  return modifiers.includes('Mod') || modifiers.includes('Alt') || modifiers.includes('Ctrl');
}

/** For the screen: "Ctrl+Shift+F", or "⇧⌘F" on a Mac. */
export function chordName(chord: Chord): string {
  const { modifiers, key } = split(chord);
  const shown = KEYS[key] ?? key;
  if (!isMac) return [...modifiers.map((modifier) => PC[modifier]), shown].join('+');
  const order: Modifier[] = ['Ctrl', 'Alt', 'Shift', 'Mod'];
  return order.filter((modifier) => modifiers.includes(modifier)).map((modifier) => MAC[modifier]).join('') + shown;
}

/** For the menu bar; undefined if the system has no name for the key. */
export function accelerator(chord: Chord): string | null {
  const { modifiers, key } = split(chord);
  const known = /^[A-Z0-9]$|^F\d{1,2}$|^Arrow|^[,.\-=/;\\[\]]$|^Delete$/.test(key);
  if (!known) return null;
  const names: Record<Modifier, string> = { Mod: 'CmdOrCtrl', Ctrl: 'Ctrl', Alt: 'Alt', Shift: 'Shift' };
  return [...modifiers.map((modifier) => names[modifier]), key.replace(/^Arrow/, '')].join('+');
}

function split(chord: Chord): { modifiers: Modifier[]; key: string } {
  const pieces = chord.split('+');
  const key = pieces.pop() ?? '';
  return { modifiers: pieces as Modifier[], key };
}
