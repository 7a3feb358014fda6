import { fireEvent } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import type { ToolPart, ToolState } from '../protocol';
import { show } from '../testing/window';
import { toolLooks, type ToolName } from './registry';
import { ToolCard } from './ToolCard';

const part = (tool: string, state: ToolState): ToolPart => ({
  id: 'prt_1',
  sessionID: 'ses_a',
  messageID: 'msg_1',
  callID: 'call_1',
  tool,
  state,
});
const draw = (tool: string, state: ToolState): HTMLElement =>
  show(() => <ToolCard part={part(tool, state)} />).container.querySelector('.tool') as HTMLElement;
const unfold = (card: HTMLElement) => fireEvent.click(card.querySelector('[aria-expanded]') as Element);
const done = (input: Record<string, unknown>, output = 'out'): ToolState => ({
  status: 'completed',
  input,
  output,
  title: '',
  metadata: {},
  time: { start: 0, end: 41 },
});

const inputs: { [N in ToolName]: [Record<string, unknown>, string] } = {
  read: [{ filePath: 'src/a.rs' }, 'src/a.rs'],
  list: [{ path: 'src' }, 'src'],
  glob: [{ pattern: '**/*.rs' }, '**/*.rs'],
  grep: [{ pattern: 'fn main', path: 'src' }, 'fn main  src'],
  webfetch: [{ url: 'https://example.com' }, 'https://example.com'],
  task: [{ description: 'Look around' }, 'Look around'],
  bash: [{ command: 'cargo test\nls' }, 'cargo test'],
  edit: [{ filePath: 'src/a.rs' }, 'src/a.rs'],
  write: [{ filePath: 'src/a.rs' }, 'src/a.rs'],
  apply_patch: [
    { patchText: '*** Begin Patch\n*** Add File: a.txt\n+x\n*** Delete File: b.txt\n*** End Patch' },
    'a.txt, b.txt',
  ],
  todowrite: [{ todos: [{}, {}] }, '2 items'],
  todoread: [{}, ''],
  question: [{ questions: [{}] }, '1 item'],
};

describe('every tool', () => {
  test.each(Object.keys(toolLooks) as ToolName[])('%s says what it does', (tool) => {
    const [input, subtitle] = inputs[tool];
    const card = draw(tool, done(input));
    expect(card.dataset).toMatchObject({ tool, status: 'completed' });
    expect(card.querySelector('.card-title')?.textContent).toBe(toolLooks[tool].title);
    expect(card.querySelector('.card-subtitle')?.textContent).toBe(subtitle);
    expect(card.querySelector('.card-aside')?.textContent).toContain('41 ms');
  });

  test('a tool nobody knows is drawn by its own name', () => {
    const card = draw('lantern_dim', done({ level: 40, room: 'study' }));
    expect(card.querySelector('.card-head')?.textContent).toContain('lantern_dimstudy');
    unfold(card);
    expect(card.textContent).toContain('"level": 40');
    expect(card.textContent).toContain('out');
  });
});

describe('every state', () => {
  test('pending shows the input as it comes', () => {
    const card = draw('write', { status: 'pending', input: {}, raw: '{"filePath": "sr' });
    expect(card.dataset.status).toBe('pending');
    unfold(card);
    expect(card.querySelector('pre')?.textContent).toBe('{"filePath": "sr');
  });

  test('running shows that it runs, and what a command printed so far', () => {
    const card = draw('bash', {
      status: 'running',
      input: { command: 'cargo test' },
      metadata: { output: 'running 14 tests' },
      time: { start: 0 },
    });
    expect(card.textContent).toContain('Running');
    unfold(card);
    expect([...card.querySelectorAll('pre')].map((pre) => pre.textContent)).toEqual(['cargo test', 'running 14 tests']);
  });

  test('completed shows its output only when opened', () => {
    const card = draw('read', done({ filePath: 'a.rs' }, 'fn main() {}'));
    expect(card.textContent).not.toContain('fn main() {}');
    unfold(card);
    expect(card.textContent).toContain('fn main() {}');
  });

  test('completed without output says so', () => {
    const card = draw('read', done({}, ''));
    unfold(card);
    expect(card.textContent).toContain('No output');
  });

  test('error shows what went wrong', () => {
    const card = draw('edit', { status: 'error', input: {}, error: 'The file changed', time: { start: 0, end: 1 } });
    expect(card.textContent).toContain('Failed');
    unfold(card);
    expect(card.querySelector('.card-error')?.textContent).toBe('The file changed');
  });

  test('markup in names, input and output stays text', () => {
    const evil = '<img src=x onerror=alert(1)>';
    const card = draw(evil, done({ command: evil }, evil));
    unfold(card);
    expect(card.querySelector('img')).toBeNull();
    expect(card.textContent).toContain(evil);
  });
});
