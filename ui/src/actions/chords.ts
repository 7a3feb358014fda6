/**
 * Keys held together, as text: "Mod+Shift+F". Mod is the command key of the platform.
 *
 * Letters and signs go by what the key writes, so that a chord is where the letter is on every
 * layout; digits by their place, because Shift and some layouts write something else there.
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

/** Keys that are only held. */
const HELD = new Set(['Control', 'Shift', 'Alt', 'Meta', 'AltGraph', 'CapsLock', 'Dead', 'Process', 'Unidentified']);

/** What was pressed; nothing while only modifiers are. */
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
  // A sign needs Shift on one layout and none on another: the sign itself says enough.
  if (event.key.length === 1 && digit === undefined && !/[a-z]/i.test(event.key)) held.Shift = false;
  const key = name === '+' ? '=' : name;
  return [...ORDER.filter((modifier) => held[modifier]), key].join('+');
}

/** Without a modifier it would be text: only function keys may stand alone. */
export function isUsable(chord: Chord): boolean {
  const { modifiers, key } = split(chord);
  if (/^F\d{1,2}$/.test(key)) return true;
  if (key === 'Escape' || key === 'Tab' || key === 'Enter') return false;
  return modifiers.includes('Mod') || modifiers.includes('Alt') || modifiers.includes('Ctrl');
}

/** For people: "Ctrl+Shift+F", or "⇧⌘F" on a Mac. */
export function chordName(chord: Chord): string {
  const { modifiers, key } = split(chord);
  const shown = KEYS[key] ?? key;
  if (!isMac) return [...modifiers.map((modifier) => PC[modifier]), shown].join('+');
  const order: Modifier[] = ['Ctrl', 'Alt', 'Shift', 'Mod'];
  return order.filter((modifier) => modifiers.includes(modifier)).map((modifier) => MAC[modifier]).join('') + shown;
}

/** For the menu bar; nothing where the system has no name for the key. */
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
