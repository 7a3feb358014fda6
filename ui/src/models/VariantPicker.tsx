import Brain from 'lucide-solid/icons/brain';
import { createMemo, Show } from 'solid-js';
import { en } from '../i18n/en';
import { Choice } from '../kit/Choice';
import { useApp } from '../store/context';

/** No variant has an empty name, so the empty name means the model's default. */
const DEFAULT = '';

/** Chooses the reasoning variant, for models that have any. */
export function VariantPicker() {
  const app = useApp();
  const variants = createMemo(() => {
    const use = app.models.current();
    return (use && app.models.find(use.model)?.model.variants) ?? [];
  });
  const options = () => [DEFAULT, ...variants()].map((value) => ({ value, label: nameOf(value) }));
  return (
    <Show when={variants().length > 0}>
      <Choice
        label={en.models.variant}
        testID="variant-picker"
        options={options()}
        value={app.models.current()?.variant ?? DEFAULT}
        onChoose={(value) => app.models.chooseVariant(value === DEFAULT ? undefined : value)}
      >
        <Brain size={13} aria-hidden="true" />
      </Choice>
    </Show>
  );
}

function nameOf(variant: string): string {
  return variant === DEFAULT ? en.models.variantDefault : variant.charAt(0).toUpperCase() + variant.slice(1);
}
