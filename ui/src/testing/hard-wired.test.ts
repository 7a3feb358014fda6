/** No text on screen is written into a component: another language could not say it. */
import ts from 'typescript';
import { expect, test } from 'vitest';

const files = import.meta.glob<string>('../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true });
const OWN_TEXTS = /^\.\.\/(i18n|bindings|host|gallery|testing|validators)\/|\.test\.tsx?$|^\.\//;
/** Read out or shown as they are. */
const SPOKEN = new Set(['alt', 'aria-description', 'aria-label', 'label', 'placeholder', 'title']);

/** Compared with what is stored, never shown. */
const STORED = new Set(['Tool execution aborted']);

/** Two letters in a row are a word; names of keys are the same in every language. */
function isWord(text: string): boolean {
  return /\p{L}{2}/u.test(text.replace(/&\w+;/g, '').replace(/\b(Esc|Enter|Tab|Shift|Ctrl|Alt|Del)\b/g, ''));
}

/** A sentence outside of an element: letters, a space, letters, and a capital or a full stop. */
function isSentence(text: string): boolean {
  return /^[A-Z][a-z’]+ [a-z]+/.test(text);
}

function wordsIn(path: string, source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node) && isWord(node.text)) found.push(node.text.trim());
    else if (ts.isJsxAttribute(node) && SPOKEN.has(node.name.getText())) {
      const value = node.initializer;
      if (value && ts.isStringLiteral(value) && isWord(value.text)) found.push(value.text);
    } else if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) {
      if (!STORED.has(node.text) && !ts.isNewExpression(node.parent) && isSentence(node.text)) found.push(node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true));
  return found;
}

test('every text on screen is in the language files', () => {
  const found = Object.entries(files).flatMap(([path, source]) =>
    OWN_TEXTS.test(path) ? [] : wordsIn(path, source).map((text) => `${path}: ${text}`),
  );
  expect(found).toEqual([]);
});

test('a word in a component is found', () => {
  const source = "<p title='Close'>Take a look {en.more}</p>; say('Nothing was found'); throw new Error('Not for people')";
  expect(wordsIn('x.tsx', source)).toEqual(['Close', 'Take a look', 'Nothing was found']);
});
