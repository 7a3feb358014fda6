import { describe, expect, test } from 'vitest';

const WORDS = ['i18n', 'protocol', 'text'];
const STATE = [...WORDS, 'host', 'store'];
const VIEW = [...STATE, 'kit'];

/**
 * What each folder (or file, at the top) may import, besides itself. From the bottom to the top:
 * an entry names only entries before it.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  bindings: [],
  validators: [],
  protocol: ['bindings'],
  i18n: [],
  styles: [],
  text: ['i18n'],
  host: ['protocol'],
  store: [...WORDS, 'host'],
  kit: [...WORDS, 'store'],
  diff: [...WORDS, 'kit'],
  media: VIEW,
  tools: [...VIEW, 'diff', 'media'],
  parts: [...VIEW, 'media', 'tools'],
  actions: VIEW,
  menus: [...VIEW, 'actions'],
  models: VIEW,
  requests: [...VIEW, 'diff'],
  dialogs: VIEW,
  todos: VIEW,
  trust: VIEW,
  palette: [...VIEW, 'actions'],
  find: [...VIEW, 'actions'],
  settings: [...VIEW, 'actions'],
  welcome: [...VIEW, 'settings'],
  sidebar: [...VIEW, 'actions'],
  review: [...VIEW, 'diff', 'dialogs'],
  timeline: [...VIEW, 'actions', 'diff', 'parts', 'tools'],
  composer: [...VIEW, 'actions', 'models', 'requests'],
  gallery: [...STATE, 'parts'],
  App: [
    ...VIEW,
    ...['media', 'actions', 'menus', 'dialogs', 'todos', 'trust', 'palette', 'find', 'settings', 'sidebar', 'review', 'welcome'],
    ...['timeline', 'composer'],
  ],
  WindowFailed: [...WORDS, 'kit', 'timeline'],
  main: [...STATE, 'kit', 'styles', 'gallery', 'App', 'WindowFailed'],
};

const files = import.meta.glob<string>('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true });

interface Import {
  readonly from: string;
  readonly file: string;
  readonly to: string;
}

const isTest = (path: string) => path.startsWith('testing/') || /\.test\.tsx?$/.test(path) || path.endsWith('.d.ts');
const placeOf = (path: string) => (path.split('/')[0] ?? '').replace(/\.\w+$/, '');

/** Every import of one place by another, and every import of a package. */
const imports: Import[] = Object.entries(files).flatMap(([key, source]) => {
  // Seen from this folder: those of its own begin with one dot.
  const file = resolve('testing', key);
  if (isTest(file)) return [];
  const folder = file.split('/').slice(0, -1).join('/');
  const found = source.matchAll(/(?:^|\s)(?:from|import)\s*\(?\s*'([^']+)'/g);
  return [...found].map(([, name = '']) => {
    const to = name.startsWith('.') ? placeOf(resolve(folder, name)) : name;
    return { from: placeOf(file), file, to: to === 'frame' ? 'App' : to };
  });
});

function resolve(folder: string, path: string): string {
  const parts = folder === '' ? [] : folder.split('/');
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

describe('imports', () => {
  test('the table names only what is below', () => {
    const places = Object.keys(ALLOWED);
    const upward = Object.entries(ALLOWED).flatMap(([place, allowed]) =>
      allowed.filter((other) => !places.slice(0, places.indexOf(place)).includes(other)).map((other) => [place, other]),
    );
    expect(upward).toEqual([]);
  });

  test('go the way the table says', () => {
    expect(imports.length).toBeGreaterThan(500);
    const wrong = imports.filter(
      ({ from, to }) => to !== from && (to in ALLOWED || to === 'testing') && !ALLOWED[from]?.includes(to),
    );
    expect(wrong).toEqual([]);
  });

  test('every folder is in the table', () => {
    const places = new Set(imports.map(({ from }) => from));
    expect([...places].filter((place) => !(place in ALLOWED))).toEqual([]);
  });

  test('the state draws nothing', () => {
    const drawing = imports.filter(
      ({ from, to }) => from === 'store' && /^(@kobalte|lucide-solid|virtua|solid-js\/web)|\.css$/.test(to),
    );
    expect(drawing).toEqual([]);
  });

  test('no element is looked up by the name that tests have for it', () => {
    const lookups = Object.entries(files).flatMap(([key, source]) =>
      isTest(resolve('testing', key)) ? [] : (source.match(/.*\[data-testid.*/g) ?? []),
    );
    expect(lookups).toEqual([]);
  });
});
