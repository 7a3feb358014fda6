import { fireEvent, render, screen, within } from '@solidjs/testing-library';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createToasts, TOAST_MILLIS } from '../store/toasts';
import { followLinks } from './links';
import { Toasts } from './Toasts';

describe('toasts', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('disappear after a while, but not while the pointer is on them', () => {
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

  const shown = () => screen.queryAllByTestId('toast').map((toast) => toast.querySelector('p')?.textContent);

  test('errors are alerts that stay until they are read; other notices go', () => {
    const toasts = createToasts();
    render(() => <Toasts toasts={toasts} />);
    toasts.show({ tone: 'error', text: 'broken' });
    toasts.show({ tone: 'info', text: 'done' });
    toasts.hold(true);
    toasts.hold(false);
    vi.advanceTimersByTime(60 * TOAST_MILLIS);
    expect(shown()).toEqual(['broken']);
    fireEvent.click(within(screen.getByRole('alert')).getByRole('button', { name: 'Dismiss' }));
    expect(shown()).toEqual([]);
  });

  test('the oldest of too many goes first, an error last, and an error that comes again is shown once', () => {
    const toasts = createToasts();
    render(() => <Toasts toasts={toasts} />);
    for (const text of ['1', '2']) toasts.show({ tone: 'error', text });
    for (const text of ['a', 'b', 'c', 'd', 'e']) toasts.show({ tone: 'info', text });
    toasts.show({ tone: 'error', text: '1' });
    expect(shown()).toEqual(['2', 'b', 'c', 'd', 'e', '1']);
  });
});

describe('links', () => {
  const click = (href: string): string[] => {
    const opened: string[] = [];
    const link = document.createElement('a');
    link.setAttribute('href', href);
    const event = new MouseEvent('click', { bubbles: true, cancelable: true });
    const ways = { open: (url: string) => opened.push(url), go: (place: object) => opened.push(JSON.stringify(place)), edit: () => {} };
    link.addEventListener('click', (event) => followLinks(event, ways));
    link.dispatchEvent(event);
    expect(event.defaultPrevented).toBe(true);
    return opened;
  };

  test.each(['https://example.com/a', 'http://example.com', 'mailto:a@example.com'])('%s goes to the system', (url) => {
    expect(click(url)).toEqual([url]);
  });

  test('to a place in a session are followed in the window', () => {
    expect(click('lathe://session/ses_1/msg_2/prt_3')).toEqual(['{"sessionID":"ses_1","messageID":"msg_2","partID":"prt_3"}']);
    expect(click('lathe://session/ses_1')).toEqual([]);
  });

  test.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '/relative', 'tauri://localhost', ''])(
    '%s goes nowhere',
    (url) => {
      expect(click(url)).toEqual([]);
    },
  );
});
