import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { createSignal } from 'solid-js';
import { describe, expect, test, vi } from 'vitest';
import { en } from '../i18n/en';
import { createClock } from '../host/fake/ids';
import { assistant, createWriter, type Told } from '../host/fake/parts';
import type { Message, PartType, PartView } from '../protocol';
import { show } from '../testing/window';
import { PartSlot } from './PartList';
import { partRenderers } from './registry';

const clock = createClock();
const write = createWriter('ses_a', clock);
const answer: Message = assistant('ses_a', 'msg_1', clock, { time: { created: 1000, completed: 4200 } });

function draw<T extends PartType>(type: T, told: Told<T>, message: Message = answer): HTMLElement {
  return drawView(write.part(message.id, type, told), message);
}
function drawView(view: PartView, message: Message = answer): HTMLElement {
  const { container } = show(() => <PartSlot view={view} message={message} />);
  return container.querySelector('.part') as HTMLElement;
}
const unfold = (part: HTMLElement) => fireEvent.click(part.querySelector('[aria-expanded]') as Element);

/** One of each; the type makes sure that none is missing. */
const samples: { [T in PartType]: { told: Told<T>; says: string } } = {
  text: { told: { text: 'Hello **you**' }, says: 'Hello you' },
  reasoning: { told: { text: '**Plan**\n\nThink', time: { start: 0, end: 3200 } }, says: 'Thought for 3.2 s' },
  file: { told: { mime: 'application/pdf', filename: 'a.pdf', url: 'data:application/pdf;base64,' }, says: 'a.pdf' },
  agent: { told: { name: 'explore' }, says: 'explore' },
  tool: {
    told: { callID: 'c', tool: 'read', state: { status: 'pending', input: { filePath: 'a.rs' }, raw: '' } },
    says: 'Reada.rsPreparing',
  },
  subtask: { told: { agent: 'general', description: 'Look around', prompt: 'Look.' }, says: 'Task for general' },
  'step-start': { told: {}, says: '' },
  'step-finish': {
    told: {
      reason: 'tool-calls',
      cost: 0.5,
      tokens: { input: 1200, output: 80, reasoning: 0, cache: { read: 800, write: 0 } },
    },
    says: 'demo · 3.2 s · 2.0k in · 80 out · $0.50',
  },
  snapshot: { told: { snapshot: '0123456789abcdef', name: 'Good' }, says: 'Snapshot “Good”' },
  patch: { told: { hash: 'h', files: ['a.rs', 'b.rs'] }, says: '' },
  retry: {
    told: {
      attempt: 2,
      error: { name: 'APIError', data: { message: 'Overloaded', statusCode: 529, isRetryable: true } },
      time: { created: 1 },
    },
    says: 'Attempt 2 failed529: Overloaded',
  },
  compaction: { told: { auto: false }, says: 'Session compacted' },
};

describe('every part', () => {
  test.each(Object.keys(partRenderers) as PartType[])('%s is drawn with its hooks', (type) => {
    const { told, says } = samples[type];
    const part = draw(type, told as Told<typeof type>);
    expect(part.dataset).toMatchObject({ part: type });
    expect(part.dataset.partId).toMatch(/^prt_/);
    expect(part.textContent).toContain(says);
  });

  test('an unknown type is shown as data', () => {
    const part = drawView({
      part: { id: 'prt_1', sessionID: 's', messageID: 'm', type: 'hologram', angle: 30 } as never,
    });
    expect(part.dataset.part).toBe('hologram');
    unfold(part);
    expect(part.textContent).toContain('"angle": 30');
  });

  test('a known type that lacks a field is shown as data and takes nothing along', () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const part = drawView({
      part: { id: 'prt_1', sessionID: 's', messageID: 'm', type: 'tool', tool: 'read' } as never,
    });
    expect(part.textContent).toContain('Unknown part: tool');
  });
});

describe('text', () => {
  test('grows without touching its finished blocks', () => {
    const first = write.part(answer.id, 'text', { text: '' });
    const [view, setView] = createSignal<PartView>({ ...first, blocks: ['<p>one</p>', '<p>tw</p>'] });
    const { container } = show(() => <PartSlot view={view()} message={answer} />);
    const before = [...container.querySelectorAll('.block')];
    const inner = before[0]?.firstChild;
    setView({ ...first, blocks: ['<p>one</p>', '<p>two</p>', '<p>three</p>'] });
    const after = [...container.querySelectorAll('.block')];
    expect(after.map((block) => block.textContent)).toEqual(['one', 'two', 'three']);
    expect(after[0]).toBe(before[0]);
    expect(after[0]?.firstChild).toBe(inner);
    expect(after[1]).toBe(before[1]);
  });

  test('can be copied as it was written', async () => {
    const writeText = vi.fn(async () => {});
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } });
    const part = draw('text', { text: 'Hello **you**' });
    fireEvent.click(part.querySelector('.part-copy') as Element);
    expect(writeText).toHaveBeenCalledWith('Hello **you**');
    vi.unstubAllGlobals();
  });

  test('a code block is copied whole, also where it goes on in further blocks', () => {
    const writeText = vi.fn(async () => {});
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } });
    const view = write.part(answer.id, 'text', { text: '' });
    const blocks = [
      '<pre class="code"><code>a\n</code></pre>',
      '<pre class="code continued"><code>b\n</code></pre>',
      '<p>c</p>',
    ];
    const part = drawView({ ...view, blocks });
    const buttons = part.querySelectorAll('.copy-code');
    expect(buttons).toHaveLength(1);
    fireEvent.click(buttons[0] as Element);
    expect(writeText).toHaveBeenCalledWith('a\nb\n');
    vi.unstubAllGlobals();
  });

  test('that the program added is folded away', () => {
    const part = draw('text', { text: 'Called the read tool', synthetic: true });
    expect(part.textContent).toBe('Added by Lathe');
    unfold(part);
    expect(part.textContent).toContain('Called the read tool');
  });
});

