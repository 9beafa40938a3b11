import {
  ADJUSTMENT_NAMES,
  type AdjustmentName,
  isAdjustment,
} from '../model/settings/adjustment-names.ts';
import { SERVICE_TIERS } from '../model/settings/clouds.ts';
import { PROVIDER_KINDS, type ProviderSettings } from '../model/settings/model-settings.ts';
import type { JsonObject } from '../base/json.ts';
import { escapePathPattern } from '../policy/rules/path-pattern.ts';
import { printRule } from '../policy/rules/rules.ts';
import type { PermissionRule } from '../protocol/permission.ts';
import type { ConfigProblem, ValueSource } from './setting.ts';
import { escapeLine, quoteValue } from './message-text.ts';
import type { TomlFile } from './parse-toml.ts';
import { isTomlTable } from '../base/toml-statements.ts';
import { sortByNearness } from '../base/name-suggestions.ts';

/**
 * The settings of `[models.providers.NAME]` in a file. If Muster knows the provider's name, missing settings have
 * defaults.
 */
export interface ProviderConfig extends ProviderSettings {
  readonly source: ValueSource;
}

/** A key of a provider's table. */
interface ProviderKey {
  readonly expects: string;
  /** The JSON Schema of the values in a file. It accepts all valid values, but may also accept invalid ones. */
  readonly schema: JsonObject;
  /** Returns the setting for a value, or undefined if the value is not valid. */
  read(value: unknown): ProviderSettings | undefined;
}

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const PROVIDER_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const REGION = /^[a-z][a-z0-9-]{1,40}$/;
const CLOUD_NAME = /^[a-z][a-z0-9.:-]{0,127}$/;
const PROFILE = /^\S(?:.{0,126}\S)?$/;
const RESOURCE = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/;
const DEPLOYMENT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Relative paths would depend on the directory in which Muster is started. */
const KEY_FILE = /^(?:~?\/|[A-Za-z]:\\)./;
const MAX_TTL_SECONDS = 86_400;
/** The settings that name a key, of which a provider has at most one. */
const KEY_SETTINGS: ReadonlySet<string> = new Set([
  'api_key_env',
  'api_key_command',
  'api_key_file',
  'account',
]);

const PROVIDER_KEYS: ReadonlyMap<string, ProviderKey> = new Map(
  Object.entries<ProviderKey>({
    base_url: {
      expects: 'an http or https address without a user name, like "http://localhost:8080/v1"',
      schema: { type: 'string' },
      read: (value) => (isBaseUrl(value) ? { baseUrl: value } : undefined),
    },
    api_key_env: {
      expects:
        'the name of an environment variable, like "ANTHROPIC_API_KEY"; never write the API key itself into a file',
      schema: { type: 'string', pattern: VARIABLE_NAME.source },
      read: (value) =>
        typeof value === 'string' && VARIABLE_NAME.test(value) ? { apiKeyEnv: value } : undefined,
    },
    api_key_command: {
      expects:
        'a command that prints the key, like "pass show openrouter" or ["op", "read", "op://work/openrouter/key"]',
      schema: {
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }],
      },
      read: (value) => (isCommand(value) ? { apiKeyCommand: value } : undefined),
    },
    api_key_file: {
      expects: 'the absolute path of a file that holds the key, or one that begins with "~/"',
      schema: { type: 'string', pattern: KEY_FILE.source },
      read: (value) =>
        typeof value === 'string' && KEY_FILE.test(value) ? { apiKeyFile: value } : undefined,
    },
    api_key_ttl_seconds: {
      expects:
        'the number of seconds, from 1 to 86400, after which the command or file is read again',
      schema: { type: 'integer', minimum: 1, maximum: MAX_TTL_SECONDS },
      read: (value) => (isTtl(value) ? { apiKeyTtlSeconds: value } : undefined),
    },
    account: {
      expects: 'the name of an account that "muster login NAME --account ACCOUNT" has stored',
      schema: { type: 'string', pattern: PROVIDER_NAME.source },
      read: (value) =>
        typeof value === 'string' && PROVIDER_NAME.test(value) ? { account: value } : undefined,
    },
    kind: {
      expects: PROVIDER_KINDS.join(', '),
      schema: { enum: PROVIDER_KINDS },
      read: (value) => {
        const kind = PROVIDER_KINDS.find((candidate) => candidate === value);
        return kind === undefined ? undefined : { kind };
      },
    },
    region: {
      expects: 'the region of a cloud, like "us-east-1" (Amazon) or "global" (Google)',
      schema: { type: 'string', pattern: REGION.source },
      read: (value) => (isMatch(value, REGION) ? { region: value } : undefined),
    },
    project: {
      expects: 'the id of a project of Google Cloud, like "my-project-123"',
      schema: { type: 'string', pattern: CLOUD_NAME.source },
      read: (value) => (isMatch(value, CLOUD_NAME) ? { project: value } : undefined),
    },
    profile: {
      expects: 'the name of a profile of the AWS command line, like "work"',
      schema: { type: 'string', minLength: 1 },
      read: (value) => (isMatch(value, PROFILE) ? { profile: value } : undefined),
    },
    resource: {
      expects:
        'the name of an Azure resource, like "my-resource" (for https://my-resource.openai.azure.com)',
      schema: { type: 'string', pattern: RESOURCE.source },
      read: (value) => (isMatch(value, RESOURCE) ? { resource: value } : undefined),
    },
    deployment: {
      expects:
        'the name of the Azure deployment of the model, if it differs from the id of the model',
      schema: { type: 'string', pattern: DEPLOYMENT.source },
      read: (value) => (isMatch(value, DEPLOYMENT) ? { deployment: value } : undefined),
    },
    service_tier: {
      expects: `the level of service of a cloud: ${SERVICE_TIERS.join(', ')}`,
      schema: { enum: SERVICE_TIERS },
      read: (value) => {
        const serviceTier = SERVICE_TIERS.find((tier) => tier === value);
        return serviceTier === undefined ? undefined : { serviceTier };
      },
    },
    omit: {
      expects: `a list of the parts to leave out of its requests: ${ADJUSTMENT_NAMES.join(', ')}`,
      schema: { type: 'array', items: { enum: ADJUSTMENT_NAMES } },
      read: (value) => (isAdjustmentList(value) ? { omit: value } : undefined),
    },
  }),
);

