import { fireEvent, render } from '@solidjs/testing-library';
import Telescope from 'lucide-solid/icons/telescope';
import { expect, test } from 'vitest';
import { Card } from '../kit/Card';
import { Fold } from '../kit/Fold';
import { createExpanded, ExpandedProvider, type Expanded } from './expanded';

function draw(expanded: Expanded) {
  return render(() => (
    <ExpandedProvider value={expanded}>
      <Card icon={Telescope} title="One" remembered="prt_1">
        first
      </Card>
      <Fold label="Two" remembered="prt_2" open>
        second
      </Fold>
    </ExpandedProvider>
  ));
}

const isOpen = (container: HTMLElement) =>
  [...container.querySelectorAll('button')].map((button) => button.getAttribute('aria-expanded'));

test('what was expanded or collapsed is so again when it is drawn again', () => {
  const expanded = createExpanded();
  const first = draw(expanded);
  expect(isOpen(first.container)).toEqual(['false', 'true']);
  for (const button of first.container.querySelectorAll('button')) fireEvent.click(button);
  expect(isOpen(first.container)).toEqual(['true', 'false']);
  first.unmount();
  expect(isOpen(draw(expanded).container)).toEqual(['true', 'false']);
});

test('in another session nothing is remembered', () => {
  const expanded = createExpanded();
  expanded.set('prt_1', true);
  expanded.clear();
  expect(isOpen(draw(expanded).container)).toEqual(['false', 'true']);
});
