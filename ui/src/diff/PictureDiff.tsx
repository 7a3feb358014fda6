/** A picture before and after: beside each other, one under the other with a slider, or their difference. */
import { createSignal, For, Match, Show, Switch } from 'solid-js';
import { en } from '../i18n/en';

type Way = 'beside' | 'swipe' | 'difference';
const WAYS: readonly Way[] = ['beside', 'swipe', 'difference'];

/** Addresses of the two; absent on the side where there is none. */
export function PictureDiff(props: { old: string | undefined; new: string | undefined; name: string }) {
  const [way, setWay] = createSignal<Way>('beside');
  const [part, setPart] = createSignal(50);
  const both = () => props.old !== undefined && props.new !== undefined;
  const shown = () => (both() ? way() : 'beside');
  return (
    <div class="picture-diff" role="group" aria-label={en.diff.pictures.label}>
      <Show when={both()}>
        <div class="picture-ways" role="radiogroup" aria-label={en.diff.pictures.label}>
          <For each={WAYS}>
            {(one) => (
              <button type="button" role="radio" data-way={one} aria-checked={way() === one} onClick={() => setWay(one)}>
                {en.diff.pictures[one]}
              </button>
            )}
          </For>
        </div>
      </Show>
      <Switch>
        <Match when={shown() === 'beside'}>
          <div class="picture-beside">
            <Side label={en.diff.pictures.old} url={props.old} name={props.name} />
            <Side label={en.diff.pictures.new} url={props.new} name={props.name} />
          </div>
        </Match>
        <Match when={shown() === 'swipe'}>
          <div class="picture-stack">
            <img src={props.new} alt={`${en.diff.pictures.new}: ${props.name}`} />
            <img
              class="picture-top"
              src={props.old}
              alt={`${en.diff.pictures.old}: ${props.name}`}
              style={{ 'clip-path': `inset(0 ${100 - part()}% 0 0)` }}
            />
          </div>
          <input
            type="range"
            min="0"
            max="100"
            value={part()}
            aria-label={en.diff.pictures.swipeAt}
            onInput={(event) => setPart(Number(event.currentTarget.value))}
          />
        </Match>
        <Match when={shown() === 'difference'}>
          <div class="picture-stack" data-difference>
            <img src={props.new} alt={`${en.diff.pictures.new}: ${props.name}`} />
            <img class="picture-top" src={props.old} alt={`${en.diff.pictures.old}: ${props.name}`} />
          </div>
        </Match>
      </Switch>
    </div>
  );
}

function Side(props: { label: string; url: string | undefined; name: string }) {
  const [failed, setFailed] = createSignal(false);
  return (
    <figure data-side={props.label}>
      <figcaption>{props.label}</figcaption>
      <Show when={props.url} fallback={<p>{en.diff.pictures.none}</p>}>
        <Show when={!failed()} fallback={<p>{en.diff.pictures.failed}</p>}>
          <img src={props.url} alt={`${props.label}: ${props.name}`} onError={() => setFailed(true)} />
        </Show>
      </Show>
    </figure>
  );
}
