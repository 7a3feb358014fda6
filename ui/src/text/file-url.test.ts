import { expect, test } from 'vitest';
import { filePathOf } from './file-url';

test.each([
  ['file:///home/ada/a%20lamp.html', '/home/ada/a lamp.html'],
  ['file:///C:/lamps/a.html', 'C:/lamps/a.html'],
  ['file:///src/timer.rs?start=12&end=48', '/src/timer.rs'],
  ['https://example.com/a', undefined],
  ['file:///%zz', undefined],
])('the address %s names the path %s', (url, path) => {
  expect(filePathOf(url)).toBe(path);
});
