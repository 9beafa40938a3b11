import type { ListedModel } from '../../protocol/listed-model.ts';
import type { Tier } from '../../protocol/model.ts';
import type { AdjustmentName } from '../settings/adjustment-names.ts';
import type { ServerKind } from '../settings/model-settings.ts';
import { PRESET_QUIRKS } from '../settings/preset-quirks.ts';
import type { ProviderQuirks } from '../settings/provider-quirks.ts';
import {
  findPresetByHost,
  isPreset,
  PRESETS,
  type PresetName,
  type ProtocolName,
  type ProviderPreset,
} from '../settings/presets.ts';
import { type ParsedBaseUrl, type CandidateUrls, findCandidateUrls } from './base-url.ts';
import type { CloudAccess } from './cloud-route.ts';
import type { KeyHeader, ProviderKey } from './provider-key.ts';
import { findVendorByUrl, isPrivateHost, isVendor, type Vendor } from './vendors.ts';

/** A configured provider. It may lack a usable key. */
export interface ConfiguredProvider extends CandidateUrls, ProviderKey {
  readonly name: string;
  readonly protocol: ProtocolName;
  /** The setting that configures it, for messages. */
  readonly source: string;
  /** The vendor whose models it serves under the vendor's own ids; null: it may serve any models. */
  readonly vendor: Vendor | null;
  /** The headers of every request. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The models for the tiers, as far as they are known. */
  readonly tiers: Readonly<Partial<Record<Tier, string>>>;
  /** The ids that it is known to serve in addition to the vendor's; null: they are not known. */
  readonly models: readonly string[] | null;
  /** The facts about its models, if it was asked at the start. Default: it was not asked, or stated none. */
  readonly listed?: readonly ListedModel[];
  /** The reason why the models of the server could not be listed at the start. Default: it was not asked, or they were. */
  readonly listProblem?: string;
  /** True for a server on this machine or network. */
  readonly isPrivate: boolean;
  /** The parts that are left out of its requests. Default: none, until the server refuses one. */
  readonly omit?: readonly AdjustmentName[];
  /** The differences from its protocol. Default: none is known. */
  readonly quirks?: ProviderQuirks;
  /** The cloud that it is. `protocol`, `vendor` and `baseUrl` then differ between models: see `routeModel`. Default: none. */
  readonly cloud?: CloudAccess;
}

/** The parts from which a provider is created. */
export interface ProviderDraft extends Pick<ConfiguredProvider, 'name' | 'protocol' | 'source'> {
  /** The known provider whose servers it uses; null: another server. */
  readonly preset: PresetName | null;
  /** The kind of the server, whose requests and answers it has if its host is not known. Default: `preset`. */
  readonly kind?: ServerKind;
  /** Default: the known provider, if it is a vendor. */
  readonly vendor?: Vendor | null;
  readonly url: ParsedBaseUrl;
  readonly key: ProviderKey;
  /** Default: those of the known provider. */
  readonly tiers?: ConfiguredProvider['tiers'];
  /** Default: they are not known. */
  readonly models?: readonly string[];
}

/** Creates a provider from its settings. */
export function createProvider(draft: ProviderDraft): ConfiguredProvider {
  const { name, protocol, source, url, key, preset } = draft;
  const urls = findCandidateUrls(url, protocol);
  return {
    name,
    protocol,
    source,
    tiers: draft.tiers ?? (preset === null ? {} : PRESETS[preset].tiers),
    models: draft.models ?? null,
    ...wireDetailsOf(draft),
    vendor: draft.vendor ?? (isVendor(preset) ? preset : null),
    ...urls,
    ...key,
    ...keyHeaderOf(draft),
    isPrivate: isPrivateHost(urls.baseUrl),
  };
}

