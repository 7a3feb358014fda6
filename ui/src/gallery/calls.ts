/** The tool calls of the gallery. */
import type { CallOutcome, ToolState } from '../protocol';
import type { Exhibit, Room } from './fixtures';

type Make = (name: string, tool: string, state: ToolState, live?: string) => Exhibit;
type Input = Record<string, unknown>;

const BEFORE = `use crate::lamp::Lamp;

/// What the lamp shall be at a time of day.
pub struct Schedule {
    entries: Vec<Entry>,
}

impl Schedule {
    pub fn apply(&self, lamp: &mut Lamp, now: Time) {
        let target = self.level_at(now);
        lamp.set_brightness(target);
    }

    fn level_at(&self, now: Time) -> Level {
        self.entries.iter().rev().find(|entry| entry.from <= now).map_or(Level::OFF, |entry| entry.level)
    }
}
`;
const AFTER = BEFORE.replace('lamp.set_brightness(target);', 'lamp.request(Source::Schedule, target);');

const SUCCESSES: Readonly<Record<string, readonly [input: Input, output: string, metadata?: Input]>> = {
  read: [
    { filePath: 'src/timer.rs', offset: 12 },
    '    12\tpub fn fire(&mut self, lamp: &mut Lamp) {\n    13\t    let level = self.level;\n    14\t    lamp.set_brightness(level);\n    15\t}',
  ],
  list: [{ path: 'src' }, 'src/\n  driver/\n    mod.rs\n    serial.rs\n  lamp.rs\n  schedule.rs\n  timer.rs'],
  glob: [{ pattern: '**/*.rs' }, 'src/lamp.rs\nsrc/schedule.rs\nsrc/timer.rs'],
  grep: [
    { pattern: 'set_brightness', include: '*.rs' },
    'src/timer.rs:\n  14: lamp.set_brightness(level);\n  31: // set_brightness is the only writer\n\nsrc/schedule.rs:\n  11: lamp.set_brightness(target);',
  ],
  webfetch: [
    { url: 'https://example.com/lamp', format: 'markdown' },
    '# The driver\n\nWrites are **latched** once a tick.\n\n- One write wins.\n- The others are lost.',
  ],
  task: [
    { description: 'Find stale documentation', subagent_type: 'explore', prompt: 'List every stale place in docs/.' },
    'Three places are stale:\n\n1. `docs/timer.md`\n2. `docs/lamp.md`\n3. `README.md`',
    {
      sessionId: 'ses_docs',
      summary: [
        { id: 'a', tool: 'grep', state: { status: 'completed', title: 'timer' } },
        { id: 'b', tool: 'read', state: { status: 'completed', title: 'docs/timer.md' } },
      ],
    },
  ],
  bash: [
    { command: 'cargo test -p lamp', description: 'Run the tests' },
    'running 3 tests\ntest overlap ... ok\ntest dim ... ok\ntest off ... FAILED',
    {
      output:
        'running 3 tests\ntest overlap ... \u001b[32mok\u001b[0m\ntest dim ... \u001b[32mok\u001b[0m\ntest off ... \u001b[31mFAILED\u001b[0m\n',
      exit: 101,
    },
  ],
  edit: [
    { filePath: 'src/schedule.rs' },
    'Edited src/schedule.rs: 1 place replaced (+1 -1).',
    { filediff: { file: 'src/schedule.rs', before: BEFORE, after: AFTER, additions: 1, deletions: 1 } },
  ],
  write: [
    { filePath: 'src/request.rs' },
    'Created src/request.rs: 3 lines (+3 -0).',
    {
      filediff: {
        file: 'src/request.rs',
        after: 'pub enum Source {\n    Timer,\n    Schedule,\n}\n',
        additions: 4,
        deletions: 0,
      },
    },
  ],
  apply_patch: [
    { patchText: '*** Begin Patch\n*** Update File: src/lamp.rs\n*** Delete File: src/old.rs\n*** End Patch' },
    'The patch was applied',
    {
      files: [
        {
          file: 'src/lamp.rs',
          before: 'pub fn set(&mut self) {\n    self.write();\n}\n',
          after: 'pub fn set(&mut self) {\n    self.queue();\n    self.settle();\n}\n',
          additions: 2,
          deletions: 1,
        },
        { file: 'src/settle.rs', from: 'src/flush.rs', before: 'let a = 1;\n', after: 'let a = 2;\n', additions: 1, deletions: 1 },
        { file: 'src/old.rs', before: 'fn gone() {}\n', additions: 0, deletions: 1 },
      ],
    },
  ],
  todowrite: [
    {
      todos: [
        { id: '1', content: 'Find who writes the brightness', status: 'completed', priority: 'high' },
        { id: '2', content: 'Make the lamp settle requests', status: 'in_progress', priority: 'high' },
        { id: '3', content: 'Write a test for overlapping timers', status: 'pending', priority: 'medium' },
        { id: '4', content: 'Port to no_std', status: 'cancelled', priority: 'low' },
      ],
    },
    '[]',
  ],
  todoread: [
    {},
    '[]',
    { todos: [{ id: '2', content: 'Make the lamp settle requests', status: 'in_progress', priority: 'high' }] },
  ],
  question: [
    { questions: [{ question: 'Which lamp comes first?', header: 'Lamp', options: [] }] },
    'The user answered',
    { answers: [['The study']] },
  ],
  lantern_dim: [{ room: 'study', level: 40 }, 'dimmed the study to 40%'],
};

