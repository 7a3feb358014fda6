/** The whole window, or one component, on a scripted host. */
import { render } from '@solidjs/testing-library';
import type { JSX } from 'solid-js';
import { App } from '../App';
import { createFakeHost, type FakeHost, type FakeOptions } from '../host/fake';
import { createApp, type App as Store } from '../store/app';
import { AppProvider } from '../store/context';

export interface TestWindow {
  readonly host: FakeHost;
  readonly app: Store;
  readonly container: HTMLElement;
  /** Names of the calls that the host got, without the ones every start makes. */
  called(name: string): readonly (readonly unknown[])[];
}

/** With the host of an earlier window, it is as if the page had been loaded again. */
export function openWindow(options: FakeOptions = {}, host?: FakeHost): TestWindow {
  return show(() => <App />, options, host);
}

export function show(
  component: () => JSX.Element,
  options: FakeOptions = {},
  host = createFakeHost({ pace: 0, ...options }),
): TestWindow {
  let app!: Store;
  const { container } = render(() => {
    app = createApp(host);
    return <AppProvider value={app}>{component()}</AppProvider>;
  });
  return {
    host,
    app,
    container,
    called: (name) => host.calls.filter((call) => call.name === name).map((call) => call.args),
  };
}
