import { UsageError } from '../../base/errors.ts';
import { dropMissing } from '../../base/drop-missing.ts';
import type { StoredAccount } from '../../protocol/api-key.ts';
import type { Tier } from '../../protocol/model.ts';
import type { Environment } from '../../sys/env.ts';
import { CLAUDE_TIERS, CLOUDS, isCloudKind, type CloudKind } from '../settings/clouds.ts';
import { CLOUD_QUIRKS } from '../settings/cloud-quirks.ts';
import type { ProviderSettings } from '../settings/model-settings.ts';
import { isForServer } from './account-server.ts';
import { parseBaseUrl } from './base-url.ts';
import { findCloudAddresses, type CloudAddresses, type CloudDetails } from './cloud-address.ts';
import { findCredentials } from './cloud-credentials.ts';
import type { ConfiguredProvider } from './configured-provider.ts';
import { accountKey, configuredKey, type ProviderKey, readProviderKey } from './provider-key.ts';
import { isPrivateHost } from './vendors.ts';

/** The sources of what a cloud needs outside of the configuration. */
interface CloudSources {
  readonly env: Environment;
  readonly accounts: readonly StoredAccount[];
}

/** Creates the provider of a cloud from `[models.providers.NAME]`. Throws UsageError for a setting that is missing. */
export function createCloudProvider(
  { name, kind }: { readonly name: string; readonly kind: CloudKind },
  settings: ProviderSettings,
  sources: CloudSources,
): ConfiguredProvider {
  const setting = `models.providers.${name}`;
  const details = collectDetails(kind, settings, sources.env);
  const addresses = findCloudAddresses(kind, details, setting);
  return assemble({ name, kind, source: setting, addresses, details, sources, settings });
}

interface Assembly {
  readonly name: string;
  readonly kind: CloudKind;
  readonly source: string;
  readonly addresses: CloudAddresses;
  readonly details: CloudDetails;
  readonly sources: CloudSources;
  readonly settings: ProviderSettings;
  readonly tiers?: ConfiguredProvider['tiers'];
}

function assemble(assembly: Assembly): ConfiguredProvider {
  const { name, kind, source, addresses, details, settings } = assembly;
  const { routes, region, missing } = addresses;
  const first = routes.at(-1);
  const key = keyOf(assembly);
  const baseUrl = first?.baseUrl ?? '';
  const tiers = assembly.tiers ?? CLOUDS[kind].tiers;
  const { deployment, omit } = settings;
  return {
    name,
    source,
    protocol: first?.protocol ?? 'openai-responses',
    vendor: null,
    baseUrl,
    tiers: deployment === undefined ? tiers : {},
    models: null,
    isPrivate: isPrivateHost(baseUrl),
    quirks: CLOUD_QUIRKS[kind],
    ...key,
    ...(missing !== null && { keyProblem: missing }),
    ...(omit !== undefined && { omit }),
    cloud: {
      kind,
      region,
      ...(deployment !== undefined && { deployment }),
      routes: routes.map((route) => withServiceTier(route, kind, details.serviceTier)),
    },
  };
}

/** Adds the service tier to a route, in the header or the field in which its protocol expects it. */
function withServiceTier(
  route: CloudAddresses['routes'][number],
  kind: CloudKind,
  tier: CloudDetails['serviceTier'],
): CloudAddresses['routes'][number] {
  if (tier === undefined) return route;
  const withHeader = (name: string) => ({ ...route, headers: { ...route.headers, [name]: tier } });
  switch (kind) {
    case 'bedrock':
      return route.protocol === 'bedrock-converse'
        ? { ...route, body: { serviceTier: { type: tier } } }
        : withHeader('x-amzn-bedrock-service-tier');
    case 'vertex':
      return withHeader('x-vertex-ai-llm-shared-request-type');
    case 'azure':
      // Claude has two tiers of its own, of which the standard one is the default.
      return route.protocol === 'anthropic' ? route : { ...route, body: { service_tier: tier } };
  }
}

