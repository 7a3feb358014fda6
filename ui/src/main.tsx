import { render } from 'solid-js/web';
import { App } from './App';
import { errorLog } from './host/errors';
import type { Host } from './host/host';
import { createTauriHost, inTauri } from './host/tauri';
import { choose } from './i18n/languages';
import { isMac } from './kit/keys';
import { createApp } from './store/app';
import { AppProvider } from './store/context';
import { WindowBoundary } from './WindowFailed';
import './styles/tokens.css';
import './styles/base.css';
import './styles/direction.css';
import './styles/fields.css';
import './styles/panel.css';
import './styles/markdown.css';
import './styles/code.css';
import './styles/ansi.css';
import { addAnsiStyles } from './styles/ansi';

/** A plain browser gets the scripted host, so that the window can be worked on without Rust. */
async function findHost(): Promise<Host> {
  if (inTauri()) return createTauriHost();
  const { createFakeHost } = await import('./host/fake');
  const asked = new URLSearchParams(location.search);
  return createFakeHost({ empty: asked.has('empty'), connected: asked.has('connected') });
}

async function open(root: HTMLElement): Promise<void> {
  const asked = new URLSearchParams(location.search);
  if (asked.has('gallery')) {
    await choose(asked.get('language') ?? '');
    const { Gallery } = await import('./gallery/Gallery');
    render(() => <Gallery />, root);
    return;
  }
  const host = await findHost();
  const reportError = errorLog(host);
  const Window = () => {
    const app = createApp(host);
    return (
      <AppProvider value={app}>
        <App />
      </AppProvider>
    );
  };
  render(
    () => (
      <WindowBoundary onFailed={reportError}>
        <Window />
      </WindowBoundary>
    ),
    root,
  );
}

addAnsiStyles();
document.documentElement.toggleAttribute('data-mac', isMac);
const root = document.getElementById('app');
if (root) await open(root);
