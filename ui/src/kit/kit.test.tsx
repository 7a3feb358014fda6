import { fireEvent, render, screen } from '@solidjs/testing-library';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createDrafts, NO_DRAFT } from '../store/drafts';
import { createToasts, TOAST_MILLIS } from '../store/toasts';
import { followLinks } from './links';
import { Toasts } from './Toasts';

describe('toasts', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('leave by themselves, but not while somebody is on them', () => {
    const toasts = createToasts();
    render(() => <Toasts toasts={toasts} />);
    toasts.show({ tone: 'info', text: 'one' });
    const region = screen.getByRole('region');
    fireEvent.focusIn(region);
    vi.advanceTimersByTime(TOAST_MILLIS * 3);
    expect(screen.getByTestId('toast').textContent).toContain('one');
    fireEvent.focusOut(region);
    vi.advanceTimersByTime(TOAST_MILLIS);
    expect(screen.queryByTestId('toast')).toBeNull();
  });

  test('run their action once and go', () => {
    const toasts = createToasts();
    const run = vi.fn();
    render(() => <Toasts toasts={toasts} />);
    toasts.show({ tone: 'info', text: 'gone', action: { label: 'Undo', run } });
    fireEvent.click(screen.getByText('Undo'));
    expect(run).toHaveBeenCalledOnce();
    expect(screen.queryByTestId('toast')).toBeNull();
  });

  test('errors are alerts, and the oldest of too many goes first', () => {
    const toasts = createToasts();
    render(() => <Toasts toasts={toasts} />);
    for (const text of ['1', '2', '3', '4', '5']) toasts.show({ tone: 'error', text });
    expect(screen.getAllByRole('alert').map((toast) => toast.querySelector('p')?.textContent)).toEqual([
      '2',
      '3',
      '4',
      '5',
    ]);
  });
});

describe('links', () => {
  const click = (href: string): string[] => {
    const opened: string[] = [];
    const link = document.createElement('a');
    link.setAttribute('href', href);
    const event = new MouseEvent('click', { bubbles: true, cancelable: true });
    link.addEventListener('click', (event) => followLinks(event, { open: (url) => opened.push(url), edit: () => {} }));
    link.dispatchEvent(event);
    expect(event.defaultPrevented).toBe(true);
    return opened;
  };

  test.each(['https://example.com/a', 'http://example.com', 'mailto:a@example.com'])('%s goes to the system', (url) => {
    expect(click(url)).toEqual([url]);
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '/relative', 'tauri://localhost', ''])(
    '%s goes nowhere',
    (url) => {
      expect(click(url)).toEqual([]);
    },
  );
});

describe('drafts', () => {
  test('outlive a restart and are gone when empty', () => {
    const attached = [{ id: 'att_1', url: 'x:', name: 'a', kind: 'text', mime: 'text/plain', size: 1 }] as const;
    createDrafts(localStorage).change('ses_a', { text: 'half a thought' });
    createDrafts(localStorage).change('ses_a', { attachments: attached });
    const again = createDrafts(localStorage);
    expect(again.get('ses_a')).toEqual({ text: 'half a thought', attachments: attached, symbols: [] });
    again.change('ses_a', NO_DRAFT);
    expect(createDrafts(localStorage).get('ses_a')).toEqual(NO_DRAFT);
  });

  test('of earlier versions are read', () => {
    localStorage.setItem('lathe.drafts', '{"ses_a": "words", "ses_b": 1, "ses_c": {"text": 2}}');
    const drafts = createDrafts(localStorage);
    expect(['ses_a', 'ses_b', 'ses_c'].map((place) => drafts.get(place).text)).toEqual(['words', '', '']);
  });

  test('work without a storage, and with a broken one', () => {
    localStorage.setItem('lathe.drafts', '{"ses_a": 1, ');
    expect(createDrafts(localStorage).get('ses_a')).toEqual(NO_DRAFT);
    const drafts = createDrafts(undefined);
    drafts.change('ses_a', { text: 'x' });
    expect(drafts.get('ses_a').text).toBe('x');
  });
});
