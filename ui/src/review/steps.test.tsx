import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { beforeEach, describe, expect, test } from 'vitest';
import { createFakeHost, type FakeHost } from '../host/fake';
import { openWindow, type TestWindow } from '../testing/window';

beforeEach(() => {
  Element.prototype.scrollIntoView = () => {};
});

const INDEX = { a: 1, b: 2, c: 3 } as const;

/** A host whose project has a file that says at which step it was read, and one that came with the last. */
function hostWithHistory(): FakeHost {
  const host = createFakeHost({ pace: 0 });
  const step = (partID: string | undefined) => INDEX[(partID ?? '').slice(-1) as keyof typeof INDEX];
  host.stepTree = async (_id, at, folder) => {
    if (folder === 'src') return [{ name: 'lamp.ts', path: 'src/lamp.ts', folder: false }];
    const late = step(at.partID) === 3 ? [{ name: 'late.txt', path: 'late.txt', folder: false }] : [];
    return [{ name: 'src', path: 'src', folder: true }, ...late];
  };
  host.stepFile = async (_id, at, path) => {
    if (path === 'late.txt' && step(at.partID) < 3) throw { code: 'not-found', message: 'no file' };
    return [{ kind: 'context', old: 1, new: 1, spans: [{ text: `${path} at ${step(at.partID)}` }] }];
  };
  return host;
}

async function atLastStep(): Promise<TestWindow> {
  const window = openWindow({}, hostWithHistory());
  await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
  window.app.review.open();
  fireEvent.click(await screen.findByTestId('previous-step'));
  fireEvent.click(await screen.findByTestId('browse-step'));
  await screen.findByTestId('step-browser');
  return window;
}
const item = (path: string) =>
  waitFor(() => {
    const found = document.querySelector<HTMLElement>(`[data-testid=step-browser] [data-path="${path}"]`);
    if (!found) throw new Error(`no ${path}`);
    return found;
  });
const items = () => [...document.querySelectorAll<HTMLElement>('[data-testid=step-browser] [role=treeitem]')].map(({ dataset }) => dataset.path);
const content = () => [...document.querySelectorAll('.code-line code')].map((line) => line.textContent);

describe('all files at a step', () => {
  test('are a tree whose files are shown as they were then', async () => {
    await atLastStep();
    fireEvent.click(await item('src'));
    fireEvent.click(await item('src/lamp.ts'));
    await waitFor(() => expect(content()).toEqual(['src/lamp.ts at 3']));
    expect(items()).toEqual(['src', 'src/lamp.ts', 'late.txt']);
  });

  test('stay open at the same file while one goes from step to step', async () => {
    await atLastStep();
    fireEvent.click(await item('src'));
    const folder = await item('src');
    fireEvent.click(await item('src/lamp.ts'));
    fireEvent.click(screen.getByTestId('previous-step'));
    await waitFor(() => expect(content()).toEqual(['src/lamp.ts at 2']));
    await waitFor(() => expect(items()).toEqual(['src', 'src/lamp.ts']));
    expect(await item('src')).toBe(folder);
  });

  test('say so where a file was not there yet', async () => {
    await atLastStep();
    fireEvent.click(await item('late.txt'));
    await waitFor(() => expect(content()).toEqual(['late.txt at 3']));
    fireEvent.click(screen.getByTestId('previous-step'));
    await waitFor(() => expect(screen.getByTestId('step-file').textContent).toContain('This file was not there at this step.'));
    expect(content()).toEqual([]);
  });

  test('are gone through with the keyboard', async () => {
    await atLastStep();
    const folder = await item('src');
    folder.focus();
    fireEvent.keyDown(folder, { key: 'ArrowRight' });
    await item('src/lamp.ts');
    fireEvent.keyDown(folder, { key: 'ArrowDown' });
    expect((document.activeElement as HTMLElement).dataset.path).toBe('src/lamp.ts');
    fireEvent.keyDown(document.activeElement as HTMLElement, { key: 'Enter' });
    await waitFor(() => expect(content()).toEqual(['src/lamp.ts at 3']));
  });

  test('give way to the changes again, and do so in the present', async () => {
    await atLastStep();
    fireEvent.click(screen.getByTestId('browse-step'));
    await waitFor(() => expect(document.querySelector('[data-testid=review] .diff-file')).toBeTruthy());
    fireEvent.click(screen.getByTestId('browse-step'));
    await screen.findByTestId('step-browser');
    fireEvent.click(screen.getByTestId('to-now'));
    await waitFor(() => expect(screen.queryByTestId('step-browser')).toBeNull());
    await waitFor(() => expect(document.querySelector('[data-testid=review] .diff-file')).toBeTruthy());
  });
});

describe('the changes up to a step', () => {
  test('offer neither to keep nor to revert', async () => {
    const window = openWindow({}, hostWithHistory());
    await waitFor(() => expect(window.app.timeline.open()).toBeTruthy());
    window.app.review.open();
    await screen.findAllByTestId('keep-hunk');
    fireEvent.click(await screen.findByTestId('previous-step'));
    await waitFor(() => expect(screen.queryByTestId('keep-hunk')).toBeNull());
    expect(screen.queryByTestId('revert-file')).toBeNull();
    expect(screen.getAllByTestId('open-in-editor').length).toBeGreaterThan(0);
  });
});