export function calls(root: string, t: number, make: Make): Room[] {
  return [...tools(root, t, make), outcomes(t, make)];
}

/** Calls that ended without a result, and did not fail. */
function outcomes(t: number, make: Make): Room {
  const errors: { [O in CallOutcome]: string } = {
    denied: 'The user declined this tool call and said: not that folder',
    not_run: 'Not run: another call of this step was denied.',
    stopped: 'Tool execution aborted',
  };
  const ended = ([outcome, error]: [string, string]) => {
    const input = { command: 'rm -r target', description: 'Clean up' };
    return make(outcome, 'bash', { status: 'error', input, error, metadata: { outcome }, time: { start: t, end: t + 9 } });
  };
  return { id: 'outcomes', title: 'Calls without a result', exhibits: Object.entries(errors).map(ended) };
}

function tools(root: string, t: number, make: Make): Room[] {
  return Object.entries(SUCCESSES).map(([tool, [given, output, metadata = {}]]) => {
    const input = absolute(given, root);
    const raw = JSON.stringify(input);
    return {
      id: `tool-${tool}`,
      title: `Tool: ${tool}`,
      exhibits: [
        make('pending', tool, { status: 'pending', input: {}, raw: raw.slice(0, Math.ceil(raw.length * 0.7)) }),
        running(tool, input, metadata, t, make),
        make('completed', tool, {
          status: 'completed',
          input,
          output,
          title: '',
          metadata,
          time: { start: t, end: t + 410 },
        }),
        make('error', tool, {
          status: 'error',
          input,
          error: 'The file changed since it was read.\nRead it again first.',
          time: { start: t, end: t + 90 },
        }),
      ],
    };
  });
}

function running(tool: string, input: Input, metadata: Input, t: number, make: Make): Exhibit {
  const steps = [
    { id: 'a', tool: 'grep', state: { status: 'completed', title: 'timer' } },
    { id: 'b', tool: 'read', state: { status: 'running', title: 'docs/timer.md' } },
  ];
  const state: ToolState = {
    status: 'running',
    input,
    ...(tool === 'task' ? { metadata: { ...metadata, summary: steps } } : {}),
    time: { start: t },
  };
  const live = 'running 3 tests\ntest overlap ... <span class="ansi-fg-2">ok</span>';
  return make('running', tool, state, tool === 'bash' ? live : undefined);
}

function absolute(input: Input, root: string): Input {
  const path = input['filePath'];
  return typeof path === 'string' ? { ...input, filePath: `${root}/${path}` } : input;
}
