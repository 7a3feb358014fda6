import { expect, test } from 'vitest';
import type { Session } from '../protocol';
import { tasksOf } from './tasks';

const session = (id: string, parentID?: string) => ({ id, parentID }) as Session;
const ids = (sessions: Session[], of: string) => tasksOf(sessions, of).map((one) => one.id);

test('a session’s tasks are those it handed out, and what they handed out', () => {
  const all = [session('root'), session('a', 'root'), session('b', 'root'), session('deep', 'a'), session('other')];
  expect(ids(all, 'root')).toEqual(['a', 'deep', 'b']);
  expect(ids(all, 'other')).toEqual([]);
});

test('sessions that claim to be each other’s task are counted once', () => {
  expect(ids([session('a', 'b'), session('b', 'a')], 'a')).toEqual(['b']);
});
