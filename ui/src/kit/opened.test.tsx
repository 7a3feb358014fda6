import { fireEvent, render } from '@solidjs/testing-library';
import Telescope from 'lucide-solid/icons/telescope';
import { expect, test } from 'vitest';
import { Card } from './Card';
import { Fold } from './Fold';
import { createOpened, OpenedProvider, type Opened } from './opened';

function draw(opened: Opened) {
  return render(() => (
    <OpenedProvider value={opened}>
      <Card icon={Telescope} title="One" remembered="prt_1">
        first
      </Card>
      <Fold label="Two" remembered="prt_2" open>
        second
      </Fold>
    </OpenedProvider>
  ));
}

const expanded = (container: HTMLElement) =>
  [...container.querySelectorAll('button')].map((button) => button.getAttribute('aria-expanded'));

test('what was opened or closed is so again when it is drawn anew', () => {
  const opened = createOpened();
  const first = draw(opened);
  expect(expanded(first.container)).toEqual(['false', 'true']);
  for (const button of first.container.querySelectorAll('button')) fireEvent.click(button);
  expect(expanded(first.container)).toEqual(['true', 'false']);
  first.unmount();
  expect(expanded(draw(opened).container)).toEqual(['true', 'false']);
});

test('in another session nothing is remembered', () => {
  const opened = createOpened();
  opened.choose('prt_1', true);
  opened.clear();
  expect(expanded(draw(opened).container)).toEqual(['false', 'true']);
});
