import type { JSX } from 'solid-js';
import TriangleAlert from 'lucide-solid/icons/triangle-alert';
import './banner.css';

/** A message for a problem that lasts. */
export function Banner(props: { tone: 'warn' | 'danger'; children: JSX.Element }) {
  return (
    <div class="banner" data-tone={props.tone} role="alert">
      <TriangleAlert size={14} aria-hidden="true" />
      <div class="banner-text">{props.children}</div>
    </div>
  );
}
