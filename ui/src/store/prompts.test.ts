import { describe, expect, test } from 'vitest';
import { createClock } from '../host/fake/ids';
import { createWriter, type Told } from '../host/fake/parts';
import type { FilePartSource, MessageView, Session } from '../protocol';
import { rootOf } from './projects';
import { draftOf, filesOf, isWritten } from './prompts';

const ROOT = '/home/ada/lantern';
const write = createWriter('ses_a', createClock());
const prompt = (text: string, ...files: Told<'file'>[]): MessageView =>
  write.user(text, ...files.map((told) => (id: string) => write.part(id, 'file', told)));

const text = (value: string, start: number) => ({ value, start, end: start + value.length });
const symbol: FilePartSource = {
  type: 'symbol',
  path: `${ROOT}/src/wick.ts`,
  name: 'trimWick',
  kind: 12,
  range: { start: { line: 2, character: 0 }, end: { line: 17, character: 0 } },
  text: text('@trimWick', 4),
};
const symbolFile: Told<'file'> = {
  mime: 'text/plain',
  filename: 'src/wick.ts',
  url: `file://${ROOT}/src/wick.ts?start=3&end=18`,
  source: symbol,
};
const picture: Told<'file'> = {
  mime: 'image/png',
  filename: 'flicker.png',
  url: 'attachment://localhost/ses_a/msg_a/prt_a',
};
/** What would be sent if the text became `now`. */
const resent = (message: MessageView, now?: string) => {
  const draft = draftOf(message, ROOT);
  return filesOf(draft, now ?? draft.text, ROOT);
};

describe('a prompt that is sent once more', () => {
  test('keeps the attachments, by address', () => {
    const folder = { mime: 'application/x-directory', filename: 'src', url: `file://${ROOT}/src` };
    const notes = { mime: 'text/plain', url: `file://${ROOT}/a%20note.txt` };
    const message = prompt('Look', picture, folder, notes);
    expect(resent(message)).toEqual([
      { url: picture.url, mime: 'image/png', filename: 'flicker.png' },
      { url: folder.url, mime: folder.mime, filename: 'src' },
      { url: notes.url, mime: 'text/plain', filename: 'a note.txt' },
    ]);
    expect(draftOf(message, ROOT).attachments.map(({ kind, path }) => [kind, path])).toEqual([
      ['image', undefined],
      ['directory', `${ROOT}/src`],
      ['text', `${ROOT}/a note.txt`],
    ]);
  });

  test('sends its symbols with the current position of their mention', () => {
    const message = prompt('Why @trimWick', symbolFile);
    expect(draftOf(message, ROOT).attachments).toEqual([]);
    expect(resent(message)).toEqual([symbolFile]);
    const source = { ...symbol, text: text('@trimWick', 13) };
    expect(resent(message, 'Tell me why, @trimWick?')).toEqual([{ ...symbolFile, source }]);
    expect(resent(message, 'Never mind')).toEqual([]);
  });

  test('leaves mentioned files to the core, which finds them again', () => {
    const named: Told<'file'> = {
      mime: 'image/png',
      filename: 'docs/lamp.png',
      url: picture.url,
      source: { type: 'file', path: 'docs/lamp.png', text: text('@docs/lamp.png#L1-L2', 5) },
    };
    expect(resent(prompt('See  @docs/lamp.png#L1-L2', named))).toEqual([]);
  });

  test('keeps files that its text no longer mentions, or never did', () => {
    const pasted: Told<'file'> = {
      ...picture,
      source: { type: 'file', path: 'clipboard', text: text('[Image 1]', 0) },
    };
    const elsewhere: Told<'file'> = { ...symbolFile, source: { ...symbol, path: '/other/wick.ts' } };
    const message = prompt('[Image 1] and @trimWick', pasted, elsewhere);
    expect(resent(message)).toEqual([
      pasted,
      { ...elsewhere, source: { ...elsewhere.source, text: text('@trimWick', 14) } },
    ]);
    const nowhere = { value: '', start: 0, end: 0 };
    expect(resent(message, 'Look')).toEqual([
      { ...pasted, source: { ...pasted.source, text: nowhere } },
      { ...elsewhere, source: { ...elsewhere.source, text: nowhere } },
    ]);
  });

  test('keeps the line range if its text mentions only the file', () => {
    const lines: Told<'file'> = {
      mime: 'text/plain',
      filename: 'src/wick.ts',
      url: `file://${ROOT}/src/wick.ts?start=3&end=18`,
      source: { type: 'file', path: 'src/wick.ts', text: text('@src/wick.ts', 4) },
    };
    expect(resent(prompt('See @src/wick.ts', lines))).toEqual([lines]);
  });

  test('asks a tool server again for what came from there', () => {
    const resource: Told<'file'> = {
      mime: 'text/plain',
      filename: 'Timers',
      url: 'docs://timers',
      source: { type: 'resource', clientName: 'docs', uri: 'docs://timers', text: text('', 0) },
    };
    expect(resent(prompt('Read this', resource, resource))).toEqual([resource]);
  });

  test('has the text that the person wrote, not what the program added', () => {
    const message = write.user(
      'Ask @explore',
      (id) => write.part(id, 'agent', { name: 'explore', source: text('@explore', 4) }),
      (id) => write.part(id, 'text', { text: 'The user wants the agent "explore"', synthetic: true }),
      (id) => write.part(id, 'text', { text: 'A remark', ignored: true }),
    );
    expect(draftOf(message, ROOT)).toEqual({ text: 'Ask @explore', attachments: [], symbols: [] });
  });
});

test('a prompt is written if there are words or an attachment', () => {
  expect(isWritten(prompt('Look'))).toBe(true);
  expect(isWritten(prompt('', picture))).toBe(true);
  expect(isWritten(prompt(''))).toBe(false);
});

test('paths are seen from the project, or from a fork’s own folder', () => {
  const project = { id: 'prj_a', worktree: ROOT, time: { created: 0 } };
  const session = (directory: string) => ({ directory }) as Session;
  expect(rootOf(project, undefined)).toBe(ROOT);
  expect(rootOf(project, session(`${ROOT}/packages/lamp`))).toBe(ROOT);
  expect(rootOf(project, session(`${ROOT}-quiet-lamp`))).toBe(`${ROOT}-quiet-lamp`);
});
