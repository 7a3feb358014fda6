import { fireEvent } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { createClock } from '../host/fake/ids';
import { call, createWriter } from '../host/fake/parts';
import type { MessageView, PartView, ToolState } from '../protocol';
import { show } from '../testing/window';
import { ExploreCard } from './ExploreCard';
import { RunCard } from './RunCard';
import { runsOf, type RunCall } from './runs';

const clock = createClock();
const write = createWriter('ses_a', clock);

const state = (input: Record<string, unknown>, status: 'completed' | 'error' | 'running' = 'completed'): ToolState => {
  if (status === 'running') return { status, input, time: { start: 0 } };
  if (status === 'error') return { status, input, error: 'no', time: { start: 0, end: 1 } };
  return { status, input, output: '', title: '', metadata: {}, time: { start: 0, end: 1 } };
};
const tool = (name: string, input: Record<string, unknown> = {}, status?: 'completed' | 'error' | 'running') => (id: string) =>
  write.part(id, 'tool', call(name, state(input, status)));
const text = (words: string) => (id: string) => write.part(id, 'text', { text: words });
const mark = (id: string) => write.part(id, 'step-start', {});
const message = (...parts: ((id: string) => PartView)[]): MessageView => write.answer('msg_0', {}, ...parts);

const runs = (...messages: MessageView[]): string[][] => {
  const found = new Set(runsOf(messages).values());
  return [...found].map((run) => run.map(({ part }) => part.tool));
};

describe('a run of read-only calls', () => {
  test('spans messages, as long as only invisible parts are in between', () => {
    expect(runs(message(tool('read'), tool('grep')), message(mark, tool('read'), text('')))).toEqual([
      ['read', 'grep', 'read'],
    ]);
  });

  test('ends where something is said or done', () => {
    const three = [tool('read'), tool('list'), tool('glob')];
    expect(runs(message(...three, text('Hm'), ...three))).toHaveLength(2);
    expect(runs(message(...three, tool('bash'), tool('read')))).toEqual([['read', 'list', 'glob']]);
  });

  test('needs several calls, and excludes failed ones', () => {
    expect(runs(message(tool('read'), tool('read')))).toEqual([]);
    expect(runs(message(tool('read'), tool('read', {}, 'error'), tool('read')))).toEqual([]);
  });

  test('is one line that counts the calls, and expands to them', () => {
    const parts = message(
      tool('read', { filePath: 'a.rs' }),
      tool('read', { filePath: 'a.rs', offset: 9 }),
      tool('read', { filePath: 'b.rs' }),
      tool('grep', { pattern: 'x' }),
    ).parts;
    const calls = parts.map(({ part }) => ({ part }) as RunCall);
    const { container } = show(() => <ExploreCard calls={calls} />);
    expect(container.querySelector('.card-title')?.textContent).toBe('Explored 2 files, 1 search');
    expect(container.querySelectorAll('.tool')).toHaveLength(0);
    fireEvent.click(container.querySelector('.card-head') as Element);
    expect(container.querySelectorAll('.tool')).toHaveLength(4);
    expect(container.querySelector('[data-part=tool]')?.getAttribute('data-part-id')).toBe(calls[0]?.part.id);
  });

  test('is open if one of its calls was open', () => {
    const parts = message(tool('read'), tool('read'), tool('read')).parts;
    const calls = parts.map(({ part }) => ({ part }) as RunCall);
    const { app, container } = show(() => <ExploreCard calls={calls} />);
    expect(container.querySelectorAll('.tool')).toHaveLength(0);
    app.expanded.set(calls[1]?.part.id ?? '', true);
    expect(container.querySelectorAll('.tool')).toHaveLength(3);
  });

  test('shows the current call while it runs', () => {
    const parts = message(tool('read'), tool('read'), tool('read', { filePath: 'src/z.rs' }, 'running')).parts;
    const calls = parts.map(({ part }) => ({ part }) as RunCall);
    const { container } = show(() => <ExploreCard calls={calls} />);
    expect(container.querySelector('.run')?.getAttribute('data-status')).toBe('running');
    expect(container.textContent).toContain('src/z.rs');
  });
});

const patch = (id: string) => write.part(id, 'patch', { hash: 'h', files: ['a.rs'] });
const edited = (filePath: string, additions = 0, deletions = 0) => (id: string) => {
  const done = { ...state({ filePath }), metadata: { filediff: { additions, deletions } } } as ToolState;
  return write.part(id, 'tool', call('edit', done));
};

describe('edits of one file', () => {
  test('are a run, also over several steps, and end at another file or a word', () => {
    const six = Array.from({ length: 6 }, () => message(mark, edited('/p/a.rs'), patch));
    expect(runs(...six)).toEqual([['edit', 'edit', 'edit', 'edit', 'edit', 'edit']]);
    expect(runs(message(edited('/p/a.rs'), edited('/p/b.rs'), edited('/p/b.rs')))).toEqual([['edit', 'edit']]);
    expect(runs(message(edited('/p/a.rs'), text('Hm'), edited('/p/a.rs')))).toEqual([]);
  });

  test('do not hide a failed one, nor join a run of read-only calls', () => {
    expect(runs(message(edited('/p/a.rs'), tool('edit', { filePath: '/p/a.rs' }, 'error'), edited('/p/a.rs')))).toEqual([]);
    const looks = [tool('read'), tool('grep'), tool('read')];
    expect(runs(message(...looks, edited('/p/a.rs'), edited('/p/a.rs')))).toEqual([
      ['read', 'grep', 'read'],
      ['edit', 'edit'],
    ]);
  });

  test('are one line with the file, their number and the sum of their lines, which expands to them', () => {
    const parts = message(edited('/p/a.rs', 3, 1), edited('/p/a.rs', 4, 0), edited('/p/a.rs', 1, 1)).parts;
    const { container } = show(() => <RunCard calls={parts.map(({ part }) => ({ part }) as RunCall)} />);
    expect(container.querySelector('.card-head')?.textContent).toBe('Edit/p/a.rs3 edits+8 −2');
    expect(container.querySelectorAll('.tool')).toHaveLength(0);
    fireEvent.click(container.querySelector('.card-head') as Element);
    expect(container.querySelectorAll('.tool')).toHaveLength(3);
  });
});
