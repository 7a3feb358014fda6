/**
 * The classes that the render crate gives to terminal text, as one style sheet.
 *
 * The 16 named colours are tokens (ansi.css). The other 240 are a colour cube and a grey ramp by
 * convention: computed here, and mixed with the text colour so that they are readable on the app's
 * background.
 */
const LEVELS = [0, 95, 135, 175, 215, 255];

function ansiRules(): string {
  const rules: string[] = [];
  for (let index = 16; index < 256; index += 1) {
    const colour = `rgb(${rgb(index).join(' ')})`;
    rules.push(
      `.ansi-fg-${index}{color:light-dark(color-mix(in srgb,${colour} 55%,black),color-mix(in srgb,${colour} 65%,white))}`,
      `.ansi-bg-${index}{background:light-dark(color-mix(in srgb,${colour} 35%,white),color-mix(in srgb,${colour} 35%,black))}`,
    );
  }
  return rules.join('\n');
}

function rgb(index: number): readonly number[] {
  if (index >= 232) return Array<number>(3).fill(8 + (index - 232) * 10);
  const place = index - 16;
  return [Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map((step) => LEVELS[step] ?? 0);
}

/** Through the CSSOM, because the content security policy forbids style elements. */
export function addAnsiStyles(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(ansiRules());
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
