/** Providers of the scripted host: a few with keys, a few without, and servers on this machine. */
import type { KeyView, ModelList, ModelView, ProviderView } from '../../protocol';
import type { AddedProvider, Host } from '../host';

type Answers = Pick<
  Host,
  | 'listModels'
  | 'findLocalModels'
  | 'setKey'
  | 'removeKey'
  | 'testConnection'
  | 'addedProviders'
  | 'tryProvider'
  | 'saveProvider'
  | 'removeProvider'
>;

const idOf = (name: string) => name.toLowerCase().replace(/[^a-z0-9]+/g, '-');

const EFFORTS = ['low', 'medium', 'high'];

const catalog: readonly ProviderView[] = [
  cloud('anthropic', 'Anthropic', ['ANTHROPIC_API_KEY'], 'https://console.anthropic.com/settings/keys', [
    model('claude-opus-4-5', 'Claude Opus 4.5', 200_000, [5, 25], { images: true, pdf: true, variants: EFFORTS }),
    model('claude-sonnet-4-5', 'Claude Sonnet 4.5', 1_000_000, [3, 15], {
      images: true,
      pdf: true,
      variants: EFFORTS,
      price: { input: 3, output: 15, longInput: 6, longOutput: 22.5 },
    }),
    model('claude-haiku-4-5', 'Claude Haiku 4.5', 200_000, [1, 5], { images: true }),
  ]),
  cloud('google', 'Google Gemini', ['GEMINI_API_KEY', 'GOOGLE_API_KEY'], 'https://aistudio.google.com/apikey', [
    model('gemini-2.5-pro', 'Gemini 2.5 Pro', 1_048_576, [1.25, 10], { images: true, pdf: true, variants: EFFORTS }),
  ]),
  cloud('openai', 'OpenAI', ['OPENAI_API_KEY'], 'https://platform.openai.com/api-keys', [
    model('gpt-5.1', 'GPT-5.1', 400_000, [1.25, 10], { images: true, variants: ['minimal', ...EFFORTS] }),
    model('gpt-5-mini', 'GPT-5 mini', 400_000, [0.25, 2], { images: true, variants: EFFORTS }),
  ]),
  cloud('workshop', 'Workshop gateway', ['WORKSHOP_KEY'], undefined, [
    model('house-model', 'House model', 0, undefined, {}),
  ]),
  { ...local('ollama', 'Ollama') },
  { ...local('lmstudio', 'LM Studio') },
  {
    ...local('demo', 'Demo'),
    local: false,
    ready: true,
    models: [model('demo', 'Demo model', 32_000, [0, 0], {})],
  },
];

/** The models from the config of the project `orrery`. */
const OBSERVATORY: ProviderView = {
  ...local('observatory', 'Observatory'),
  local: false,
  ready: true,
  models: [model('sky', 'Sky model', 64_000, undefined, {})],
};

export function createFakeModels(connected: boolean): Answers {
  const keys = new Map<string, KeyView>();
  const added = new Map<string, AddedProvider>();
  if (connected) keys.set('anthropic', { hint: '…9f3c', source: 'ANTHROPIC_API_KEY', stored: false });

  const list = (): ModelList => {
    const own = [...added].map(([id, one]) => cloud(id, one.name, [], undefined, one.models.map((name) => model(name, name, 0, undefined, {}))));
    const providers = [...catalog, ...own].map((provider) => dressed(provider, keys.get(provider.id), connected));
    const real = providers.find((provider) => provider.ready && provider.id !== 'demo' && !provider.local);
    const first = real?.models[1] ?? real?.models[0];
    return {
      providers,
      default:
        real && first
          ? { providerID: real.id, modelID: first.id }
          : { providerID: 'demo', modelID: 'demo' },
      problems: connected ? ['Provider “shed”: `models.big.limit` has no `context`; the model is left out.'] : [],
    };
  };
  return {
    listModels: async (projectID) => {
      const all = list();
      return projectID === 'prj_orrery' ? { ...all, providers: [...all.providers, OBSERVATORY] } : all;
    },
    findLocalModels: async () => list(),
    setKey: async (providerID, key) => {
      if (/\s/.test(key)) throw { code: 'failed', message: 'A key has no spaces in it' };
      keys.set(providerID, { hint: `…${key.slice(-4)}`, source: 'keyring', stored: true });
      return list();
    },
    removeKey: async (providerID) => {
      keys.delete(providerID);
      return list();
    },
    addedProviders: async () => [...added.values()],
    tryProvider: async (provider) => {
      if (provider.baseUrl.includes('invalid')) throw { code: 'failed', message: 'Nothing answers at this address' };
      return ['lamp-small', 'lamp-large'];
    },
    saveProvider: async (provider, key) => {
      added.set(idOf(provider.name), provider);
      if (key !== '') keys.set(idOf(provider.name), { hint: `…${key.slice(-4)}`, source: 'keyring', stored: true });
      return list();
    },
    removeProvider: async (providerID) => {
      added.delete(providerID);
      return list();
    },
    testConnection: async (providerID) =>
      providerID === 'openai'
        ? { ok: false, message: 'OpenAI rejected the API key (401). Check for a typo or a revoked key.' }
        : { ok: true, message: 'Connected' },
  };
}

function dressed(provider: ProviderView, key: KeyView | undefined, connected: boolean): ProviderView {
  if (provider.needsKey) return key ? { ...provider, ready: true, key } : provider;
  if (provider.id !== 'ollama' || !connected) return provider;
  return { ...provider, ready: true, models: [model('qwen3:8b', 'qwen3:8b', 40_960, undefined, {})] };
}

function cloud(
  id: string,
  name: string,
  keyEnv: string[],
  keyPage: string | undefined,
  models: ModelView[],
): ProviderView {
  return { id, name, local: false, ready: false, needsKey: true, keyEnv, ...(keyPage && { keyPage }), models };
}

function local(id: string, name: string): ProviderView {
  return { id, name, local: true, ready: false, needsKey: false, keyEnv: [], models: [] };
}

function model(
  id: string,
  name: string,
  context: number,
  prices: readonly [number, number] | undefined,
  more: Partial<ModelView>,
): ModelView {
  const price = prices && { input: prices[0], output: prices[1] };
  const reasoning = (more.variants ?? []).length > 0;
  const plain = { images: false, pdf: false, tools: true, reasoning, variants: [] };
  return { id, name, context, output: 32_000, ...plain, ...(price && { price }), ...more };
}