/** JSON Schema of `[models.providers]` of a file. */
export function providersSchema(): JsonObject {
  const properties = [...PROVIDER_KEYS].map(([name, { schema, expects }]) => [
    name,
    { description: expects, ...schema },
  ]);
  return {
    type: 'object',
    description: 'providers of your own, by name',
    propertyNames: { pattern: PROVIDER_NAME.source },
    additionalProperties: {
      type: 'object',
      properties: Object.fromEntries(properties),
      additionalProperties: false,
    },
  };
}

function isMatch(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value);
}

function isAdjustmentList(value: unknown): value is readonly AdjustmentName[] {
  return Array.isArray(value) && value.every(isAdjustment);
}

function isCommand(value: unknown): value is string | readonly string[] {
  if (typeof value === 'string') return value.trim() !== '';
  return (
    Array.isArray(value) &&
    value.every((each) => typeof each === 'string') &&
    value[0] !== undefined &&
    value[0] !== ''
  );
}

function isTtl(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_TTL_SECONDS;
}

function isBaseUrl(value: unknown): value is string {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const url = new URL(value);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
}

/** Returns rules that keep agents from reading and changing the files that hold the keys of providers. */
export function denyKeyFiles(
  providers: ReadonlyMap<string, ProviderConfig>,
): readonly PermissionRule[] {
  return [...providers.values()].flatMap(({ apiKeyFile, source }) => {
    if (apiKeyFile === undefined) return [];
    // One more slash makes a pattern absolute.
    const specifier = `${apiKeyFile.startsWith('/') ? '/' : ''}${escapePathPattern(apiKeyFile)}`;
    return ['Read', 'Edit'].map((tool) => ({
      text: printRule({ tool, specifier }),
      tool,
      specifier,
      source,
    }));
  });
}

export interface ProvidersReading {
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  readonly problems: readonly ConfigProblem[];
}

/** Reads `[models.providers.*]` of a file. No message repeats a value, because the value could be an API key. */
export function readProviders(value: unknown, file: TomlFile): ProvidersReading {
  const path = ['models', 'providers'];
  if (!isTomlTable(value)) {
    return {
      providers: new Map(),
      problems: [{ where: file.where(path), message: 'write it as [models.providers.NAME]' }],
    };
  }
  const problems: ConfigProblem[] = [];
  const providers = new Map<string, ProviderConfig>();
  for (const [name, table] of Object.entries(value)) {
    const providerPath = [...path, name];
    const where = file.where(providerPath);
    if (!PROVIDER_NAME.test(name)) problems.push({ where, message: describeWrongName(name) });
    else if (isTomlTable(table)) {
      providers.set(name, readProvider(Object.entries(table), providerPath, file, problems));
    } else {
      problems.push({ where, message: `write it as a table: [models.providers.${name}]` });
    }
  }
  return { providers, problems };
}

function describeWrongName(name: string): string {
  return `${quoteValue(name)} is not a valid provider name; use at most 64 letters, digits, "-", "_" and "."`;
}

function readProvider(
  entries: readonly (readonly [string, unknown])[],
  path: readonly string[],
  file: TomlFile,
  problems: ConfigProblem[],
): ProviderConfig {
  const provider: ProviderConfig = { source: { kind: 'config', where: file.where(path) } };
  for (const [name, value] of entries) {
    const where = file.where([...path, name]);
    const key = PROVIDER_KEYS.get(name);
    const read = key?.read(value);
    if (key === undefined) {
      const valid = sortByNearness(name, [...PROVIDER_KEYS.keys()]).join(', ');
      problems.push({
        where,
        message: `unknown key "${escapeLine(name)}" in [${escapeLine(path.join('.'))}]; valid: ${valid}`,
      });
    } else if (read === undefined) {
      problems.push({
        where,
        message: `${escapeLine(path.join('.'))}.${name} must be ${key.expects}`,
      });
    } else {
      Object.assign(provider, read);
    }
  }
  const named = entries.map(([name]) => name).filter((name) => KEY_SETTINGS.has(name));
  if (named.length > 1) {
    const message = `${escapeLine(path.join('.'))} names several keys (${named.join(', ')}); keep one of them`;
    problems.push({ where: file.where([...path, named[1] ?? '']), message });
  }
  return provider;
}
