import { fireEvent, render, screen } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import { ResizeHandle } from './ResizeHandle';

function handle(edge: 'left' | 'right', width: number): { told: number[]; element: HTMLElement } {
  const told: number[] = [];
  render(() => (
    <div class="pane">
      <ResizeHandle
        label="Resize"
        pane=".pane"
        edge={edge}
        width={width}
        least={100}
        most={300}
        step={10}
        onResize={(next) => told.push(next)}
      />
    </div>
  ));
  const element = screen.getByRole('separator', { name: 'Resize' });
  element.setPointerCapture = () => {};
  return { told, element };
}

test.each<['left' | 'right', 'ArrowLeft' | 'ArrowRight', number, number]>([
  ['right', 'ArrowRight', 200, 210],
  ['right', 'ArrowLeft', 200, 190],
  ['left', 'ArrowRight', 200, 190],
  ['left', 'ArrowLeft', 200, 210],
  ['right', 'ArrowRight', 295, 300],
  ['left', 'ArrowRight', 104, 100],
])('at the %s edge %s makes %d to %d', (edge, key, from, to) => {
  const { told, element } = handle(edge, from);
  fireEvent.keyDown(element, { key });
  fireEvent.keyDown(element, { key: 'a' });
  expect(told).toEqual([to]);
});

test.each<['left' | 'right', number, string]>([
  ['right', 120, '220px'],
  ['left', 120, '180px'],
  ['right', 900, '300px'],
])('at the %s edge a drag to %d gives %s, and is told once, at its end', (edge, to, width) => {
  const { told, element } = handle(edge, 200);
  const pane = element.parentElement as HTMLElement;
  Object.defineProperty(pane, 'offsetWidth', { get: () => Number.parseInt(pane.style.width || '200', 10) });
  const pointer = (type: string, clientX: number) => fireEvent(element, new MouseEvent(type, { clientX, bubbles: true }));
  pointer('pointerdown', 100);
  pointer('pointermove', 110);
  pointer('pointermove', to);
  expect([pane.style.width, told]).toEqual([width, []]);
  fireEvent(element, new Event('lostpointercapture'));
  pointer('pointermove', 0);
  expect([pane.style.width, told]).toEqual([width, [Number.parseInt(width, 10)]]);
});

test('from right to left the pane is on the other side, and so is the edge that moves', () => {
  document.dir = 'rtl';
  const { told, element } = handle('right', 200);
  fireEvent.keyDown(element, { key: 'ArrowLeft' });
  document.dir = 'ltr';
  expect(told).toEqual([210]);
});
