/** The list above the composer with suggestions for `@` and `/`. The focus stays in the field. */
import Bot from 'lucide-solid/icons/bot';
import Braces from 'lucide-solid/icons/braces';
import File from 'lucide-solid/icons/file';
import Folder from 'lucide-solid/icons/folder';
import Slash from 'lucide-solid/icons/slash';
import { createEffect, For, on, Show } from 'solid-js';
import { Dynamic } from 'solid-js/web';
import { en } from '../i18n/en';
import type { Icon } from '../kit/Button';
import { visible } from '../text/visible';
import type { Suggestion } from './suggest';
import './suggestions.css';

const ICONS: Readonly<Record<Suggestion['kind'], Icon>> = {
  file: File,
  directory: Folder,
  symbol: Braces,
  agent: Bot,
  command: Slash,
};

interface SuggestionsProps {
  readonly id: string;
  readonly list: readonly Suggestion[];
  readonly active: number;
  readonly onMark: (index: number) => void;
  readonly onChoose: (index: number) => void;
}

export function optionID(list: string, index: number): string {
  return `${list}-${index}`;
}

export function Suggestions(props: SuggestionsProps) {
  let rows!: HTMLDivElement;
  createEffect(
    on(
      () => props.active,
      () => rows.querySelector('[data-active]')?.scrollIntoView?.({ block: 'nearest' }),
      { defer: true },
    ),
  );
  return (
    <div class="suggest" data-testid="suggestions">
      <div class="suggest-list" role="listbox" id={props.id} aria-label={en.suggest.label} ref={rows}>
        <For each={props.list}>
          {(one, index) => (
            <div
              role="option"
              id={optionID(props.id, index())}
              class="suggest-row"
              data-kind={one.kind}
              data-active={index() === props.active ? '' : undefined}
              aria-selected={index() === props.active}
              onPointerMove={() => index() !== props.active && props.onMark(index())}
              // Keeps the focus and the caret in the field.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => props.onChoose(index())}
            >
              <Dynamic component={ICONS[one.kind]} size={14} aria-hidden="true" />
              <span class="suggest-name">{visible(one.name)}</span>
              <Show when={one.detail}>
                <span class="suggest-detail">{visible(one.detail ?? '')}</span>
              </Show>
            </div>
          )}
        </For>
      </div>
      <p class="suggest-foot" aria-hidden="true">
        {en.suggest.keys}
      </p>
    </div>
  );
}