describe('reasoning', () => {
  const running: Message = assistant('ses_a', 'msg_1', clock);

  test('is open while the model thinks and folds when it is done', () => {
    const view = write.part(running.id, 'reasoning', { text: '**Plan**\n\nFirst this', time: { start: 0 } });
    const [now, setNow] = createSignal(view);
    const { container } = show(() => <PartSlot view={now()} message={running} />);
    expect(container.textContent).toContain('First this');
    setNow({ ...view, part: { ...view.part, time: { start: 0, end: 900 } } as typeof view.part });
    expect(container.textContent).toBe('ThoughtPlan');
  });
});

describe('reasoning that streams', () => {
  test('bears its title as soon as something follows it', () => {
    const view = write.part('msg_1', 'reasoning', { text: '**Wa', time: { start: 0 } });
    const [now, setNow] = createSignal<PartView>({ ...view, blocks: ['<p><strong>Wa</strong></p>\n'] });
    const { container } = show(() => <PartSlot view={now()} message={assistant('ses_a', 'msg_1', clock)} />);
    const head = () => container.querySelector('.fold-head')?.textContent;
    expect(head()).toBe('Thinking');
    setNow({ ...view, blocks: ['<p><strong>Watts &amp; volts</strong></p>\n', '<p>First</p>\n'] });
    expect(head()).toBe('ThinkingWatts & volts');
  });
});

describe('files', () => {
  test('show a picture only when it came with its pixels', () => {
    const url = 'data:image/png;base64,AAAA';
    expect(draw('file', { mime: 'image/png', filename: 'a.png', url }).querySelector('img')?.src).toBe(url);
    for (const url of ['https://example.com/a.png', 'data:image/svg+xml;base64,AAAA', 'file:///a.png']) {
      expect(draw('file', { mime: 'image/png', filename: 'a.png', url }).querySelector('img')).toBeNull();
    }
  });

  test('name their lines', () => {
    const part = draw('file', { mime: 'text/plain', url: 'file:///p/src/timer.rs?start=12&end=48' });
    expect(part.textContent).toBe('timer.rslines 12–48');
  });

  test.each(['attachment://localhost/ses_a/msg_1/prt_1', 'data:application/pdf;base64,'])(
    'that are a PDF are opened by the system, also where a place is known: %s',
    (url) => {
      const view = write.part(answer.id, 'file', {
        mime: 'application/pdf',
        url,
        source: { type: 'file', path: '/p/a.pdf', text: { value: '@a.pdf', start: 0, end: 6 } },
      });
      const { container, called } = show(() => <PartSlot view={view} message={answer} />);
      fireEvent.click(container.querySelector('.file-act') as Element);
      expect(called('openAttachment')).toEqual([['ses_a', view.part.messageID, view.part.id]]);
      expect(called('openInEditor')).toEqual([]);
    },
  );
});

describe('a part that is too long to be drawn', () => {
  const long = `${'x'.repeat(4500)}\nsecond line`;
  let copied: () => readonly unknown[] = () => [];
  /** The page has the beginning of the text only. */
  const cut = (message: Message = answer) => {
    const beginning = write.part(message.id, 'text', { text: 'xxx…' });
    const { container, host, called } = show(() => <PartSlot view={{ ...beginning, cut: true }} message={message} />);
    copied = () => called('copyPartText');
    host.partText = async () => long;
    return container.querySelector('.part') as HTMLElement;
  };

  test('loads the rest on request, and shows it as plain text in rows', async () => {
    const part = cut();
    expect(part.querySelector('.whole-text-lines')).toBeNull();
    fireEvent.click(part.querySelector('[data-testid="show-rest"]') as Element);
    const rows = () => [...part.querySelectorAll('.whole-text-line')].map((row) => row.textContent?.length);
    await waitFor(() => expect(rows()).toEqual([...Array(11).fill(400), 112]));
  });

  test('is copied whole', async () => {
    const part = cut();
    fireEvent.click(screen.getByRole('button', { name: en.part.copyText }));
    expect(await screen.findByRole('button', { name: en.part.copied })).not.toBeNull();
    expect(copied()).toEqual([['ses_a', answer.id, part.getAttribute('data-part-id')]]);
  });

  test('does not offer it while it streams', () => {
    expect(cut(assistant('ses_a', 'msg_1', clock)).querySelector('[data-testid="show-rest"]')).toBeNull();
  });
});

test('a part that could not be drawn is drawn once it is complete', () => {
  const good = write.part(answer.id, 'agent', { name: 'explore' });
  const bad = { part: { ...good.part, name: { wrong: true } } } as unknown as PartView;
  const [view, setView] = createSignal<PartView>(bad);
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const { container } = show(() => <PartSlot view={view()} message={answer} />);
  expect(container.textContent).toContain('Unknown part: agent');
  setView(good);
  expect(container.textContent).toContain('explore');
});
