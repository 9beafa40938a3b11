import { findFragmentProblems } from '../../config/append-config.ts';
import type { Config } from '../../config/config.ts';
import { formatProviderFragment, type ProviderFragment } from '../../config/provider-toml.ts';
import { findKnownAttachments } from '../../model/catalogue/attachment-rules.ts';
import { loadModelDetails } from '../../model/catalogue/catalogue.ts';
import type { ProbeFindings, ProbeReport } from '../../model/probe/probe-provider.ts';
import type { ConfiguredProvider } from '../../model/providers/configured-provider.ts';
import type {
  AttachmentKind,
  ModelOverride,
  ProviderKind,
  ProviderSettings,
} from '../../model/settings/model-settings.ts';
import { isPreset, PRESETS, type ProtocolName } from '../../model/settings/presets.ts';
import type { FoundTarget } from './probe-target.ts';

/**
 * Creates the configuration by which Muster does from the first request on what the probe has found. Settings that hold
 * without it are left out. Returns null if nothing was found.
 */
export async function createProbeFragment(
  found: FoundTarget,
  { provider, model: modelId, findings }: Pick<ProbeReport, 'provider' | 'model' | 'findings'>,
  { models }: Pick<Config, 'models'>,
): Promise<ProviderFragment | null> {
  if (findings === null || modelId === null) return null;
  const { name } = found;
  const settings = chooseSettings(found, provider, findings);
  const configured = models.catalogue.get(`${name}/${modelId}`) ?? {};
  const override = await chooseOverride(provider, modelId, findings, configured);
  const fragment = {
    name,
    provider: Object.keys(settings).length > 0 ? settings : null,
    modelId,
    model: Object.keys(override).length > 0 ? override : null,
  };
  const problems = await findFragmentProblems(formatProviderFragment(fragment));
  // The reader accepts no id with control characters, or of great length.
  return problems.length === 0 ? fragment : { ...fragment, model: null };
}

function chooseSettings(
  { name, configured, isNew, keyVariable }: FoundTarget,
  provider: ConfiguredProvider,
  { learned }: ProbeFindings,
): ProviderSettings {
  const isMoved = learned.baseUrl !== provider.baseUrl;
  const isLearned = isMoved || learned.omit.length > 0;
  // A table of this name replaces the provider of the variables `LLM_*`.
  const isFromVariables = configured === null && !isNew && !isPreset(name);
  const isComplete = isNew || (isFromVariables && isLearned);
  const isUsual = isPreset(name) && PRESETS[name].isLocal !== true && isDefault(name, learned);
  const query = provider.query === undefined ? '' : `?${provider.query}`;
  const omit = [...new Set([...(configured?.omit ?? []), ...learned.omit])];
  const key = keyVariable ?? (isFromVariables && isLearned ? provider.keyFrom : undefined);
  return {
    ...((isMoved || (isComplete && !isUsual)) && { baseUrl: `${learned.baseUrl}${query}` }),
    ...(isComplete &&
      !isPreset(name) && { kind: provider.cloud?.kind ?? KINDS[provider.protocol] }),
    ...(key !== undefined && key !== configured?.apiKeyEnv && { apiKeyEnv: key }),
    ...(learned.omit.length > 0 && { omit }),
  };
}

const KINDS: Readonly<Record<ProtocolName, ProviderKind>> = {
  'bedrock-converse': 'bedrock',
  'openai-chat': 'openai-compatible',
  'openai-responses': 'openai-responses',
  anthropic: 'anthropic',
  google: 'google',
};

function isDefault(name: keyof typeof PRESETS, { baseUrl }: ProbeFindings['learned']): boolean {
  return PRESETS[name].baseUrl === baseUrl;
}

/** The largest part of a context window that an answer may take, so that most of it is left for the conversation. */
const MAX_OUTPUT_SHARE = 0.25;
/** More is hardly ever used, and a budget would reserve it for each request. */
const MAX_OUTPUT = 32_000;

async function chooseOverride(
  provider: ConfiguredProvider,
  modelId: string,
  { learned, model, seesImages }: ProbeFindings,
  configured: ModelOverride,
): Promise<ModelOverride> {
  const known = await loadModelDetails(provider, modelId, configured);
  const { contextWindow } = model;
  const stated = learned.outputCap ?? model.outputLimit;
  const outputLimit =
    stated === null || learned.omit.includes('output_limit')
      ? null
      : Math.min(stated, MAX_OUTPUT, Math.floor((contextWindow ?? Infinity) * MAX_OUTPUT_SHARE));
  const usual = configured.attachments ?? findKnownAttachments(modelId) ?? [];
  const isImageNews = seesImages !== null && seesImages !== usual.includes('image');
  // Servers that imitate OpenAI's older protocol agree only about images.
  const acceptsPdf = usual.includes('pdf') && provider.protocol !== 'openai-chat';
  const attachments: readonly AttachmentKind[] = [
    ...(seesImages === true ? (['image'] as const) : []),
    ...(acceptsPdf ? (['pdf'] as const) : []),
  ];
  return {
    ...(contextWindow !== null && contextWindow !== known.contextWindow && { contextWindow }),
    ...(outputLimit !== null && outputLimit !== known.maxOutput && { outputLimit }),
    ...(isImageNews && { attachments }),
  };
}

interface WriteState {
  /** The configuration file of the user. */
  readonly path: string;
  /** True if there is configuration to keep. */
  readonly hasTables: boolean;
  readonly isWritten: boolean;
}

/** Returns the most important next step after a probe. */
export function nextProbeStep(
  name: string,
  { checks, model, findings }: Pick<ProbeReport, 'checks' | 'model' | 'findings'>,
  { path, hasTables, isWritten }: WriteState,
): string {
  const failed = checks.find(({ status }) => status === 'fail');
  if (failed !== undefined) return `${failed.name}: ${failed.fix ?? failed.detail}`;
  if (findings === null || model === null) return 'probe again when requests may be sent';
  const start = `muster --model ${quoteForShell(`${name}/${model}`)} -p "…"`;
  return hasTables && !isWritten
    ? `add the configuration to ${path} (or probe again with --write), then: ${start}`
    : start;
}

function quoteForShell(word: string): string {
  return /^[\w./:@+~-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
