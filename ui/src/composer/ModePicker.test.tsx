import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, test } from 'vitest';
import type { FakeOptions } from '../host/fake';
import { openWindow, type TestWindow } from '../testing/window';

afterEach(() => localStorage.clear());

const picker = () => screen.getByTestId('mode-picker');
const option = (name: RegExp) => screen.findByRole('menuitemradio', { name });
const set = (window: TestWindow) => window.called('setPermissionMode');
const nextMode = () => fireEvent.keyDown(screen.getByTestId('composer'), { key: 'M', code: 'KeyM', ctrlKey: true, shiftKey: true });

async function opened(options: FakeOptions = {}): Promise<TestWindow> {
  const window = openWindow(options);
  await waitFor(() => expect(window.app.mode.view()).toBeDefined());
  return window;
}

const noSandbox = { sandbox: { unavailable: 'The kernel has neither Landlock nor user namespaces.', notCovered: [] } };

describe('the mode', () => {
  test('is Ask at first, and is chosen beside the agent', async () => {
    const window = await opened();
    expect(picker().textContent).toBe('Ask');
    await userEvent.click(picker());
    await userEvent.click(await option(/^Auto/));
    await waitFor(() => expect(picker().textContent).toBe('Auto'));
    expect(set(window)).toEqual([['prj_lantern', 'auto']]);
  });

  test('belongs to its project', async () => {
    const window = await opened();
    await window.app.mode.choose('auto');
    await window.app.pickProject();
    await waitFor(() => expect(window.called('permissionMode').at(-1)).toEqual(['prj_orrery']));
    await waitFor(() => expect(picker().textContent).toBe('Ask'));
    await window.app.select('ses_docs');
    await waitFor(() => expect(picker().textContent).toBe('Auto'));
  });

  test('says what the sandbox does not cover', async () => {
    await opened();
    await userEvent.click(picker());
    expect((await screen.findByRole('menu')).textContent).toContain(
      'What the sandbox does not cover:The size of what a command writes to the disk is not limited.',
    );
  });

  test('Auto cannot be chosen where no sandbox works, and says why', async () => {
    const window = await opened(noSandbox);
    await userEvent.click(picker());
    const auto = await option(/^Auto/);
    expect(auto.textContent).toContain('Not available: The kernel has neither Landlock nor user namespaces.');
    expect(auto.getAttribute('aria-disabled')).toBe('true');
    await window.app.mode.choose('auto');
    expect(set(window)).toEqual([]);
  });
});

describe('full access', () => {
  const confirm = () => screen.findByTestId('confirm-full-access');

  test('comes with a warning, once in each project, and is red', async () => {
    const window = await opened();
    await window.app.mode.choose('full');
    expect(set(window)).toEqual([]);
    expect((await screen.findByTestId('full-access-dialog')).textContent).toContain('In lantern, the agent then runs any command');
    fireEvent.click(await confirm());
    await waitFor(() => expect(picker().dataset.tone).toBe('danger'));
    expect(picker().textContent).toBe('Full access');
    await window.app.mode.choose('ask');
    await window.app.mode.choose('full');
    expect(set(window)).toEqual([['prj_lantern', 'full'], ['prj_lantern', 'ask'], ['prj_lantern', 'full']]);

    await window.app.pickProject();
    await waitFor(() => expect(window.app.project()?.id).toBe('prj_orrery'));
    await window.app.mode.choose('full');
    expect((await screen.findByTestId('full-access-dialog')).textContent).toContain('In orrery');
  });

  test('is not turned on if the warning is dismissed', async () => {
    const window = await opened();
    await window.app.mode.choose('full');
    fireEvent.click(await screen.findByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(screen.queryByTestId('full-access-dialog')).toBeNull());
    expect([set(window), picker().textContent]).toEqual([[], 'Ask']);
  });
});

describe('the key for the mode', () => {
  test('goes from Ask to Auto, then asks before full access', async () => {
    const window = await opened();
    nextMode();
    await waitFor(() => expect(picker().textContent).toBe('Auto'));
    window.app.mode.cycle();
    expect(await screen.findByTestId('full-access-dialog')).toBeTruthy();
    expect(set(window)).toEqual([['prj_lantern', 'auto']]);
  });

  test('leaves out Auto where no sandbox works', async () => {
    await opened(noSandbox);
    nextMode();
    expect(await screen.findByTestId('full-access-dialog')).toBeTruthy();
  });
});
