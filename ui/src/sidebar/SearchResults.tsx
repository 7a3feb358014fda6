/** Full-text search results over all sessions, grouped by session. */
import { createEffect, createMemo, createSignal, For, on, onCleanup, Show } from 'solid-js';
import { en } from '../i18n/en';
import { ago } from '../text/format';
import { visible } from '../text/visible';
import type { SearchAnswer, SearchHit } from '../protocol';
import { useApp } from '../store/context';
import { useNow } from '../store/clock';
import { titleOf } from '../store/titles';

/** Shorter queries match nearly everything. */
const SHORTEST = 2;
const PAUSE = 120;
/** The delay before asking again while the index is being built. */
const AGAIN = 1000;
/** The maximum number of hits. One more is requested, to know whether there are more. */
const MOST = 100;
/** Hits per session before "more" is clicked. */
const FIRST = 3;

export function SearchResults(props: { words: string; onNavigate: () => void; onCount?: (count: number) => void }) {
  const app = useApp();
  const [answer, setAnswer] = createSignal<SearchAnswer | undefined>();
  const [looking, setLooking] = createSignal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let question = 0;

  const ask = async (words: string) => {
    const mine = ++question;
    const found = await app.attempt(() => app.host.search(words, MOST + 1));
    if (mine !== question) return;
    setLooking(false);
    setAnswer(found);
    if (found?.indexing) timer = setTimeout(() => void ask(words), AGAIN);
  };
  createEffect(
    on(
      () => props.words.trim(),
      (words) => {
        clearTimeout(timer);
        question += 1;
        if (words.length < SHORTEST) {
          setAnswer(undefined);
          setLooking(false);
          return;
        }
        setLooking(true);
        timer = setTimeout(() => void ask(words), PAUSE);
      },
    ),
  );
  onCleanup(() => clearTimeout(timer));

  const groups = createMemo(() => {
    const found = new Map<string, SearchHit[]>();
    for (const hit of answer()?.hits.slice(0, MOST) ?? []) found.set(hit.sessionID, [...(found.get(hit.sessionID) ?? []), hit]);
    return [...found.values()];
  });
  createEffect(() => props.onCount?.(groups().length));
  const note = () => {
    if (answer()?.indexing) return en.search.indexing;
    if (looking() && !answer()) return en.search.looking;
    if ((answer()?.hits.length ?? 0) > MOST) return en.search.most(MOST);
    return groups().length === 0 ? en.search.none : '';
  };

  return (
    <Show when={props.words.trim().length >= SHORTEST}>
      <section class="search-results" data-testid="search-results" aria-label={en.search.title}>
        <h2 class="search-title">{en.search.title}</h2>
        <For each={groups()}>{(hits) => <Group hits={hits} onNavigate={props.onNavigate} />}</For>
        <p class="sidebar-note" role="status">
          {note()}
        </p>
      </section>
    </Show>
  );
}

function Group(props: { hits: readonly SearchHit[]; onNavigate: () => void }) {
  const app = useApp();
  const now = useNow();
  const [all, setAll] = createSignal(false);
  const first = () => props.hits[0] as SearchHit;
  const shown = () => (all() ? props.hits : props.hits.slice(0, FIRST));
  const title = () => titleOf(app.sessions.get(first().sessionID) ?? first());
  return (
    <div class="search-group">
      <div class="search-session" title={title()}>
        <span>{title()}</span>
      </div>
      <ul>
        <For each={shown()}>
          {(hit) => (
            <li>
              <button
                type="button"
                class="search-hit"
                data-row
                data-message-id={hit.messageID}
                onClick={() =>
                  void app
                    .select(hit.sessionID, { messageID: hit.messageID, partID: hit.partID })
                    .then(props.onNavigate)
                }
              >
                <span class="search-snippet">
                  <For each={hit.snippet}>
                    {(piece) => (piece.hit ? <mark>{visible(piece.text)}</mark> : <>{visible(piece.text)}</>)}
                  </For>
                </span>
                <span class="search-about">
                  {[en.search.kinds[hit.kind], ago(hit.at, now())].filter(Boolean).join(' · ')}
                </span>
              </button>
            </li>
          )}
        </For>
      </ul>
      <Show when={!all() && props.hits.length > FIRST}>
        <button type="button" class="sidebar-more" data-row onClick={() => setAll(true)}>
          {en.search.more(props.hits.length - FIRST)}
        </button>
      </Show>
    </div>
  );
}
