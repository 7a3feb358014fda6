import Brain from 'lucide-solid/icons/brain';
import Check from 'lucide-solid/icons/check';
import Image from 'lucide-solid/icons/image';
import Star from 'lucide-solid/icons/star';
import { Show } from 'solid-js';
import { en } from '../i18n/en';
import { contextSize, price } from '../text/format';
import { visibleLine } from '../text/visible';
import type { PriceView } from '../protocol';
import { useApp } from '../store/context';
import type { Entry } from './sections';

interface ModelRowProps {
  readonly id: string;
  readonly entry: Entry;
  readonly withProvider: boolean;
  /** Selected with the arrow keys. */
  readonly active: boolean;
  readonly inUse: boolean;
  readonly onMark: () => void;
  readonly onChoose: () => void;
}

export function ModelRow(props: ModelRowProps) {
  const app = useApp();
  const model = () => props.entry.model;
  const favourite = () => app.models.isFavourite(props.entry.ref);
  const cost = () => (props.entry.provider.ready ? said(model().price) : en.models.addKey);

  return (
    <div
      role="option"
      id={props.id}
      class="filter-row model-row"
      data-model={props.entry.key}
      data-active={props.active ? '' : undefined}
      data-ready={props.entry.provider.ready ? '' : undefined}
      aria-selected={props.inUse}
      onPointerMove={() => !props.active && props.onMark()}
      onClick={props.onChoose}
    >
      {/* Not a control of its own: a row of a listbox holds none. The key for it is in the foot. */}
      <span
        class="model-star"
        aria-hidden="true"
        data-on={favourite() ? '' : undefined}
        title={favourite() ? en.models.unfavourite : en.models.favourite}
        onPointerDown={(event) => event.preventDefault()}
        onClick={(event) => {
          event.stopPropagation();
          app.models.toggleFavourite(props.entry.ref);
        }}
      >
        <Star size={14} />
      </span>
      <span class="model-name">
        {visibleLine(model().name)}
        <Show when={props.withProvider}>
          <span class="model-provider">{visibleLine(props.entry.provider.name)}</span>
        </Show>
        <Show when={favourite()}>
          <span class="visually-hidden">{en.models.isFavourite}</span>
        </Show>
      </span>
      <span class="model-marks">
        <Show when={model().images}>
          <span title={en.models.images}>
            <Image size={13} aria-hidden="true" />
            <span class="visually-hidden">{en.models.images}</span>
          </span>
        </Show>
        <Show when={model().reasoning}>
          <span title={en.models.reasoning}>
            <Brain size={13} aria-hidden="true" />
            <span class="visually-hidden">{en.models.reasoning}</span>
          </span>
        </Show>
      </span>
      <span class="model-context" title={en.models.context(model().context)}>
        {contextSize(model().context)}
      </span>
      <span class="model-price" title={detail(model().price)}>
        {cost()}
      </span>
      <span class="model-check">
        <Show when={props.inUse}>
          <Check size={14} aria-hidden="true" />
        </Show>
      </span>
    </div>
  );
}

function said(known: PriceView | undefined): string {
  if (!known) return en.models.priceUnknown;
  if (known.input === 0 && known.output === 0) return en.models.free;
  return en.models.price(price(known.input), price(known.output));
}

function detail(known: PriceView | undefined): string | undefined {
  if (!known) return undefined;
  const { input, output, longInput, longOutput } = known;
  const usual = en.models.priceDetail(price(input), price(output));
  if (longInput === undefined && longOutput === undefined) return usual;
  return `${usual}. ${en.models.priceLong(price(longInput ?? input), price(longOutput ?? output))}`;
}
