import { fireEvent, render, screen } from '@solidjs/testing-library';
import { expect, test, vi } from 'vitest';
import { WindowBoundary } from './WindowFailed';

function Broken(): never {
  throw new Error('the timeline is gone');
}

test('an error of the whole window is said, and the window can be loaded again', () => {
  const reload = vi.fn();
  render(() => (
    <WindowBoundary reload={reload}>
      <Broken />
    </WindowBoundary>
  ));
  expect(screen.getByRole('alert').textContent).toBe('the timeline is gone');
  expect(document.body.textContent).toContain('are saved');
  fireEvent.click(screen.getByTestId('reload-window'));
  expect(reload).toHaveBeenCalledOnce();
});
