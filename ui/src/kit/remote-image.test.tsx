import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { createSignal } from 'solid-js';
import { describe, expect, test } from 'vitest';
import { App } from '../App';
import { PIXELS } from '../host/fake/pixels';
import { show, type TestWindow } from '../testing/window';
import { Markdown } from './Markdown';

/** As the render crate writes it. */
const remote = (src: string, name = 'a lamp') => {
  const host = URL.canParse(src) ? new URL(src).hostname : '';
  return `<p><button type="button" class="remote-image" data-src="${src}" data-host="${host}">${name} · ${host}</button></p>`;
};
const LAMP = remote('https://img.example/lamp.png');

const draw = (...blocks: string[]): TestWindow => show(() => <Markdown blocks={blocks} />);
const button = () => document.querySelector<HTMLButtonElement>('.remote-image') as HTMLButtonElement;
const picture = () => button().querySelector('img');

describe('a picture of the web', () => {
  test('says where it would come from, and is asked for only by a click', async () => {
    const window = draw(LAMP);
    expect(button().textContent).toBe('a lamp · img.exampleLoad');
    expect([button().tagName, button().type, button().tabIndex, picture()]).toEqual(['BUTTON', 'button', 0, null]);
    expect(window.called('loadRemoteImage')).toEqual([]);
    fireEvent.click(button());
    expect(window.called('loadRemoteImage')).toEqual([['https://img.example/lamp.png']]);
    await waitFor(() => expect(picture()?.getAttribute('src')).toBe(PIXELS));
    expect(picture()?.alt).toBe('a lamp');
  });

  test('is busy until it is there, keeps the focus, and is not asked for twice', async () => {
    const window = draw(LAMP);
    let done: (url: string) => void = () => {};
    let asked = 0;
    window.host.loadRemoteImage = () => {
      asked += 1;
      return new Promise((resolve) => (done = resolve));
    };
    const before = button();
    before.focus();
    fireEvent.click(before);
    expect(before.textContent).toBe('a lamp · img.exampleLoading image');
    expect(before.querySelector('.spinner')).not.toBeNull();
    fireEvent.click(before);
    expect(asked).toBe(1);
    done(PIXELS);
    await waitFor(() => expect(picture()).not.toBeNull());
    expect([button(), document.activeElement]).toEqual([before, before]);
  });

  test('that cannot be loaded says why, and is tried again', async () => {
    const window = draw(remote('https://img.invalid/a.png'));
    fireEvent.click(button());
    await waitFor(() => expect(button().textContent).toBe('a lamp · img.invalidThe host is not knownRetry'));
    fireEvent.click(button());
    await waitFor(() => expect(window.called('loadRemoteImage')).toHaveLength(2));
  });

  test('that cannot be drawn says so', async () => {
    draw(LAMP);
    fireEvent.click(button());
    await waitFor(() => expect(picture()).not.toBeNull());
    fireEvent.error(picture() as Element);
    expect(button().textContent).toBe('a lamp · img.exampleThis image can’t be shown.Retry');
  });

  test('stays while the text around it grows', async () => {
    const [html, setHtml] = createSignal(LAMP);
    show(() => <Markdown blocks={[html()]} />);
    fireEvent.click(button());
    await waitFor(() => expect(picture()).not.toBeNull());
    const before = picture();
    setHtml(LAMP.replace('</p>', ' and more</p>'));
    expect(document.querySelector('.block')?.textContent).toBe(' and more');
    expect(picture()).toBe(before);
  });

  test.each(['javascript:alert(1)', 'file:///etc/passwd', 'data:text/html,x', 'attachment://localhost/x', '//img.example', ''])(
    'at %j is never asked for',
    (src) => {
      const window = draw(remote(src));
      fireEvent.click(button());
      expect(window.called('loadRemoteImage')).toEqual([]);
      expect(picture()).toBeNull();
    },
  );

  test('opens over the window, alone, and the focus comes back to it', async () => {
    const window = show(() => (
      <>
        <App />
        <Markdown blocks={[LAMP]} />
      </>
    ));
    // The composer takes the focus when a session opens.
    await waitFor(() => expect(window.app.timeline.open()?.sessionID).toBe('ses_gallery'));
    fireEvent.click(button());
    await waitFor(() => expect(picture()).not.toBeNull());
    button().focus();
    fireEvent.click(picture() as Element);
    const lightbox = await screen.findByTestId('lightbox');
    expect(lightbox.querySelector('.lightbox-title')?.textContent).toBe('a lamp');
    expect(screen.getByTestId('lightbox-position').textContent).toBe('1 of 1');
    expect(lightbox.querySelector('.lightbox-picture')?.getAttribute('src')).toBe(PIXELS);
    expect(window.called('sessionImages')).toEqual([]);
    fireEvent.keyDown(lightbox, { key: 'Escape' });
    await waitFor(() => expect(screen.queryByTestId('lightbox')).toBeNull());
    await waitFor(() => expect(document.activeElement).toBe(button()));
  });
});
