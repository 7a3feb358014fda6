import { expect, test } from 'vitest';
import commands from '../../../src-tauri/src/commands.rs?raw';
import host from './tauri.ts?raw';

test('the window calls every command that the shell has, and no other', () => {
  const handler = commands.slice(commands.indexOf('generate_handler!'));
  const offered = [...handler.matchAll(/\w+::(\w+),/g)].map(([, name]) => name);
  const called = [...host.matchAll(/invoke\('(\w+)'/g)].map(([, name]) => name);
  expect(offered.length).toBeGreaterThan(50);
  expect([...new Set(called)].sort()).toEqual(offered.sort());
});
