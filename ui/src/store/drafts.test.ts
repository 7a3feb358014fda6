import { describe, expect, test, vi } from 'vitest';
import { createFakeAttachments } from '../host/fake/attachments';
import { createDrafts, NO_DRAFT } from './drafts';

const PICTURE = { id: 'att_1', url: 'x:', name: 'a', kind: 'text', mime: 'text/plain', size: 1 } as const;

describe('drafts', () => {
  test('outlive a restart and are gone when empty', async () => {
    const { host, drafts } = createFakeAttachments(new Map());
    const before = createDrafts(host);
    before.change('ses_a', { text: 'half a thought' });
    before.change('ses_a', { attachments: [PICTURE] });
    before.change('ses_b', { text: 'another' });
    const again = createDrafts(host);
    await again.load();
    expect(again.get('ses_a')).toEqual({ text: 'half a thought', attachments: [PICTURE], symbols: [] });
    again.change('ses_a', NO_DRAFT);
    expect(again.get('ses_a')).toBe(NO_DRAFT);
    expect([...drafts.keys()]).toEqual(['ses_b']);
  });

  test('do not replace text that was typed before they were loaded', async () => {
    const { host, drafts } = createFakeAttachments(new Map());
    drafts.set('ses_a', { text: 'old', attachments: [], symbols: [] });
    const late = createDrafts(host);
    const loading = late.load();
    late.change('ses_a', { text: 'new' });
    await loading;
    expect(late.get('ses_a').text).toBe('new');
  });

  test('stay on screen if they cannot be stored', async () => {
    const keepDraft = vi.fn(() => Promise.reject(new Error('no')));
    const drafts = createDrafts({ drafts: async () => ({}), keepDraft });
    drafts.change('ses_a', { text: 'x' });
    await Promise.resolve();
    expect(drafts.get('ses_a').text).toBe('x');
    expect(keepDraft).toHaveBeenCalledTimes(1);
  });

  test('that were empty and stay empty are not stored', () => {
    const keepDraft = vi.fn(async () => {});
    createDrafts({ drafts: async () => ({}), keepDraft }).change('ses_a', NO_DRAFT);
    expect(keepDraft).not.toHaveBeenCalled();
  });
});
