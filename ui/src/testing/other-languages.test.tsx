/** Every screen in a language that is not English: what stays in plain letters is hard-wired. */
import { cleanup, render, screen, waitFor } from '@solidjs/testing-library';
import { afterEach, describe, expect, test } from 'vitest';
import { Gallery } from '../gallery/Gallery';
import { choose } from '../i18n/languages';
import type { App, Overlay, SettingsSection } from '../store/app';
import { openWindow } from './window';

afterEach(async () => {
  // Components that are still there would draw everything again.
  cleanup();
  await choose('en');
});

const scripted = import.meta.glob<string>(['../host/fake/*.ts', '../gallery/*.ts', '../gallery/*.tsx', '../host/fake.ts'], {
  query: '?raw',
  import: 'default',
  eager: true,
});
/** Without the marks of Markdown and of strings, which are not drawn, and what is put into a text. */
const plain = (text: string) => text.replace(/\$\{\w+\}|\\n|[\s*`'"_#\\]+/g, ' ').replace(/ +/g, ' ').toLowerCase();
const DATA = plain(Object.values(scripted).join('\n'));
/** The same in every language: keys, the names of programs, the names of languages and of months. */
const NAMES =
  /\b(Enter|Tab|Esc|Shift|Ctrl|Alt|Del|Delete|Backspace|Home|End|Up|Down|F\d+|Page|PageUp|PageDown|Left|Right|Space|OpenCode|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|AM|PM|English)\b/g;
const SPOKEN = ['aria-label', 'title', 'placeholder', 'alt', 'aria-description', 'aria-roledescription'];

function textsOf(root: ParentNode): string[] {
  const found: string[] = [];
  for (const element of root.querySelectorAll('*')) {
    if (['STYLE', 'SCRIPT'].includes(element.tagName)) continue;
    for (const name of SPOKEN) found.push(element.getAttribute(name) ?? '');
    for (const node of element.childNodes) if (node.nodeType === Node.TEXT_NODE) found.push(node.nodeValue ?? '');
  }
  return found;
}

/** One word or several in plain letters, not within another word or number. */
const PLAIN_WORDS = /(?<![\p{L}\d])[A-Za-z](?:[A-Za-z’'-]| (?! ))*[A-Za-z](?![\p{L}\d])/gu;

/** The words in plain letters that the scripted host has not said. */
function hardWired(root: ParentNode): string[] {
  const words = textsOf(root).flatMap((text) => text.replace(NAMES, '').match(PLAIN_WORDS) ?? []);
  return [...new Set(words)].filter((word) => !DATA.includes(plain(word)));
}

const SECTIONS = Object.keys({
  providers: 0,
  permissions: 0,
  agents: 0,
  mcp: 0,
  appearance: 0,
  tools: 0,
  data: 0,
  shortcuts: 0,
} satisfies Record<SettingsSection, 0>) as SettingsSection[];

const OVERLAYS: readonly Overlay[] = [
  { name: 'models' },
  { name: 'palette' },
  { name: 'share', sessionID: 'ses_gallery' },
  { name: 'snapshot' },
  { name: 'reverted', sessionID: 'ses_gallery' },
  { name: 'full-access' },
  { name: 'make-final', message: '20', answer: () => {} },
  { name: 'lightbox', alone: { url: 'data:image/png;base64,', name: 'lamp.png' } },
  ...SECTIONS.map((section) => ({ name: 'settings', section }) as const),
];

const screens: readonly (readonly [string, (app: App) => void])[] = [
  ['a session', () => {}],
  ['the review', (app) => app.review.toggle()],
  ['find', (app) => app.finder.show()],
  ...OVERLAYS.map((overlay) => {
    const name = 'section' in overlay ? `settings, ${overlay.section}` : overlay.name;
    return [name, (app: App) => app.show(overlay)] as const;
  }),
];

/** Until nothing of the screen loads any more. */
async function settled(): Promise<void> {
  let before = '';
  await waitFor(() => {
    const now = document.body.innerHTML;
    const still = now === before;
    before = now;
    expect(still).toBe(true);
  });
}

describe('in a trial language', () => {
  test.each(screens)('%s has no text of its own', async (_name, go) => {
    const { app } = openWindow();
    await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
    go(app);
    await settled();
    // What is on screen already changes as well.
    app.save({ language: 'en-XA' });
    await waitFor(() => expect(document.documentElement.lang).toBe('en-XA'));
    await settled();
    expect(hardWired(document)).toEqual([]);
  });

  test('the first start has no text of its own', async () => {
    const { app } = openWindow({ empty: true, settings: { welcomed: false } });
    await waitFor(() => expect(app.phase().name).toBe('ready'));
    app.save({ language: 'en-XB' });
    await waitFor(() => expect(document.documentElement.dir).toBe('rtl'));
    for (const button of ['welcome-next', 'welcome-next', 'welcome-done']) {
      await settled();
      expect(hardWired(document)).toEqual([]);
      screen.getByTestId(button).click();
    }
    await settled();
    expect(hardWired(document)).toEqual([]);
  });

  test('every part and every tool card has no text of its own', async () => {
    await choose('en-XA');
    render(() => <Gallery />);
    await settled();
    expect(hardWired(document)).toEqual([]);
  });
});
