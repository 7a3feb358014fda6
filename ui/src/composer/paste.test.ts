import { describe, expect, test } from 'vitest';
import { pasteOf, type Offer } from './paste';

const offer = (change: Partial<Offer>): Offer => ({ types: [], text: '', uris: '', files: [], ...change });
const png = { name: 'image.png', size: 900 };

describe('a paste', () => {
  test.each<[string, Partial<Offer>, string]>([
    ['of words is text', { text: 'hello' }, 'text'],
    ['of words beside a picture of them is text', { text: '1\t2', files: [png] }, 'text'],
    ['of many lines becomes an attachment', { text: 'x\n'.repeat(80) }, 'long-text'],
    ['of very many letters becomes an attachment', { text: 'x'.repeat(5000) }, 'long-text'],
    ['of a picture with its bytes takes them', { types: ['Files'], files: [png] }, 'files'],
    ['of a picture without bytes asks the system', { types: ['image/png'], files: [{ name: '', size: 0 }] }, 'system'],
    ['that shows nothing asks the system', {}, 'system'],
    ['of files asks the system where they lie', { uris: 'file:///a/b.txt', text: '/a/b.txt' }, 'system'],
    ['of a file with its name as text is the file', { text: 'image.png', files: [png] }, 'files'],
    ['of a link is text', { uris: 'https://example.com/', text: 'https://example.com/' }, 'text'],
  ])('%s', (_what, change, expected) => {
    expect(pasteOf(offer(change))).toBe(expected);
  });
});
