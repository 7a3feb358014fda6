import { createRoot } from 'solid-js';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { McpServerView, McpStatus } from '../../protocol';
import { createServers, SELDOM, SOON, type Servers } from './servers';

const server = (status: McpStatus): McpServerView => ({ name: 'files', address: 'npx', status, tools: [], log: [] });

describe('the list of servers', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function open(listMcp: () => Promise<McpServerView[]>): Servers & { close(): void } {
    return createRoot((close) => ({ ...createServers({ listMcp }), close }));
  }

  test('is polled often while one starts, rarely afterwards, and not once the page is closed', async () => {
    const listMcp = vi.fn(async () => [server(listMcp.mock.calls.length < 3 ? 'starting' : 'ready')]);
    const servers = open(listMcp);
    await vi.advanceTimersByTimeAsync(2 * SOON);
    expect(listMcp).toHaveBeenCalledTimes(3);
    expect(servers.list()).toEqual([server('ready')]);
    await vi.advanceTimersByTimeAsync(SELDOM - 1);
    expect(listMcp).toHaveBeenCalledTimes(3);
    await vi.advanceTimersByTimeAsync(1);
    expect(listMcp).toHaveBeenCalledTimes(4);
    servers.close();
    await vi.advanceTimersByTimeAsync(10 * SELDOM);
    expect(listMcp).toHaveBeenCalledTimes(4);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is not polled again if the page is closed during a request', async () => {
    let answer: (list: McpServerView[]) => void = () => {};
    const listMcp = vi.fn(() => new Promise<McpServerView[]>((done) => (answer = done)));
    const servers = open(listMcp);
    servers.close();
    answer([server('starting')]);
    await vi.advanceTimersByTimeAsync(10 * SOON);
    expect(listMcp).toHaveBeenCalledTimes(1);
  });

  test('ignores an answer from before a change', async () => {
    const answers: ((list: McpServerView[]) => void)[] = [];
    const servers = open(() => new Promise((done) => answers.push(done)));
    await servers.change(async () => [server('off')]);
    answers[0]?.([server('ready')]);
    await vi.advanceTimersByTimeAsync(0);
    expect(servers.list()).toEqual([server('off')]);
    servers.close();
  });

  test('keeps the object of an unchanged server, so that its row is not drawn again', async () => {
    const servers = open(async () => [server('ready')]);
    await vi.advanceTimersByTimeAsync(0);
    const before = servers.list()?.[0];
    await vi.advanceTimersByTimeAsync(SELDOM);
    expect(servers.list()?.[0]).toBe(before);
    servers.close();
  });

  test('that cannot be loaded says why, and is tried again', async () => {
    const listMcp = vi.fn(async (): Promise<McpServerView[]> => {
      if (listMcp.mock.calls.length === 1) throw { code: 'failed', message: 'Not now' };
      return [];
    });
    const servers = open(listMcp);
    await vi.advanceTimersByTimeAsync(0);
    expect(servers.failure()).toBe('Not now');
    await vi.advanceTimersByTimeAsync(SELDOM);
    expect([servers.failure(), servers.list()]).toEqual([undefined, []]);
    servers.close();
  });
});
