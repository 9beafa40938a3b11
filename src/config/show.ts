import { catalogueKey, type CatalogueConfig } from './catalogue.ts';
import { isTomlTable } from '../base/toml-statements.ts';
import { MCP_SECTION, type McpTable } from './mcp-tables.ts';
import type { ConfigSource, Setting } from './setting.ts';
import { ALL_KEYS, type KeyEntry } from './key-entry.ts';
import type { LoadedConfig } from './load.ts';
import type { ProviderConfig } from './providers.ts';

/** One line of `config show`: a key, its value, and the source of the value. */
export interface ConfigEntry {
  readonly key: string;
  /** The value, or null if the key is not set. Then `default` describes how the value is decided. */
  readonly value: unknown;
  /** The default value as text. */
  readonly default: string;
  /**
   * The source of the value: `default`, `FILE:LINE`, an environment variable or a flag. For a list that several layers
   * add to, all their sources.
   */
  readonly source: string;
  /** Whether the value has an effect in this version. At present every key has one, so this is always true. */
  readonly acts: boolean;
  readonly meaning: string;
}

/** A setting that the user can change, with the values that it accepts. */
export interface UserSetting extends Omit<ConfigEntry, 'acts'> {
  /** The valid values as messages show them. */
  readonly expects: string;
  /** All valid values as text, if there are only a few; else null. */
  readonly choices: readonly string[] | null;
}

/** Lists the settings that a user can change one by one, in the order of the table of keys. */
export function listUserSettings(loaded: Pick<LoadedConfig, 'settings'>): readonly UserSetting[] {
  return ALL_KEYS.flatMap((entry) => {
    const setting = loaded.settings.get(entry.key);
    if (setting === undefined) return [];
    const { acts: _, ...line } = createKeyLine(entry, setting);
    const { expects, schema } = entry.spec;
    const isBoolean = schema['type'] === 'boolean';
    const choices = isBoolean ? ['true', 'false'] : (entry.spec.choices ?? null);
    return [{ ...line, expects, choices }];
  });
}

/** Lists all keys in the order of the table of keys, then the configured providers, models and MCP servers. */
export function listConfigEntries(loaded: LoadedConfig): readonly ConfigEntry[] {
  const keys = ALL_KEYS.flatMap((entry) => {
    const setting = loaded.settings.get(entry.key);
    return setting === undefined ? [] : [createKeyLine(entry, setting)];
  });
  const providers = Array.from(loaded.config.models.providers, createProviderLine);
  const models = Array.from(loaded.config.models.catalogue, createModelLine);
  const servers = Array.from(loaded.config.mcp?.servers ?? [], createServerLine);
  return [...keys, ...providers, ...models, ...servers];
}

function createKeyLine(entry: KeyEntry, setting: Setting): ConfigEntry {
  const { spec } = entry;
  return {
    key: entry.key,
    value: setting.value,
    default: spec.defaultText ?? JSON.stringify(spec.default),
    source: describeSources(setting),
    acts: true,
    meaning: spec.meaning,
  };
}

function describeSources({ source, items }: Setting): string {
  if (items.length === 0) return describeSource(source);
  return [...new Set(items.map((item) => describeSource(item.source)))].join(', ');
}

function describeSource(source: ConfigSource): string {
  return source.kind === 'default' ? 'default' : source.where;
}

function createProviderLine([name, provider]: readonly [string, ProviderConfig]): ConfigEntry {
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

function createModelLine([name, model]: readonly [string, CatalogueConfig]): ConfigEntry {
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

/** Values of variables and headers may be secret, so only their names are shown. */
function createServerLine([name, { table, where }]: readonly [string, McpTable]): ConfigEntry {
  const fields = Object.entries(table).map(([field, value]) => [
    field,
    isTomlTable(value) ? Object.keys(value) : value,
  ]);
  return {
    key: `${MCP_SECTION}.${name}`,
    value: Object.fromEntries(fields),
    default: 'none',
    source: where,
    acts: true,
    meaning: 'an MCP server of yours',
  };
}
