/** The suggestions above the composer, and which one is selected. */
import { batch, createMemo, createSignal, type Accessor } from 'solid-js';
import type { CommandView, Mention } from '../protocol';
import { match } from '../text/match';
import { insert, tokenAt, wordsOf, type Inserted, type Token } from './tokens';

export interface Suggestion {
  readonly kind: Mention['kind'] | 'command';
  readonly name: string;
  readonly detail?: string;
  readonly mention?: Mention;
}

interface Suggest {
  readonly list: Accessor<readonly Suggestion[]>;
  readonly active: Accessor<number>;
  readonly open: Accessor<boolean>;
  /** While the list is for an older text: resolves once it is for the present one. */
  readonly pending: Accessor<Promise<void> | undefined>;
  /** The text or the caret changed. */
  look(text: string, caret: number): void;
  mark(index: number): void;
  move(step: number): void;
  /** Hides the list until another token begins. */
  dismiss(): void;
  /** `into` continues inside a folder instead of mentioning it. */
  choose(text: string, index: number, into: boolean): (Inserted & { readonly picked: Suggestion }) | undefined;
}

interface Sources {
  findMentions(query: string): Promise<readonly Mention[]>;
  readonly commands: Accessor<readonly CommandView[]>;
  /** Called when a `/` is typed: the commands may have changed. */
  refreshCommands(): void;
}

export function createSuggest(sources: Sources): Suggest {
  const [token, setToken] = createSignal<Token | undefined>();
  const [mentions, setMentions] = createSignal<readonly Mention[]>([]);
  const [active, setActive] = createSignal(0);
  const [dismissed, setDismissed] = createSignal<number | undefined>();
  const [pending, setPending] = createSignal<Promise<void> | undefined>();
  let asked = 0;

  const list = createMemo((): readonly Suggestion[] => {
    const now = token();
    if (!now || now.start === dismissed()) return [];
    return now.kind === 'command' ? commandsFor(sources.commands(), now.query) : mentions().map(shown);
  });
  const ask = async (query: string) => {
    asked += 1;
    const mine = asked;
    const found = await sources.findMentions(query);
    // Overtaken by a newer query.
    if (mine !== asked) return;
    batch(() => {
      setPending(undefined);
      setMentions(found);
      setActive(0);
    });
  };

  return {
    list,
    active,
    open: () => list().length > 0,
    pending: () => (token()?.start === dismissed() ? undefined : pending()),
    look(text, caret) {
      const before = token();
      const next = tokenAt(text, caret);
      setToken(next);
      if (!next) {
        asked += 1;
        setMentions([]);
        setPending(undefined);
        setDismissed(undefined);
        return;
      }
      if (next.start !== before?.start) setDismissed(undefined);
      if (next.kind === 'command' && before?.kind !== 'command') sources.refreshCommands();
      if (next.query === before?.query && next.kind === before.kind && next.start === before.start) return;
      setActive(0);
      setPending(next.kind === 'mention' ? ask(next.query) : undefined);
    },
    mark: setActive,
    move: (step) => setActive((now) => (now + step + list().length) % Math.max(1, list().length)),
    dismiss: () => setDismissed(token()?.start),
    choose(text, index, into) {
      const picked = list()[index];
      const where = token();
      if (!picked || !where) return undefined;
      const words = picked.mention ? wordsOf(picked.mention) : `/${picked.name}`;
      const goOn = into && picked.kind === 'directory';
      return { ...insert(text, where, goOn ? words.replace(/"$/, '') : words, !goOn), picked };
    },
  };
}

function shown(mention: Mention): Suggestion {
  switch (mention.kind) {
    case 'file':
      return { kind: 'file', name: mention.path, mention };
    case 'directory':
      return { kind: 'directory', name: `${mention.path.replace(/\/+$/, '')}/`, mention };
    case 'symbol':
      return { kind: 'symbol', name: mention.name, detail: `${mention.path}:${mention.line}`, mention };
    case 'agent':
      return { kind: 'agent', name: mention.name, detail: mention.description, mention };
  }
}

/** Names that begin with what was typed come first. */
function commandsFor(commands: readonly CommandView[], query: string): readonly Suggestion[] {
  const kinds = new Map(commands.map((command) => [command, match(command.name, query)?.kind]));
  const begin = commands.filter((command) => kinds.get(command) === 'prefix');
  const contain = commands.filter((command) => ['word', 'inside'].includes(kinds.get(command) ?? ''));
  return [...begin, ...contain].map(({ name, hint, description }) => ({
    kind: 'command',
    name,
    detail: hint ? `${hint}  ${description}` : description,
  }));
}
