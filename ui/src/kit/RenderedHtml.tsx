/**
 * The one place where HTML text becomes elements.
 *
 * What comes in was made and sanitised by the render crate; nothing else may be passed here.
 * Links are followed by the window's own click handler, never by the webview.
 */
import { createEffect } from 'solid-js';
import { en } from '../i18n/en';
import { copyText } from './clipboard';

export function RenderedHtml(props: { html: string }) {
  let block!: HTMLDivElement;

  createEffect(() => {
    void props.html;
    for (const pre of block.querySelectorAll('pre:not(.continued)')) pre.append(copyCodeButton());
  });

  const onClick = (event: MouseEvent) => {
    const button = event.target instanceof Element ? event.target.closest('.copy-code') : null;
    const pre = button?.closest('pre');
    if (!button || !pre) return;
    void copyText(codeOf(pre)).then((done) => done && (button.textContent = en.part.copied));
  };

  return <div class="block" ref={block} innerHTML={props.html} onClick={onClick} />;
}

/** A long fence goes on in the blocks that follow. */
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

function copyCodeButton(): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy-code';
  button.textContent = en.part.copy;
  button.setAttribute('aria-label', en.part.copyCode);
  return button;
}
