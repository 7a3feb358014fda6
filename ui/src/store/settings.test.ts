import { expect, test } from 'vitest';
import type { Settings } from '../protocol';
import { createSettings } from './settings';

test('settings that are changed in a row are stored in that order, the last one last', async () => {
  const asked: { zoom: number; done: () => void }[] = [];
  const saveSettings = ({ zoom }: Settings) => new Promise<void>((done) => asked.push({ zoom, done }));
  const { save } = createSettings({ saveSettings });
  const first = save({ zoom: 110 });
  const second = save({ zoom: 125 });
  await Promise.resolve();
  expect(asked.length).toBe(1);
  asked[0]?.done();
  await first;
  await Promise.resolve();
  expect(asked.length).toBe(2);
  expect(asked[1]?.zoom).toBe(125);
  asked[1]?.done();
  await second;
});

test('settings that could not be stored do not hold back the next ones', async () => {
  const zooms: number[] = [];
  const saveSettings = ({ zoom }: Settings) => {
    zooms.push(zoom);
    return zooms.length === 1 ? Promise.reject(new Error('disk full')) : Promise.resolve();
  };
  const { save } = createSettings({ saveSettings });
  await expect(save({ zoom: 110 })).rejects.toThrow('disk full');
  await save({ zoom: 125 });
  expect(zooms).toEqual([110, 125]);
});
