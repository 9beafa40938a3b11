import { catalogueKey, type CatalogueConfig } from './catalogue.ts';
import type { ConfigSource, Setting } from './setting.ts';
import { ALL_KEYS, type KeyEntry } from './key-entry.ts';
import type { LoadedConfig } from './load.ts';
import type { ProviderConfig } from './providers.ts';

/** One line of `config show`: a key, its value, and the source of the value. */
export interface ConfigEntry {
  readonly key: string;
  /** The value, or null if it is not set; then `default` says how it is decided. */
  readonly value: unknown;
  /** The default as text. */
  readonly default: string;
  /**
   * `default`, `FILE:LINE`, a variable or a flag. For a list that several layers add to, all of them.
   */
  readonly source: string;
  /** True: the value has an effect in this version, as every key has now. */
  readonly acts: boolean;
  readonly meaning: string;
}

/** Lists all keys in the order of the table, then the configured providers and models. */
export function configEntries(loaded: LoadedConfig): readonly ConfigEntry[] {
  const keys = ALL_KEYS.flatMap((entry) => {
    const setting = loaded.settings.get(entry.key);
    return setting === undefined ? [] : [keyEntryOf(entry, setting)];
  });
  const providers = Array.from(loaded.config.models.providers, providerEntry);
  const models = Array.from(loaded.config.models.catalogue, modelEntry);
  return [...keys, ...providers, ...models];
}

function keyEntryOf(entry: KeyEntry, setting: Setting): ConfigEntry {
  const { spec } = entry;
  return {
    key: entry.key,
    value: setting.value,
    default: spec.defaultText ?? JSON.stringify(spec.default),
    source: sourceText(setting),
    acts: true,
    meaning: spec.meaning,
  };
}

function sourceText({ source, items }: Setting): string {
  if (items.length === 0) return describeSource(source);
  return [...new Set(items.map((item) => describeSource(item.source)))].join(', ');
}

function describeSource(source: ConfigSource): string {
  return source.kind === 'default' ? 'default' : source.where;
}

function providerEntry([name, provider]: readonly [string, ProviderConfig]): ConfigEntry {
  return {
    key: `models.providers.${name}`,
    value: {
      ...(provider.kind === undefined ? {} : { kind: provider.kind }),
      ...(provider.baseUrl === undefined ? {} : { base_url: provider.baseUrl }),
      ...(provider.apiKeyEnv === undefined ? {} : { api_key_env: provider.apiKeyEnv }),
      ...(provider.omit === undefined ? {} : { omit: provider.omit }),
    },
    default: 'none',
    source: provider.source.where,
    acts: true,
    meaning: 'a provider of yours',
  };
}

function modelEntry([name, model]: readonly [string, CatalogueConfig]): ConfigEntry {
  const { contextWindow, outputLimit, attachments, price, source } = model;
  return {
    key: catalogueKey(name),
    value: {
      ...(contextWindow === undefined ? {} : { context_window: contextWindow }),
      ...(outputLimit === undefined ? {} : { output_limit: outputLimit }),
      ...(attachments === undefined ? {} : { attachments }),
      ...(price === undefined
        ? {}
        : {
            price_input: price.input,
            price_output: price.output,
            price_cache_read: price.cacheRead,
            price_cache_write: price.cacheWrite,
          }),
    },
    default: 'by catalogue',
    source: source.where,
    acts: true,
    meaning: 'what you say of a model; prices in USD per million tokens',
  };
}
