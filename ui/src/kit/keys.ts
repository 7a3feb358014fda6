/** Keyboard helpers: the command key of the platform, and shortcuts. */
import { onCleanup, onMount } from 'solid-js';

export const isMac = /mac|iphone|ipad/i.test(globalThis.navigator?.platform ?? '');

/** "Ctrl+B", or "⌘B" on a Mac. */
export function keyName(letter: string): string {
  return isMac ? `⌘${letter}` : `Ctrl+${letter}`;
}

/** "Alt+1", or "⌥1" on a Mac. */
export function altName(digit: string): string {
  return isMac ? `⌥${digit}` : `Alt+${digit}`;
}

/** The shortcut for the list of models. On a Mac, ⌘M minimises the window. */
export const modelKey = isMac ? ';' : 'm';

export function hasCommandKey(event: KeyboardEvent): boolean {
  return isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
}

/** An input method is composing. WebKit sends the key code 229 instead of the flag. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

/** WebKitGTK reports Shift+Tab by code only. */
export function isTab(event: KeyboardEvent): boolean {
  return event.key === 'Tab' || (event.key === 'Unidentified' && event.code === 'Tab');
}

export interface Shortcuts {
  /** With the command key held. */
  readonly command?: Readonly<Record<string, () => void>>;
  /**
   * With Alt, by physical key ("Digit1"), because on a Mac Alt changes the character. Digits only: they
   * are in the same place on every layout.
   */
  readonly alt?: Readonly<Record<string, () => void>>;
  /** If nothing else has handled it: dialogs, menus and fields come first. */
  readonly escape?: () => void;
}

export function useShortcuts(shortcuts: Shortcuts): void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || isComposing(event)) return;
    if (event.key === 'Escape') {
      shortcuts.escape?.();
      return;
    }
    const run = wanted(event, shortcuts);
    if (!run || event.repeat) return;
    event.preventDefault();
    run();
  };
  onMount(() => window.addEventListener('keydown', onKeyDown));
  onCleanup(() => window.removeEventListener('keydown', onKeyDown));
}

function wanted(event: KeyboardEvent, { command, alt }: Shortcuts): (() => void) | undefined {
  if (event.shiftKey) return undefined;
  // AltGr types characters; on Windows it is reported as Ctrl and Alt.
  const onlyAlt = event.altKey && !event.ctrlKey && !event.metaKey && !event.getModifierState('AltGraph');
  if (onlyAlt) return alt?.[event.code];
  return hasCommandKey(event) && !event.altKey ? command?.[event.key.toLowerCase()] : undefined;
}
