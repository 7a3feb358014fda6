import { describe, expect, test } from 'vitest';
import { createFakeModels } from '../host/fake/models';
import type { ModelRef } from '../protocol';
import { sectionsOf, type Section } from './sections';

const ref = (providerID: string, modelID: string): ModelRef => ({ providerID, modelID });
const nothing = { favouriteModels: [], recentModels: [] };

async function names(query: string, kept: Partial<typeof nothing> | object = {}, connected = true) {
  const list = await createFakeModels(connected).listModels();
  const title = (section: Section) => (section.kind === 'provider' ? section.provider.id : section.kind);
  return sectionsOf(list, { ...nothing, ...kept }, query).map((section) => [
    title(section),
    ...section.entries.map((entry) => entry.model.id),
  ]);
}

describe('the list of models', () => {
  test('has the ready providers first, then the demo model, then those without a key', async () => {
    expect(await names('')).toEqual([
      ['anthropic', 'claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5'],
      ['ollama', 'qwen3:8b'],
      ['demo', 'demo'],
      ['google', 'gemini-2.5-pro'],
      ['openai', 'gpt-5.1', 'gpt-5-mini'],
      ['workshop', 'house-model'],
    ]);
  });

  test('begins with favourites and recent ones, each once, and forgets models that are gone', async () => {
    const kept = {
      favouriteModels: [ref('ollama', 'qwen3:8b'), ref('gone', 'gone')],
      recentModels: [ref('anthropic', 'claude-haiku-4-5'), ref('ollama', 'qwen3:8b')],
    };
    expect((await names('', kept)).slice(0, 2)).toEqual([
      ['favourites', 'qwen3:8b'],
      ['recent', 'claude-haiku-4-5'],
    ]);
  });

  test.each([
    ['sonnet', ['claude-sonnet-4-5']],
    ['anthropic son', ['claude-sonnet-4-5']],
    ['SNT', ['claude-sonnet-4-5']],
    ['gpt mini', ['gpt-5-mini']],
    ['openai', ['gpt-5.1', 'gpt-5-mini']],
    ['nothing like it', []],
  ])('finds by provider and model: "%s"', async (query, expected) => {
    expect((await names(query))[0] ?? ['found']).toEqual(['found', ...expected]);
  });

  test('ranks the start of a word before its middle, and favourites before equal matches', async () => {
    expect((await names('5'))[0]?.slice(1, 4)).toEqual(['claude-opus-4-5', 'claude-sonnet-4-5', 'claude-haiku-4-5']);
    const liked = { recentModels: [ref('anthropic', 'claude-haiku-4-5')] };
    expect((await names('claude', liked))[0]?.[1]).toBe('claude-haiku-4-5');
  });
});