/** Returns the key of a cloud: a setting, an account, a variable, or the credentials of the cloud. */
function keyOf({
  name,
  kind,
  source,
  addresses,
  details,
  sources,
  settings,
}: Assembly): ProviderKey {
  const { env, accounts } = sources;
  const keyHeader = kind === 'azure' ? 'api-key' : 'authorization';
  const asKey = (key: ProviderKey): ProviderKey => ({ ...key, keyHeader });
  const own = configuredKey(source, settings, env);
  if (own !== null) return asKey(own);
  const first = addresses.routes.at(-1);
  const url = first === undefined ? null : parseBaseUrl(first.baseUrl, source);
  const usable = accounts.filter(
    (each) => each.provider === name && url !== null && isForServer(each, { preset: null, url }),
  );
  if (settings.account !== undefined || usable.length > 0) {
    return asKey(accountKey(name, settings.account ?? null, usable));
  }
  if (isTrue(env[CLOUDS[kind].skipsAuth])) return { apiKey: null, keyFrom: CLOUDS[kind].skipsAuth };
  const variable = readProviderKey(CLOUDS[kind].keys, env, { requiredVariable: null });
  // A profile in the settings is a choice for this provider, and a variable holds for all programs.
  const isChosen = kind === 'bedrock' && settings.profile !== undefined;
  if (variable.keyFrom !== undefined && !isChosen) return asKey(variable);
  return findCredentials(kind, details, env);
}

