import { waitFor } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import { show } from '../testing/window';
import { Markdown } from './Markdown';

const block = (source: string) => `<pre class="code" data-lang="mermaid"><code>${source}\n</code></pre>`;

test('a diagram is a picture, with its source to unfold and copy', async () => {
  const { container, called } = show(() => <Markdown blocks={[block('graph TD')]} />);
  await waitFor(() => expect(container.querySelector('.diagram img')).toBeTruthy());
  expect(container.querySelector<HTMLImageElement>('.diagram img')?.src).toMatch(/^data:image\/svg\+xml/);
  expect(container.querySelector('.diagram details summary')?.textContent).toBe('Show source');
  expect(container.querySelector('.diagram details pre code')?.textContent).toBe('graph TD\n');
  expect(called('drawDiagram')).toEqual([['graph TD\n', false]]);
});

test('what cannot be drawn stays as it was written', async () => {
  const { container, called } = show(() => <Markdown blocks={[block('nonsense')]} />);
  await waitFor(() => expect(called('drawDiagram')).toHaveLength(1));
  expect(container.querySelector('.diagram')).toBeNull();
  expect(container.querySelector('pre code')?.textContent).toBe('nonsense\n');
});

test('a block of code has its language above it, not as text', () => {
  const { container } = show(() => <Markdown blocks={['<pre class="code" data-lang="rust"><code>a</code></pre>']} />);
  expect(container.querySelector<HTMLElement>('.code-head')?.dataset.lang).toBe('rust');
  expect(container.querySelector('pre')?.textContent).toBe('Copya');
});
