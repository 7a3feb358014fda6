import { expect, test } from 'vitest';
import { linkTo, placeOfLink } from './place-link';

const turn = { sessionID: 'ses_1a2b', messageID: 'msg_3c4d' };

test('a link leads to the place that it was made for', () => {
  for (const place of [turn, { ...turn, partID: 'prt_5e6f' }]) expect(placeOfLink(` ${linkTo(place)}\n`)).toEqual(place);
});

test('anything else is no link', () => {
  const others = ['', 'lathe://session/ses_1', 'https://example.com', 'lathe://session/../msg_1', `${linkTo(turn)}?x`];
  expect(others.map(placeOfLink)).toEqual(others.map(() => undefined));
});
