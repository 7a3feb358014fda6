/**
 * Languages that nobody speaks, made from English, for development and tests: a text that stays in
 * plain letters is hard-wired, and one that is cut has no room for a longer language.
 */
import { isGroup, type Language } from './live';

const PLAIN = 'abcdefghijklmnopqrstuvwxyz';
const ACCENTED = 'áƀçďéƒĝĥíĵķĺɱñóƥɋřšţúṽŵẋýž';
/** Letters that are written from right to left. */
const HEBREW = 'אבגדהוזחטיכלמנסעפצקרשתאבגד';
/** A name is the same in every language. */
const NAME = 'Lathe';
/** Stand for what was put into a text, which is no text of ours. */
const OPEN = '\uE000';
const CLOSE = '\uE001';
const GIVEN = new RegExp(`${OPEN}(\\d+)${CLOSE}`, 'g');

type Letters = (letter: string) => string;

const swap =
  (letters: string): Letters =>
  (letter) => {
    const at = PLAIN.indexOf(letter.toLowerCase());
    const other = [...letters][at] ?? letter;
    return letter === letter.toLowerCase() ? other : other.toUpperCase();
  };

/** Two letters more for every five: what German and Finnish take. */
function lengthen(word: string): string {
  return [...word].map((letter, at) => (at % 5 === 1 || at % 5 === 3 ? letter + letter : letter)).join('');
}

function spoken(text: string, letters: Letters): string {
  return text
    .split(GIVEN)
    .map((piece, at) =>
      at % 2 === 1
        ? `${OPEN}${piece}${CLOSE}`
        : piece.replace(/[a-z]+/gi, (word) => (word === NAME ? word : lengthen(word).replace(/[a-z]/gi, letters))),
    )
    .join('');
}

/** The same texts with other letters; what a text is given is left as it is. */
function translate(texts: unknown, letters: Letters): unknown {
  if (typeof texts === 'string') return spoken(texts, letters);
  if (Array.isArray(texts)) return texts.map((text) => translate(text, letters));
  if (isGroup(texts)) {
    return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, translate(text, letters)]));
  }
  if (typeof texts !== 'function') return texts;
  return (...given: unknown[]): unknown => {
    const words = given.map((one, at) => (typeof one === 'string' && one !== '' ? `${OPEN}${at}${CLOSE}` : one));
    const said: unknown = (texts as (...words: unknown[]) => unknown)(...words);
    if (typeof said !== 'string') return translate(said, letters);
    return spoken(said, letters).replace(GIVEN, (_, at: string) => String(given[Number(at)]));
  };
}

export function pseudo(tag: 'en-XA' | 'en-XB', english: object): Language {
  const accents = tag === 'en-XA';
  return {
    tag,
    direction: accents ? 'ltr' : 'rtl',
    texts: translate(english, swap(accents ? ACCENTED : HEBREW)) as object,
  };
}
