/** The texts against docs/words.md. */
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import words from '../../../docs/words.md?raw';

const files = import.meta.glob<string>(['./en.ts', './en/*.ts'], { query: '?raw', import: 'default', eager: true });

/** The first column of the table with this heading in the page. */
function column(heading: string): string[] {
  const table = words.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = table.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).flatMap((row) => (row.split('|')[1] ?? '').split(',').map((word) => word.trim()));
}

/** Each text of a language file; of one with gaps, each piece between them. */
function textsOf(path: string, source: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isStringLiteral(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
      found.push(node.text);
    } else if (ts.isNoSubstitutionTemplateLiteral(node)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true));
  return found.filter((text) => /\p{L}/u.test(text));
}

const all = Object.entries(files).flatMap(([path, source]) => textsOf(path, source).map((text) => ({ path, text })));

/** What others call their programs and interfaces. */
const NAMES =
  /\b(OpenAI Chat Completions|OpenAI Responses|Anthropic Messages|Google Gemini|Lathe|OpenCode|Codex|Claude|Code|Ollama|LM|Studio|Visual|Zed|Neovim|Markdown|Model|Context|Protocol)\b/g;
const KEYS = /\b(Enter|Tab|Esc|Shift|Ctrl|Alt|Backspace|Delete|Del|Home|End|F\d)\b/g;

describe('the texts on screen', () => {
  test('use no word that docs/words.md tells to avoid', () => {
    const avoid = column('Words to avoid');
    expect(avoid.length).toBeGreaterThan(20);
    const pattern = new RegExp(`(?<![\\p{L}-])(${avoid.join('|')})(?![\\p{L}-])`, 'iu');
    expect(all.length).toBeGreaterThan(500);
    expect(all.filter(({ text }) => pattern.test(text.replace(NAMES, '')))).toEqual([]);
  });

  test('are in sentence case', () => {
    const title = /^[A-Z][a-z]+( [A-Z][a-z]+)+$/;
    expect(all.filter(({ text }) => title.test(text.replace(NAMES, '').replace(KEYS, '').trim()))).toEqual([]);
  });

  test('end without a full stop where they are one short label', () => {
    const labels = all.filter(({ text }) => /^[A-Z][a-z’]+( \p{L}+)?\.$/u.test(text));
    expect(labels).toEqual([]);
  });

  test('have typographic quotes and apostrophes', () => {
    expect(all.filter(({ text }) => /\p{L}'\p{L}|^"|\.\.\./u.test(text))).toEqual([]);
  });
});
