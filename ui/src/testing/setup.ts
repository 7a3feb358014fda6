/** What jsdom lacks: element sizes, and observers that report them. */
import { cleanup, configure } from '@solidjs/testing-library';
import { afterEach } from 'vitest';

// A busy machine must not fail a test.
configure({ asyncUtilTimeout: 20_000 });

const VIEWPORT = 600;
const ITEM = 120;

class SizedObserver implements ResizeObserver {
  readonly #report: ResizeObserverCallback;
  readonly #seen = new Set<Element>();

  constructor(report: ResizeObserverCallback) {
    this.#report = report;
  }

  observe(target: Element): void {
    this.#seen.add(target);
    const height = target.matches('.timeline-scroll') ? VIEWPORT : ITEM;
    queueMicrotask(() => {
      if (!this.#seen.has(target)) return;
      const entry = { target, contentRect: { width: 800, height } } as unknown as ResizeObserverEntry;
      this.#report([entry], this);
    });
  }

  unobserve(target: Element): void {
    this.#seen.delete(target);
  }

  disconnect(): void {
    this.#seen.clear();
  }
}

globalThis.ResizeObserver = SizedObserver;
Element.prototype.scrollTo = () => {};
Element.prototype.scrollBy = () => {};
Object.defineProperty(HTMLElement.prototype, 'offsetParent', {
  get(this: HTMLElement) {
    return this.parentElement;
  },
});
// jsdom has no animations; without this, a closing popover would wait for one for ever.
Object.defineProperty(CSSStyleDeclaration.prototype, 'animationName', { get: () => 'none', configurable: true });

afterEach(() => {
  cleanup();
  localStorage.clear();
});
