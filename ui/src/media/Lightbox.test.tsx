import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { describe, expect, test } from 'vitest';
import { openWindow, type TestWindow } from '../testing/window';

const lightbox = () => screen.queryByTestId('lightbox');
const position = () => screen.getByTestId('lightbox-position').textContent;
const zoom = () => lightbox()?.querySelector<HTMLElement>('.lightbox-frame')?.dataset.zoom;

/** The gallery's first picture, opened from its thumbnail. */
async function opened(): Promise<{ window: TestWindow; thumb: HTMLElement }> {
  const window = openWindow();
  const thumb = await screen.findByRole('button', { name: 'View flicker.png' });
  thumb.focus();
  fireEvent.click(thumb);
  await waitFor(() => expect(lightbox()?.contains(document.activeElement)).toBe(true));
  await waitFor(() => expect(position()).toBe('1 of 2'));
  return { window, thumb };
}

const press = (key: string, more: object = {}) => fireEvent.keyDown(lightbox() as HTMLElement, { key, ...more });

describe('the lightbox', () => {
  test('shows the picture by its address, and gives the focus back when it closes', async () => {
    const { thumb } = await opened();
    expect(lightbox()?.querySelector('img')?.getAttribute('alt')).toBe('flicker.png');
    press('Escape');
    await waitFor(() => expect(lightbox()).toBeNull());
    await waitFor(() => expect(document.activeElement).toBe(thumb));
  });

  test('goes through all pictures of the session, those of tools too, and stops at the ends', async () => {
    const { window } = await opened();
    press('ArrowRight');
    await waitFor(() => expect(position()).toBe('2 of 2'));
    expect(lightbox()?.querySelector('img')?.getAttribute('alt')).toBe('study.png');
    press('ArrowRight');
    expect(position()).toBe('2 of 2');
    fireEvent.click(screen.getByRole('button', { name: 'Previous image' }));
    await waitFor(() => expect(position()).toBe('1 of 2'));
    expect(window.called('sessionImages')).toEqual([['ses_gallery']]);
  });

  test('finds pictures that are not loaded', async () => {
    const window = openWindow();
    await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
    await window.app.select('ses_docs');
    window.app.show({ name: 'lightbox', sessionID: 'ses_gallery', partID: await far(window) });
    await waitFor(() => expect(position()).toBe('2 of 2'));
  });

  test('zooms with the keys and fits again, also on the next picture', async () => {
    await opened();
    const img = lightbox()?.querySelector('img') as HTMLImageElement;
    Object.defineProperties(img, { naturalWidth: { value: 4000 }, naturalHeight: { value: 3000 } });
    fireEvent.load(img);
    expect(zoom()).toBe('fit');
    press('1');
    expect(zoom()).toBe('1.00');
    press('+');
    expect(zoom()).toBe('1.25');
    press('-');
    expect(zoom()).toBe('1.00');
    press('0');
    expect(zoom()).toBe('fit');
    press('+');
    press('ArrowRight');
    await waitFor(() => expect(position()).toBe('2 of 2'));
    expect(zoom()).toBe('fit');
  });

  test('copies and saves the picture on screen', async () => {
    const { window } = await opened();
    const url = window.called('pictureURL').at(-1)?.[0];
    press('c', { ctrlKey: true });
    await screen.findByText('Image copied');
    fireEvent.click(screen.getByRole('button', { name: 'Save image…' }));
    await screen.findByText('Image saved');
    expect([window.called('copyImage'), window.called('saveAttachment')]).toEqual([[[url]], [[url]]]);
  });

  test('says so when a picture cannot be shown', async () => {
    await opened();
    fireEvent.error(lightbox()?.querySelector('img') as HTMLElement);
    expect(lightbox()?.textContent).toContain('This image can’t be shown.');
  });

  test('keeps the keys of what lies behind it to itself', async () => {
    const { window } = await opened();
    press('n', { ctrlKey: true });
    expect(window.called('createSession')).toEqual([]);
  });
});

async function far(window: TestWindow): Promise<string> {
  const all = await window.host.sessionImages('ses_gallery');
  return all[1]?.partID ?? '';
}
