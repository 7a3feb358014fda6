/**
 * A block of Mermaid as a picture, with its source below it to unfold.
 *
 * The picture is an `img`: a browser neither runs nor loads anything in one.
 */
import { en } from '../i18n/en';
import type { Diagram } from '../store/diagrams';

/** A block that is complete: a long one goes on in the next. */
export function diagramsIn(root: ParentNode): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>('pre[data-lang="mermaid"]:not(.continued)')];
}

export function sourceOf(pre: Element): string {
  return pre.querySelector('code')?.textContent ?? '';
}

/** Puts the picture in place of the block. What cannot be drawn stays as it was written. */
export function drawIn(pre: HTMLElement, diagram: Diagram): void {
  if (diagram.name !== 'drawn') return;
  const figure = document.createElement('div');
  figure.className = 'diagram';
  const picture = document.createElement('img');
  picture.src = diagram.url;
  picture.alt = en.work.diagram.label;
  picture.className = 'diagram-picture';
  const details = document.createElement('details');
  const summary = document.createElement('summary');
  summary.textContent = en.work.diagram.source;
  pre.replaceWith(figure);
  details.append(summary, pre);
  figure.append(picture, details);
}
