import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { createClock } from '../host/fake/ids';
import { assistant, createWriter } from '../host/fake/parts';
import type { AgentView, MessageView, ModelRef } from '../protocol';
import { openWindow, type TestWindow } from '../testing/window';

const HAIKU: ModelRef = { providerID: 'anthropic', modelID: 'claude-haiku-4-5' };
const OPUS: ModelRef = { providerID: 'anthropic', modelID: 'claude-opus-4-5' };
const SONNET: ModelRef = { providerID: 'anthropic', modelID: 'claude-sonnet-4-5' };

/** An agent of the person's own that answers by default, with a model of its own. */
const MINE: AgentView = { name: 'mine', description: '', mode: 'primary', builtIn: false, default: true, model: OPUS };

async function ready(agents?: (all: AgentView[]) => AgentView[]): Promise<TestWindow> {
  const window = openWindow({ connected: true });
  const { listAgents } = window.host;
  if (agents) window.host.listAgents = async (id) => agents(await listAgents(id));
  await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
  await waitFor(() => expect(window.app.models.list()).toBeDefined());
  await window.app.environment.refresh();
  return window;
}

const withMine = (all: AgentView[]) => [...all.map((agent) => ({ ...agent, default: false })), MINE];
const picker = (name: string) => screen.getByTestId(`${name}-picker`).textContent;

async function send(window: TestWindow, text: string): Promise<unknown> {
  const sent = window.called('prompt').length;
  const area = screen.getByTestId('composer');
  fireEvent.input(area, { target: { value: text } });
  fireEvent.keyDown(area, { key: 'Enter' });
  await waitFor(() => expect(window.called('prompt')).toHaveLength(sent + 1));
  return window.called('prompt').at(-1)?.[1];
}

/** Prompts of `docs`, each with as many answers as given. */
function asked(window: TestWindow, ...turns: { agent: string; model: ModelRef; answers: number }[]): MessageView[] {
  const clock = createClock();
  const messages = turns.flatMap(({ agent, model, answers }) => {
    const prompt = createWriter('ses_docs', clock, model, undefined, agent).user('Go on');
    const said = { agent: 'build', providerID: model.providerID, modelID: model.modelID };
    const steps = Array.from({ length: answers }, () => ({ info: assistant('ses_docs', prompt.info.id, clock, said), parts: [] }));
    return [prompt, ...steps];
  });
  window.host.messages.set('ses_docs', messages);
  return messages;
}

describe('the agent that is shown', () => {
  test('in a new session is the default of the project, and is the one that answers', async () => {
    const window = await ready(withMine);
    window.app.leave();
    await waitFor(() => expect(picker('agent')).toBe('mine'));
    expect(await send(window, 'begin')).toMatchObject({ agent: 'mine' });
  });

  test('is named to the core also where it is the built-in one', async () => {
    const window = await ready(withMine);
    window.app.leave();
    window.app.agents.choose('build');
    await waitFor(() => expect(picker('agent')).toBe('build'));
    expect(await send(window, 'begin')).toMatchObject({ agent: 'build' });
  });

  test('is that of the newest prompt, also where only its many answers are loaded', async () => {
    const window = await ready();
    asked(window, { agent: 'plan', model: HAIKU, answers: 40 });
    await window.app.select('ses_docs');
    expect(window.app.timeline.open()?.messages.some(({ info }) => info.role === 'user')).toBe(false);
    expect(picker('agent')).toBe('plan');
    expect(await send(window, 'go on')).toEqual({ text: 'go on', agent: 'plan', model: HAIKU });
  });

  test('does not follow the reader to an old place of the session', async () => {
    const window = await ready();
    const old = { agent: 'plan', model: HAIKU, answers: 40 };
    const [first] = asked(window, old, { agent: 'build', model: OPUS, answers: 40 });
    await window.app.select('ses_docs', { messageID: first?.info.id ?? '' });
    expect(window.app.timeline.open()?.hasNewer).toBe(true);
    expect([picker('agent'), picker('model')]).toEqual(['build', 'Claude Opus 4.5']);
    expect(await send(window, 'go on')).toEqual({ text: 'go on', agent: 'build', model: OPUS });
  });

  test('follows a newer prompt that is not loaded, and no older one', async () => {
    const window = await ready();
    const messages = asked(window, { agent: 'build', model: HAIKU, answers: 40 }, { agent: 'build', model: OPUS, answers: 40 });
    const first = messages[0] as MessageView;
    await window.app.select('ses_docs', { messageID: first.info.id });
    const newer = createWriter('ses_docs', createClock(), HAIKU, undefined, 'plan').user('Plan it');
    newer.info.time.created = (messages.at(-1)?.info.time.created ?? 0) + 1;
    for (const { info } of [newer, first]) {
      window.host.emit({ kind: 'event', event: { type: 'message.updated', properties: { info } } });
    }
    await waitFor(() => expect(picker('agent')).toBe('plan'));
    expect(picker('model')).toBe('Claude Haiku 4.5');
  });
});

describe('a model that belongs to an agent', () => {
  test('is shown and used if no model was picked', async () => {
    const window = await ready(withMine);
    window.app.agents.choose('mine');
    await waitFor(() => expect(picker('model')).toBe('Claude Opus 4.5'));
    expect(await send(window, 'begin')).toEqual({ text: 'begin', agent: 'mine', model: OPUS });
    await waitFor(() => expect(window.app.busy()).toBe(false));
    // The model changes with the agent.
    window.app.agents.choose('build');
    await waitFor(() => expect(picker('model')).toBe('Claude Sonnet 4.5'));
  });

  test('is replaced by a model that was picked for the session, also for a new one', async () => {
    const window = await ready(withMine);
    window.app.leave();
    await waitFor(() => expect(picker('model')).toBe('Claude Opus 4.5'));
    window.app.models.choose(HAIKU);
    await waitFor(() => expect(picker('model')).toBe('Claude Haiku 4.5'));
    expect(await send(window, 'begin')).toEqual({ text: 'begin', agent: 'mine', model: HAIKU });
    await waitFor(() => expect(window.app.timeline.open()?.lastUse?.model).toEqual(HAIKU));
    expect(picker('model')).toBe('Claude Haiku 4.5');
    // The next session begins with the agent's own again.
    window.app.leave();
    await waitFor(() => expect(picker('model')).toBe('Claude Opus 4.5'));
  });

  test('does not change a session that continued with another model', async () => {
    const window = await ready(withMine);
    asked(window, { agent: 'mine', model: SONNET, answers: 1 });
    await window.app.select('ses_docs');
    expect([picker('agent'), picker('model')]).toEqual(['mine', 'Claude Sonnet 4.5']);
  });
});
