/** What a language file needs to put numbers into sentences, by the rules of its language. */

type Forms = { readonly [form in Exclude<Intl.LDMLPluralRule, 'other'>]?: string } & { readonly other: string };

interface Wording {
  number(value: number): string;
  /** The form for this count, with the count in the place of each `#`. */
  plural(count: number, forms: Forms): string;
  /** "a, b and c" in the way of the language. */
  list(parts: readonly string[]): string;
}

export function wording(tag: string): Wording {
  const rules = new Intl.PluralRules(tag);
  const numbers = new Intl.NumberFormat(tag);
  const lists = new Intl.ListFormat(tag, { type: 'conjunction' });
  return {
    number: (value) => numbers.format(value),
    plural: (count, forms) => (forms[rules.select(count)] ?? forms.other).replaceAll('#', numbers.format(count)),
    list: (parts) => lists.format(parts),
  };
}
