import { createRoot } from 'solid-js';
import { expect, test } from 'vitest';
import type { DiffLine, ReviewFileDiff, ReviewScope } from '../../protocol';
import { createReviewSource } from './source';

const SCOPE: ReviewScope = { kind: 'session' };
const FILE = { path: 'long.txt', version: '1' };
const LINES = 100_000;
const CHUNK = 200;

/** A file of added lines, and from which row on its text was asked for. */
function longFile() {
  const asked: number[] = [];
  const body: ReviewFileDiff = {
    ...FILE,
    oldLines: 0,
    newLines: LINES,
    hunks: [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: LINES, kept: 'none', runs: [{ kind: 'add', lines: LINES, kept: false }] }],
  };
  const source = createReviewSource({
    host: {
      reviewFile: async () => body,
      reviewLines: async (_id, _scope, _path, _version, _ignore, _hunk, from, to) => {
        asked.push(from);
        return Array.from({ length: to - from }, (_, index): DiffLine => ({ kind: 'add', new: from + index + 1, spans: [{ text: `${from + index}` }] }));
      },
      reviewContext: async () => [],
    },
    place: () => ({ sessionID: 'ses_1', scope: SCOPE }),
    ignoreWhitespace: () => false,
    outdated: () => {},
  });
  return { asked, source };
}

test('of a very long diff, what was read last stays loaded and what was read long ago does not', async () => {
  await createRoot(async (dispose) => {
    const { asked, source } = longFile();
    source.load(FILE);
    await Promise.resolve();
    await Promise.resolve();
    for (let row = 0; row < LINES; row += CHUNK) source.line(FILE, 0, row);
    expect(asked).toEqual(Array.from({ length: LINES / CHUNK }, (_, index) => index * CHUNK));
    await Promise.resolve();
    await Promise.resolve();
    asked.length = 0;
    expect(source.line(FILE, 0, LINES - 1)?.spans).toEqual([{ text: `${LINES - 1}` }]);
    expect(asked).toEqual([]);
    expect(source.line(FILE, 0, 0)).toBeUndefined();
    expect(asked).toEqual([0]);
    dispose();
  });
});
