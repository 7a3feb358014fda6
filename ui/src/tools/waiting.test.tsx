import { waitFor } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import type { PermissionRequest, ToolState } from '../protocol';
import { part } from '../testing/tool-card';
import { openWindow } from '../testing/window';
import { isWaiting } from './waiting';

const running: ToolState = { status: 'running', input: { command: 'make' }, time: { start: 0 } };

const request = (sessionID: string, callID: string): PermissionRequest => ({
  id: 'per_a',
  sessionID,
  permission: 'bash',
  patterns: ['make'],
  metadata: { command: 'make' },
  always: [],
  tool: { messageID: 'msg_1', callID },
});

test('a call waits while a request for it is open, and no other call does', async () => {
  const { app, host } = openWindow();
  await waitFor(() => expect(app.timeline.open()?.sessionID).toBe('ses_gallery'));
  const call = part('bash', running);
  expect(isWaiting(app, call)).toBe(false);
  const asked = { kind: 'event' as const, event: { type: 'permission.asked' as const, properties: request('ses_gallery', 'call_1') } };
  host.emit(asked);
  await waitFor(() => expect(isWaiting(app, call)).toBe(true));
  expect(isWaiting(app, { ...call, callID: 'call_2' })).toBe(false);
  expect(isWaiting(app, { ...call, messageID: 'msg_2' })).toBe(false);
  await host.answerPermission('per_a', 'once', null);
  await waitFor(() => expect(isWaiting(app, call)).toBe(false));
});