/** Returns the details of requests and answers of the known provider at the host, or else of the kind of the server. */
function wireDetailsOf({
  url,
  protocol,
  preset,
  kind,
}: ProviderDraft): Pick<ConfiguredProvider, 'headers' | 'omit' | 'quirks'> {
  const ofKind = kind !== undefined && isPreset(kind) ? kind : preset;
  const known = findPresetByHost(url.url.hostname) ?? ofKind;
  if (known === null) return {};
  const { headers, omit, protocol: usual }: ProviderPreset = PRESETS[known];
  const quirks = quirksOf(known, { isUsualProtocol: protocol === usual });
  return {
    ...(headers !== undefined && { headers }),
    ...(omit !== undefined && { omit }),
    ...(quirks !== undefined && { quirks }),
  };
}

/** Returns the quirks of a known provider. Only its errors are the same in each of its protocols. */
function quirksOf(
  preset: PresetName,
  { isUsualProtocol }: { readonly isUsualProtocol: boolean },
): ProviderQuirks | undefined {
  const quirks = PRESET_QUIRKS[preset];
  if (isUsualProtocol || quirks?.errors === undefined) return isUsualProtocol ? quirks : undefined;
  return { errors: quirks.errors };
}

/** Creates a provider that needs no key, uses OpenAI's Chat Completions protocol, and may serve any models. */
export function createKeylessProvider(
  name: PresetName,
  url: ParsedBaseUrl,
  source: string,
): ConfiguredProvider {
  const draft = { name, kind: name, protocol: 'openai-chat', url, source } as const;
  return createProvider({ ...draft, key: { apiKey: null }, preset: null });
}

/** Returns the kind of the server at an address: a known provider, or else the protocol of its endpoint. */
export function kindOfServer({ url, endpoint }: ParsedBaseUrl): ServerKind {
  const known = findVendorByUrl(url) ?? findPresetByHost(url.hostname);
  // Google's host also has an API that imitates OpenAI's.
  if (known !== null && !(known === 'google' && findVendorByUrl(url) === null)) return known;
  if (endpoint === null || endpoint === 'bedrock-converse') return 'openai-compatible';
  return endpoint === 'openai-chat' ? 'openai-compatible' : endpoint;
}

/** Returns the protocol of a provider. OpenAI itself uses Responses; servers that imitate it use Chat. */
export function chooseProtocol(kind: ServerKind, { url, endpoint }: ParsedBaseUrl): ProtocolName {
  switch (kind) {
    case 'anthropic':
    case 'google':
    case 'openai-responses':
      return kind;
    case 'openai':
      if (findVendorByUrl(url) === 'openai') return 'openai-responses';
      return endpoint === 'openai-responses' ? endpoint : 'openai-chat';
    case 'openai-compatible':
      return 'openai-chat';
    default:
      // Some of the others offer the protocols of the large vendors at further addresses.
      return findVendorByUrl(url) === 'anthropic'
        ? 'anthropic'
        : (endpoint ?? PRESETS[kind].protocol);
  }
}

/** Returns the header of the key if it differs from that of the protocol. */
function keyHeaderOf({ url, protocol, key }: ProviderDraft): { readonly keyHeader?: KeyHeader } {
  // Azure's older API expects its keys in a header of its own.
  if (/\/openai\/deployments\//.test(url.url.pathname)) return { keyHeader: 'api-key' };
  // Anthropic's own tools send a token as a bearer token, and a key in the header `x-api-key`.
  const isToken = protocol === 'anthropic' && key.keyFrom?.endsWith('_AUTH_TOKEN') === true;
  return isToken && key.apiKey !== null ? { keyHeader: 'authorization' } : {};
}

/** Tells whether the servers of a provider are known to search the web for its models. Of the clouds, only Google does. */
export function canSearchWeb({
  vendor,
  protocol,
  cloud,
}: Pick<ConfiguredProvider, 'vendor' | 'protocol' | 'cloud'>): boolean {
  if (cloud !== undefined) return protocol === 'google';
  return vendor !== null && protocol !== 'openai-chat';
}
