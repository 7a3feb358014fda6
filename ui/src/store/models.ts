/**
 * Which models there are, and which of them the next prompt goes to.
 *
 * A trusted project may bring models of its own, so the list is that of the project one is in.
 * What the person picked for a session goes first. Then a session goes on with the model of its
 * newest prompt, and an agent begins with its own if it has one. A new session begins with what
 * was picked last, or with the default of the list.
 */
import { createEffect, createMemo, createSignal, on, type Accessor } from 'solid-js';
import type { ModelList, ModelRef, ModelView, ProviderView, Settings } from '../protocol';
import type { Agents } from './agents';
import type { Core } from './app';

/** What a prompt is sent to, in the words of `PromptInput`. */
export interface Use {
  readonly model: ModelRef;
  readonly variant?: string;
}

interface Found {
  readonly provider: ProviderView;
  readonly model: ModelView;
}

export interface Models {
  /** Undefined until the core has told. */
  readonly list: Accessor<ModelList | undefined>;
  /** Something besides the demo model can answer. */
  readonly connected: Accessor<boolean>;
  /** Undefined while it is not known yet; the core decides then. */
  readonly current: Accessor<Use | undefined>;
  /** The same, if another agent answered. */
  by(agent: string | undefined): Use | undefined;
  find(model: ModelRef): Found | undefined;
  /** The model's name, or its id where the list does not know it. */
  nameOf(model: ModelRef): string;
  isFavourite(model: ModelRef): boolean;

  load(): Promise<void>;
  /** Asks again: what the project may bring has changed. */
  refresh(): Promise<void>;
  lookForLocal(): Promise<void>;
  choose(model: ModelRef): void;
  /** Undefined is the model's own default. */
  chooseVariant(variant: string | undefined): void;
  toggleFavourite(model: ModelRef): void;
  /** What was picked there has been sent: the next prompt from there begins anew. */
  forget(where: string): void;
  /** Fails with the reason, for the page where the key was entered. */
  setKey(providerID: string, key: string): Promise<void>;
  removeKey(providerID: string): Promise<void>;
}

export const DEMO = 'demo';
const RECENT = 8;

export function keyOf(model: ModelRef): string {
  return `${model.providerID}/${model.modelID}`;
}

export function sameModel(a: ModelRef, b: ModelRef): boolean {
  return a.providerID === b.providerID && a.modelID === b.modelID;
}

interface Around {
  readonly core: Core;
  readonly settings: Readonly<Settings>;
  save(change: Partial<Settings>): void;
  readonly selected: Accessor<string | undefined>;
  readonly place: Accessor<string>;
  readonly agents: Agents;
}

export function createModels({ core, settings, save, selected, place, agents }: Around): Models {
  const { host, state, attempt } = core;
  const [list, setList] = createSignal<ModelList | undefined>();
  const [picked, setPicked] = createSignal<Readonly<Record<string, Use>>>({});

  const index = createMemo(() => {
    const all = (list()?.providers ?? []).flatMap((provider) =>
      provider.models.map((model): [string, Found] => [
        keyOf({ providerID: provider.id, modelID: model.id }),
        { provider, model },
      ]),
    );
    return new Map(all);
  });
  const find = (model: ModelRef) => index().get(keyOf(model));
  const connected = createMemo(() => [...index().values()].some(({ provider }) => isReal(provider)));

  const remembered = (model: ModelRef): Use => {
    const variant = settings.variants[keyOf(model)];
    return variant !== undefined && find(model)?.model.variants.includes(variant) ? { model, variant } : { model };
  };
  const fresh = createMemo((): Use | undefined => {
    const known = list();
    if (!known) return undefined;
    const recent = settings.recentModels.find((model) => find(model)?.provider.ready);
    return remembered(recent ?? known.default);
  });
  /** What the newest prompt of the session on screen went to; undefined where there is none. */
  const before = createMemo((): Use | undefined => {
    const { model, variant } = state.timeline.open()?.lastUse ?? {};
    // Nobody picks the demo model over a real one: it answered because there was none.
    if (!model || (model.providerID === DEMO && connected())) return undefined;
    return variant === undefined ? { model } : { model, variant };
  });
  /** A session, or the empty page on which one would begin; an edited prompt is its session's. */
  const home = () => selected() ?? place();
  const by = (name: string | undefined): Use | undefined => {
    const picks = picked()[home()];
    if (picks) return picks;
    const own = agents.find(name)?.model;
    if (selected() === undefined) return own ? { model: own } : fresh();
    const open = state.timeline.open();
    if (open?.sessionID !== selected()) return undefined;
    const last = open?.lastUse?.agent;
    const went = before();
    // Where its newest prompt went elsewhere than to the agent's own, somebody wanted that.
    if (went && last === name) return went;
    if (own) return { model: own };
    // The model of another agent is that agent's, not the session's.
    const theirs = agents.find(last)?.model;
    return went && !(theirs && last !== name && sameModel(theirs, went.model)) ? went : fresh();
  };
  const current = createMemo(() => by(agents.current()));

  /** The pick belongs to this session; that it was the latest is what a new one goes by. */
  const pick = (use: Use) => setPicked((all) => ({ ...all, [home()]: use }));
  const projectID = () => core.project()?.id;
  let loaded = false;
  let asked = 0;
  const refresh = async () => {
    asked += 1;
    const turn = asked;
    const told = await attempt(() => host.listModels(projectID()));
    // What was asked before another project was opened, or a key was entered, is old.
    if (told && turn === asked) setList(told);
  };
  /** What changes the list answers with the person's own; the project's is asked for. */
  const lookForLocal = async () => {
    await attempt(() => host.findLocalModels());
    await refresh();
  };
  createEffect(on(projectID, () => void (loaded && refresh()), { defer: true }));

  return {
    list,
    connected,
    current,
    by,
    find,
    nameOf: (model) => find(model)?.model.name ?? model.modelID,
    isFavourite: (model) => settings.favouriteModels.some((one) => sameModel(one, model)),
    async load() {
      loaded = true;
      await refresh();
      await lookForLocal();
    },
    refresh,
    lookForLocal,
    choose(model) {
      pick(remembered(model));
      const others = settings.recentModels.filter((one) => !sameModel(one, model));
      save({ recentModels: [model, ...others].slice(0, RECENT) });
    },
    chooseVariant(variant) {
      const model = current()?.model;
      if (!model) return;
      pick(variant === undefined ? { model } : { model, variant });
      const { [keyOf(model)]: _before, ...others } = settings.variants;
      save({ variants: variant === undefined ? others : { ...others, [keyOf(model)]: variant } });
    },
    toggleFavourite(model) {
      const others = settings.favouriteModels.filter((one) => !sameModel(one, model));
      const added = others.length === settings.favouriteModels.length;
      save({ favouriteModels: added ? [...others, model] : others });
    },
    forget(where) {
      setPicked(({ [where]: _sent, ...others }) => others);
    },
    async setKey(providerID, key) {
      await host.setKey(providerID, key, projectID());
      await refresh();
    },
    async removeKey(providerID) {
      await host.removeKey(providerID, projectID());
      await refresh();
    },
  };
}

function isReal(provider: ProviderView): boolean {
  return provider.ready && provider.id !== DEMO;
}
