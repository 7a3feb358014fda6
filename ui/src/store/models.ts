/**
 * The models, and which of them gets the next prompt.
 *
 * The list belongs to the current project, because a trusted project may add models. A model that the
 * person picked for the session comes first. Otherwise a session continues with the model of its newest
 * prompt, and an agent starts with its own model if it has one. A new session starts with the last pick,
 * or with the default of the list.
 */
import { createEffect, createMemo, createSignal, on, type Accessor } from 'solid-js';
import type { ModelList, ModelRef, ModelView, ProviderView, Settings } from '../protocol';
import type { AddedProvider } from '../host/host';
import type { Agents } from './agents';
import type { Core } from './app';

/** The model of a prompt, as in `PromptInput`. */
export interface Use {
  readonly model: ModelRef;
  readonly variant?: string;
}

interface Found {
  readonly provider: ProviderView;
  readonly model: ModelView;
}

export interface Models {
  /** Undefined until it is loaded. */
  readonly list: Accessor<ModelList | undefined>;
  /** A model besides the demo model is ready. */
  readonly connected: Accessor<boolean>;
  /** Undefined until it is known; the core decides then. */
  readonly current: Accessor<Use | undefined>;
  /** The model for another agent. */
  by(agent: string | undefined): Use | undefined;
  find(model: ModelRef): Found | undefined;
  /** The model's name, or its id if it is not in the list. */
  nameOf(model: ModelRef): string;
  isFavourite(model: ModelRef): boolean;

  load(): Promise<void>;
  /** Loads the list again, for example after the project was trusted. */
  refresh(): Promise<void>;
  lookForLocal(): Promise<void>;
  choose(model: ModelRef): void;
  /** Undefined for the model's default. */
  chooseVariant(variant: string | undefined): void;
  toggleFavourite(model: ModelRef): void;
  /** Forgets the pick of a place after its prompt was sent. */
  forget(where: string): void;
  /** Rejects with the reason, for the page where the key was entered. */
  setKey(providerID: string, key: string): Promise<void>;
  removeKey(providerID: string): Promise<void>;
  saveProvider(provider: AddedProvider, key: string): Promise<void>;
  /** By its name. */
  removeProvider(name: string): Promise<void>;
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
  /** The model of the newest prompt of the open session; undefined if there is none. */
  const before = createMemo((): Use | undefined => {
    const { model, variant } = state.timeline.open()?.lastUse ?? {};
    // The demo model only answered because no other model was connected.
    if (!model || (model.providerID === DEMO && connected())) return undefined;
    return variant === undefined ? { model } : { model, variant };
  });
  /** The session, or the empty page; an edited prompt counts for its session. */
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
    // If the newest prompt used another model than the agent's own, the person chose that.
    if (went && last === name) return went;
    if (own) return { model: own };
    // The own model of another agent is not carried over.
    const theirs = agents.find(last)?.model;
    return went && !(theirs && last !== name && sameModel(theirs, went.model)) ? went : fresh();
  };
  const current = createMemo(() => by(agents.current()));

  /** A pick is valid for this session; new sessions use the most recent one. */
  const pick = (use: Use) => setPicked((all) => ({ ...all, [home()]: use }));
  const projectID = () => core.project()?.id;
  let loaded = false;
  let asked = 0;
  const refresh = async () => {
    asked += 1;
    const turn = asked;
    const told = await attempt(() => host.listModels(projectID()));
    // Ignores an answer that a newer request has overtaken.
    if (told && turn === asked) setList(told);
  };
  /** The call returns the person's models; those of the project must be loaded. */
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
    async saveProvider(provider, key) {
      await host.saveProvider(provider, key, projectID());
      await refresh();
    },
    async removeProvider(name) {
      await host.removeProvider(addedID(name), projectID());
      await refresh();
    },
    async removeKey(providerID) {
      await host.removeKey(providerID, projectID());
      await refresh();
    },
  };
}

/** The id that the core gives a provider of this name. */
function addedID(name: string): string {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')
    .join('-');
}

function isReal(provider: ProviderView): boolean {
  return provider.ready && provider.id !== DEMO;
}
