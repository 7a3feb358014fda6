import { fireEvent, render, screen } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import { en } from '../i18n/en';
import { LongText } from './LongText';

test('an ordinary text is drawn as it is', () => {
  const { container } = render(() => <LongText text={'two\nlines'} />);
  expect(container.textContent).toBe('two\nlines');
});

test('of a text of megabytes the beginning is drawn, and the rest on request, row by row', () => {
  const { container } = render(() => <LongText text={'rose '.repeat(1_000_000)} />);
  expect(container.textContent?.length).toBeLessThan(17_000);
  fireEvent.click(screen.getByRole('button', { name: en.part.showRest }));
  expect(container.querySelectorAll('.whole-text-line').length).toBeLessThan(240);
  expect(container.textContent?.length).toBeLessThan(600_000);
});
