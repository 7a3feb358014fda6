import { fireEvent, screen, waitFor } from '@solidjs/testing-library';
import { expect, test } from 'vitest';
import { createFakeHost } from '../host/fake';
import type { UiError } from '../protocol';
import { show, type TestWindow } from '../testing/window';
import { Providers } from './Providers';

async function form(): Promise<TestWindow> {
  const window = show(() => <Providers place={{}} />);
  await window.app.start();
  fireEvent.click(await screen.findByTestId('add-provider'));
  await screen.findByTestId('provider-form');
  return window;
}

const field = (name: string) => screen.getByLabelText(name) as HTMLInputElement;
const type = (name: string, value: string) => fireEvent.input(field(name), { target: { value } });

test('a provider is added with its key and the models that it lists', async () => {
  const window = await form();
  expect(document.activeElement).toBe(field('Name'));
  type('Name', 'My lab');
  type('Base URL', 'https://models.example/v1/');
  fireEvent.change(field('API'), { target: { value: 'anthropic' } });
  type('API key', 'sk-1234');
  fireEvent.click(screen.getByTestId('list-models'));
  fireEvent.click(await screen.findByLabelText('lamp-small'));
  await screen.findByText('Connected, 2 models');
  fireEvent.click(screen.getByTestId('save-provider'));
  await waitFor(() => expect(screen.queryByTestId('provider-form')).toBeNull());
  const provider = { name: 'My lab', baseUrl: 'https://models.example/v1', api: 'anthropic', models: ['lamp-large'] };
  expect(window.called('saveProvider').map(([saved, key]) => [saved, key])).toEqual([[provider, 'sk-1234']]);
  await screen.findByRole('button', { name: 'Edit My lab' });
  expect(window.app.models.list()?.providers.some(({ id }) => id === 'my-lab')).toBe(true);
  fireEvent.click(screen.getByRole('button', { name: 'Remove My lab' }));
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Edit My lab' })).toBeNull());
  expect(window.called('removeProvider').map(([id]) => id)).toEqual(['my-lab']);
});

test('a list that cannot be read says so in its place, and the rest of the page stays', async () => {
  const why = 'Couldn’t read “providers.json”: it is not JSON';
  const host = createFakeHost({ pace: 0 });
  host.addedProviders = () => Promise.reject({ code: 'failed', message: why } satisfies UiError);
  const window = show(() => <Providers place={{}} />, {}, host);
  await window.app.start();
  const section = await screen.findByTestId('custom-providers');
  await waitFor(() => expect(section.querySelector('[role=alert]')?.textContent).toBe(why));
  expect(screen.getByTestId('add-provider')).toBeTruthy();
});

test('the form says what is missing and what did not work, and saves nothing then', async () => {
  const window = await form();
  fireEvent.click(screen.getByTestId('save-provider'));
  expect(screen.getByText('Enter a name and a base URL')).toBeTruthy();
  expect(document.activeElement).toBe(field('Name'));
  type('Name', 'Lab');
  type('Base URL', 'https://invalid.example');
  fireEvent.click(screen.getByTestId('test-provider'));
  await screen.findByText('Nothing answers at this address');
  expect(window.called('saveProvider')).toEqual([]);
  fireEvent.keyDown(field('Name'), { key: 'Escape' });
  expect(screen.queryByTestId('provider-form')).toBeNull();
});
