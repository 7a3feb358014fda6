/**
 * What the elements of the window offer by a right click.
 *
 * A component says it for an element of its own; nothing here draws. Where elements with offers lie in
 * each other, the menu has those of all of them, the innermost first.
 */
import { onCleanup, onMount } from 'solid-js';
import type { MenuItem } from './Menu';

/** `at` is the element that was clicked, or that has the focus. */
export type Offer = (at: Element) => readonly MenuItem[];

const offers = new WeakMap<Element, Offer>();

export function offer(element: Element, items: Offer): void {
  offers.set(element, items);
}

/** As a `ref` of something inside of the element that the menu belongs to. */
export function offerAround(selector: string, items: Offer): (inside: Element) => void {
  return (inside) => {
    let around: Element | null = null;
    onMount(() => {
      around = inside.closest(selector);
      if (around) offers.set(around, items);
    });
    onCleanup(() => {
      // Another component may have taken the place in the meantime.
      if (around && offers.get(around) === items) offers.delete(around);
    });
  };
}

/** The offers for a place, in groups, from the innermost element to the outermost one. */
export function offersAt(at: Element): (readonly MenuItem[])[] {
  const groups: (readonly MenuItem[])[] = [];
  for (let element: Element | null = at; element; element = element.parentElement) {
    const items = offers.get(element)?.(at) ?? [];
    if (items.length > 0) groups.push(items);
  }
  return groups;
}
