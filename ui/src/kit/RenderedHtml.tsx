/**
 * The one place where HTML text becomes elements.
 *
 * The HTML was made and sanitised by the render crate; nothing else may be passed here.
 * Links are followed by the window's own click handler, never by the webview.
 */
import { createEffect, createRenderEffect } from 'solid-js';
import { en } from '../i18n/en';
import { useApp } from '../store/context';
import { copyText } from './clipboard';
import { diagramsIn, drawIn, sourceOf } from './diagram';
import { highlightWords } from './highlight';
import { morph } from './morph';
import { addressOf, dress, LOADED, nameOf, REMOTE } from './remote-image';

/** Twice the height on screen, for high-density displays. */
const PICTURE = 640;

/** A block of Markdown. While it grows, unchanged nodes are kept. */
export function RenderedHtml(props: { html: string; marks?: readonly string[] }) {
  const app = useApp();
  // Filled before it is in the document, because the virtual list measures it at once.
  const fill = (block: HTMLDivElement) =>
    createRenderEffect(() => {
      const fresh = elementsOf(props.html);
      for (const pre of fresh.querySelectorAll('pre:not(.continued)')) pre.prepend(codeHead(pre));
      for (const pre of diagramsIn(fresh)) drawIn(pre, app.diagrams.of(sourceOf(pre), app.isDark()));
      highlightWords(fresh, props.marks ?? []);
      for (const button of fresh.querySelectorAll(REMOTE)) {
        const address = addressOf(button);
        if (address !== undefined) dress(button, app.pictures.stateOf(address), (url) => app.host.pictureURL(url, PICTURE));
      }
      morph(block, fresh);
    });

  const onRemote = (button: Element) => {
    const address = addressOf(button);
    if (address === undefined) return;
    const state = app.pictures.stateOf(address);
    if (state.name === 'loaded') app.show({ name: 'lightbox', alone: { url: state.url, name: nameOf(button) } });
    else void app.pictures.load(address);
  };
  const onClick = ({ target }: MouseEvent) => {
    if (!(target instanceof Element)) return;
    const remote = target.closest(REMOTE);
    if (remote) return onRemote(remote);
    const button = target.closest('.copy-code');
    const pre = button?.closest('pre');
    if (!button || !pre) return;
    void copyText(codeOf(pre)).then((done) => done && (button.textContent = en.part.copied));
  };
  /** The error event of a picture does not bubble, so it is captured. */
  const onError = ({ target }: Event) => {
    const button = target instanceof Element && target.classList.contains(LOADED) ? target.closest(REMOTE) : null;
    const address = button ? addressOf(button) : undefined;
    if (address !== undefined) app.pictures.broke(address);
  };

  return (
    <div
      class="block"
      ref={(block) => {
        block.addEventListener('error', onError, true);
        fill(block);
      }}
      onClick={onClick}
    />
  );
}

/** The output of a command, from its end. While it runs, the view follows the end unless the reader scrolled up. */
export function RenderedTerminal(props: { html: string; label: string; live?: boolean }) {
  let pre!: HTMLPreElement;
  let atEnd = true;
  createEffect(() => {
    morph(pre, elementsOf(props.html));
    if (atEnd) pre.scrollTop = pre.scrollHeight;
  });
  return (
    <pre
      class="terminal"
      ref={pre}
      tabindex="0"
      aria-label={props.label}
      onScroll={() => (atEnd = pre.scrollHeight - pre.scrollTop - pre.clientHeight < 8)}
    />
  );
}

function elementsOf(html: string): DocumentFragment {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content;
}

/** A long code block continues in the following blocks. */
function codeOf(pre: Element): string {
  let code = textOf(pre);
  let next = pre.closest('.block')?.nextElementSibling?.querySelector(':scope > pre.continued');
  while (next) {
    code += textOf(next);
    next = next.closest('.block')?.nextElementSibling?.querySelector(':scope > pre.continued');
  }
  return code;
}

function textOf(pre: Element): string {
  return pre.querySelector('code')?.textContent ?? '';
}

/** The line above a block of code: its language, and a button. It never covers the code. */
function codeHead(pre: Element): HTMLElement {
  const head = document.createElement('div');
  head.className = 'code-head';
  // Drawn by the style sheet, so that it is neither found nor copied with the code.
  head.dataset.lang = pre.getAttribute('data-lang') ?? '';
  head.append(copyCodeButton());
  return head;
}

function copyCodeButton(): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy-code';
  button.textContent = en.part.copy;
  button.setAttribute('aria-label', en.part.copyCode);
  return button;
}
