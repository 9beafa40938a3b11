import type { Tier, TokenPrices } from '../../protocol/model.ts';
import type { AdjustmentName } from './adjustment-names.ts';
import { CLOUD_KINDS, type CloudKind, type ServiceTier } from './clouds.ts';
import { PRESET_NAMES, type PresetName } from './presets.ts';

/** The kinds of servers: the known providers, and two protocols of other servers. */
export type ServerKind = PresetName | 'openai-responses' | 'openai-compatible';

/** The values of `kind` in `[models.providers.NAME]`: the kinds of servers, and the clouds. */
export type ProviderKind = ServerKind | CloudKind;

export const PROVIDER_KINDS: readonly ProviderKind[] = [
  ...PRESET_NAMES,
  'openai-responses',
  'openai-compatible',
  ...CLOUD_KINDS,
];

/** The settings of a provider: `[models.providers.NAME]`. */
export interface ProviderSettings {
  /** The adjustments that are made from the first request on. Default: an adjustment is made after the server refused a part. */
  readonly omit?: readonly AdjustmentName[];
  readonly baseUrl?: string;
  readonly kind?: ProviderKind;
  /** The name of the environment variable that holds the key. */
  readonly apiKeyEnv?: string;
  /** The command that prints the key: one text for the shell, or the program and its arguments. */
  readonly apiKeyCommand?: string | readonly string[];
  /** The path of a file that holds the key. */
  readonly apiKeyFile?: string;
  /** The time in seconds after which a command or file is asked again. Default: five minutes. */
  readonly apiKeyTtlSeconds?: number;
  /** The name of the account, of several that `muster login` has stored for the provider. */
  readonly account?: string;
  /** The region of a cloud. */
  readonly region?: string;
  /** The project of Google Vertex AI. */
  readonly project?: string;
  /** The profile in the files of the AWS command line. */
  readonly profile?: string;
  /** The name of an Azure resource. */
  readonly resource?: string;
  /** The name of the Azure deployment that is sent in place of the model's id. Default: the id is its name. */
  readonly deployment?: string;
  /** The level of service of a cloud. Default: the cloud's own. */
  readonly serviceTier?: ServiceTier;
}

/** A list of models that are tried in turn when another model fails. */
export interface FallbackList {
  /** The configuration key or flag that contains the list. */
  readonly setting: string;
  /** The tier whose models the list replaces; null: it replaces any model. */
  readonly tier: Tier | null;
  readonly models: readonly string[];
}

/** The settings of models: `[models]` of the configuration, and the flag `--model`. */
export interface ModelSettings {
  /** The value of `--model`. */
  readonly flag?: string;
  readonly default?: string;
  readonly fast?: string;
  readonly balanced?: string;
  readonly powerful?: string;
  /** The overrides in `[models.catalogue."PROVIDER/MODEL"]`. Default: none. */
  readonly catalogue?: ModelOverrides;
  /** The fallback models. Default: none. */
  readonly fallbacks?: readonly FallbackList[];
  readonly providers: Readonly<Record<string, ProviderSettings>>;
}

/** The kinds of attachments that a model can be configured to accept. */
export const ATTACHMENT_KINDS = ['image', 'pdf'] as const;
export type AttachmentKind = (typeof ATTACHMENT_KINDS)[number];

/** The configured properties of a model. They have priority over the table of output limits and over the catalogue. */
export interface ModelOverride {
  readonly contextWindow?: number;
  /** The maximum number of tokens of each answer. */
  readonly outputLimit?: number;
  readonly price?: TokenPrices;
  readonly attachments?: readonly AttachmentKind[];
}

/** The overrides by `provider/id`. */
type ModelOverrides = ReadonlyMap<string, ModelOverride>;

/** The source that is displayed for a price from an override. */
export const OVERRIDE_SOURCE = 'config.toml';
