import { fireEvent, render, screen, waitFor } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import { en } from '../i18n/en';
import { LongText, rowsOf } from './LongText';

test('an ordinary text is drawn as it is', () => {
  const { container } = render(() => <LongText text={'two\nlines'} />);
  expect(container.textContent).toBe('two\nlines');
});

test('of a text of megabytes the beginning is drawn, and the rest on request, row by row', async () => {
  const { container } = render(() => <LongText text={'rose '.repeat(1_000_000)} />);
  expect(container.textContent?.length).toBeLessThan(17_000);
  fireEvent.click(screen.getByRole('button', { name: en.part.showRest }));
  await waitFor(() => expect(container.querySelectorAll('.whole-text-line').length).toBeGreaterThan(0));
  expect(container.querySelectorAll('.whole-text-line').length).toBeLessThan(240);
  expect(container.textContent?.length).toBeLessThan(600_000);
});

test('rows are cut at line breaks where they can be, and add up to the text', () => {
  const line = `${'x'.repeat(180)}\n`;
  const long = 'y'.repeat(900);
  const rows = rowsOf(`${line}${line}${line}${long}\nend`).map(({ text }) => text);
  expect(rows).toEqual([`${line}${'x'.repeat(180)}`, 'x'.repeat(180), long.slice(0, 400), long.slice(400, 800), `${long.slice(800)}\nend`]);
});

test('a million short lines are few rows', () => {
  expect(rowsOf('a\n'.repeat(1_000_000)).length).toBeLessThan(5100);
});

test('a line of megabytes is read once, not again for every row', () => {
  expect(rowsOf('x'.repeat(5_000_000))).toHaveLength(12_500);
});