/** Collects what the addresses and credentials of a cloud depend on, from the settings and then from the variables. */
function collectDetails(
  kind: CloudKind,
  settings: ProviderSettings,
  env: Environment,
): CloudDetails {
  const first = (names: readonly string[]): string | undefined =>
    names.map((name) => env[name]?.trim()).find((value) => value !== undefined && value !== '');
  const { baseUrl, region, project, profile, resource } = settings;
  const tier = settings.serviceTier ?? toServiceTier(first(['ANTHROPIC_BEDROCK_SERVICE_TIER']));
  switch (kind) {
    case 'bedrock':
      return dropMissing({
        baseUrl:
          baseUrl ?? first(['ANTHROPIC_BEDROCK_BASE_URL', 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME']),
        region: region ?? first(['AWS_REGION', 'AWS_DEFAULT_REGION']),
        profile: profile ?? first(['AWS_PROFILE']),
        serviceTier: tier,
      });
    case 'vertex':
      return dropMissing({
        baseUrl: baseUrl ?? first(['ANTHROPIC_VERTEX_BASE_URL', 'GOOGLE_VERTEX_BASE_URL']),
        region: region ?? first(['CLOUD_ML_REGION', 'GOOGLE_CLOUD_LOCATION']),
        project:
          project ??
          first(['ANTHROPIC_VERTEX_PROJECT_ID', 'GOOGLE_CLOUD_PROJECT', 'GCLOUD_PROJECT']),
        quotaProject: first(['GOOGLE_CLOUD_QUOTA_PROJECT']),
        serviceTier: settings.serviceTier,
      });
    case 'azure':
      return dropMissing({
        baseUrl:
          baseUrl ??
          (resource === undefined
            ? first([
                'ANTHROPIC_FOUNDRY_BASE_URL',
                'AZURE_OPENAI_ENDPOINT',
                'AZURE_OPENAI_BASE_URL',
              ])
            : undefined),
        resource: resource ?? first(['ANTHROPIC_FOUNDRY_RESOURCE', 'AZURE_RESOURCE_NAME']),
        serviceTier: settings.serviceTier,
      });
  }
}

function toServiceTier(text: string | undefined): CloudDetails['serviceTier'] {
  return text === 'flex' || text === 'priority' || text === 'default' ? text : undefined;
}

/** Returns the clouds that Claude Code's variables choose, which come before the keys of other providers. */
export function listChosenClouds(sources: CloudSources): readonly ConfiguredProvider[] {
  const { env } = sources;
  return (['bedrock', 'vertex', 'azure'] as const).flatMap((kind) => {
    const { chosenBy } = CLOUDS[kind];
    if (!isTrue(env[chosenBy])) return [];
    return [fromVariables(kind, chosenBy, sources, readClaudeTiers(kind, env))];
  });
}

/** Returns the clouds whose own variables name them, which come after the keys of other providers. */
export function listNamedClouds(sources: CloudSources): readonly ConfiguredProvider[] {
  const { env } = sources;
  const has = (name: string): boolean => Boolean(env[name]?.trim());
  const azureKey = CLOUDS.azure.keys.find(has);
  const hasResource = [
    'AZURE_RESOURCE_NAME',
    'AZURE_OPENAI_ENDPOINT',
    'AZURE_OPENAI_BASE_URL',
  ].some(has);
  return [
    ...(has('AWS_BEARER_TOKEN_BEDROCK')
      ? [fromVariables('bedrock', 'AWS_BEARER_TOKEN_BEDROCK', sources)]
      : []),
    ...(isTrue(env['GOOGLE_GENAI_USE_VERTEXAI'])
      ? [fromVariables('vertex', 'GOOGLE_GENAI_USE_VERTEXAI', sources)]
      : []),
    ...(azureKey !== undefined && hasResource ? [fromVariables('azure', azureKey, sources)] : []),
  ];
}

function fromVariables(
  kind: CloudKind,
  source: string,
  sources: CloudSources,
  tiers?: ConfiguredProvider['tiers'],
): ConfiguredProvider {
  const details = collectDetails(kind, {}, sources.env);
  const addresses = findCloudAddresses(kind, details, null);
  const parts = { name: kind, kind, source, addresses, details, sources, settings: {} };
  return assemble({ ...parts, ...(tiers !== undefined && { tiers }) });
}

/** The names with which `ANTHROPIC_MODEL` can stand for the model of a tier. */
const CLAUDE_ALIASES: Readonly<Record<string, Tier>> = {
  haiku: 'fast',
  sonnet: 'balanced',
  opus: 'powerful',
  opusplan: 'powerful',
};

/** Reads the models that Claude Code's variables name. A long context is no part of an id: `[1m]`. */
function readClaudeTiers(kind: CloudKind, env: Environment): Readonly<Record<Tier, string>> {
  const read = (name: string): string | undefined =>
    env[name]?.trim().replace(/\[1m\]$/i, '') || undefined;
  const known = CLAUDE_TIERS[kind];
  const tiers = {
    fast: read('ANTHROPIC_DEFAULT_HAIKU_MODEL') ?? read('ANTHROPIC_SMALL_FAST_MODEL') ?? known.fast,
    balanced: read('ANTHROPIC_DEFAULT_SONNET_MODEL') ?? known.balanced,
    powerful: read('ANTHROPIC_DEFAULT_OPUS_MODEL') ?? known.powerful,
  };
  const named = read('ANTHROPIC_MODEL');
  if (named === undefined) return tiers;
  const alias = Object.hasOwn(CLAUDE_ALIASES, named) ? CLAUDE_ALIASES[named] : undefined;
  return { ...tiers, balanced: alias === undefined ? named : tiers[alias] };
}

/** Returns true for the value of a variable that switches something on, as Claude Code reads it. */
function isTrue(value: string | undefined): boolean {
  return !['', '0', 'false', 'no', 'off'].includes(value?.trim().toLowerCase() ?? '');
}

/** Creates the error for a model of a cloud that is not configured. */
export function describeMissingCloud(name: string): string | null {
  if (!isCloudKind(name)) return null;
  const needed = { bedrock: 'region', vertex: 'project', azure: 'resource' }[name];
  return `needs ${CLOUDS[name].title}: add [models.providers.${name}] with ${needed} to the configuration, or set ${CLOUDS[name].chosenBy}=1`;
}

/** Throws UsageError if settings of a cloud are given for another kind of provider. */
export function refuseCloudSettings(setting: string, settings: ProviderSettings): void {
  const { region, project, profile, resource, deployment, serviceTier } = settings;
  const given = Object.entries({
    region,
    project,
    profile,
    resource,
    deployment,
    serviceTier,
  }).find(([, value]) => value !== undefined);
  if (given === undefined) return;
  const key = given[0] === 'serviceTier' ? 'service_tier' : given[0];
  throw new UsageError(
    `${setting}.${key} has a meaning only for a cloud: set kind to bedrock, vertex or azure, or remove it`,
  );
}
