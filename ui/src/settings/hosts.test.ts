import { expect, test } from 'vitest';
import { hostOf } from './hosts';

test.each<[string, string | undefined]>([
  [' Wiki.LAN ', 'wiki.lan'],
  ['localhost', 'localhost'],
  ['wiki.lan.', 'wiki.lan'],
  ['wiki.lan:8080', 'wiki.lan'],
  ['http://wiki.lan:8080/page?q', 'wiki.lan'],
  ['192.168.0.7', '192.168.0.7'],
  ['0x7f.1', '127.0.0.1'],
  ['::1', '::1'],
  ['[fd00::7]:80', 'fd00::7'],
  ['my_nas', 'my_nas'],
  ['müller.lan', 'xn--mller-kva.lan'],
  ['', undefined],
  ['two words', undefined],
  ['*.lan', undefined],
  ['10.0.0.0/8', undefined],
  ['wiki.lan/page', undefined],
  ['me@wiki.lan', undefined],
  ['http://', undefined],
  ['1.2.3.4.5.6', undefined],
  [':::', undefined],
])('%j is kept as %j', (typed, host) => {
  expect(hostOf(typed)).toBe(host);
});
