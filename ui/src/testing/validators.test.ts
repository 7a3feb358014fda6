import { describe, expect, test } from 'vitest';

import cases from '../../../tests/fixtures/validation.json';

type Validate = (value: unknown) => string | undefined;

const modules = import.meta.glob<Record<string, Validate>>('../validators/*.ts', { eager: true });
const fixtures = import.meta.glob<unknown>('../../../tests/fixtures/protocol/*.json', {
  eager: true,
  import: 'default',
});

function validator(name: string): Validate {
  const found = Object.values(modules[`../validators/${name}.ts`] ?? {})[0];
  if (found === undefined) throw new Error(`no validator for ${name}`);
  return found;
}

describe('the generated validators', () => {
  test('name a problem with its place, as those in Rust do', () => {
    const problems = cases.map(([name, value]) => validator(String(name))(value) ?? null);
    expect(problems).toEqual(cases.map(([, , problem]) => problem));
  });

  test('accept every stored fixture', () => {
    const checked = Object.entries(fixtures).flatMap(([path, value]) => {
      const kind = path.split('/').at(-1)?.split('.')[0] ?? '';
      return kind === 'other' ? [] : [{ path, problem: validator(kind)(value) }];
    });
    expect(checked.length).toBeGreaterThan(70);
    expect(checked.filter(({ problem }) => problem !== undefined)).toEqual([]);
  });
});
