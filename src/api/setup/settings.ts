import type { ModelPortLimits } from '../../model/model-port.ts';
import type {
  FallbackList,
  ModelSettings,
  ProviderSettings,
} from '../../model/settings/model-settings.ts';
import type { Config } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { collectOptionalLimits } from '../../protocol/limits.ts';
import type { EngineSettings } from '../../engine/limits/configured-limits.ts';

/**
 * The default time limit for the first token from a server in a private network, which may have to load the model
 * first.
 */
const DEFAULT_PRIVATE_FIRST_TOKEN_SECONDS = 600;
const DEFAULT_FIRST_TOKEN_SECONDS = 120;

/** The default maximum wait for a rate limit in a run without a person. */
const UNATTENDED_MAX_WAIT_SECONDS = 300;

interface RunKind {
  /** Turn limit of the main agent; null if there is none. */
  readonly maxTurns: number | null;
  /** True if a person is present and can stop a run that takes too long. */
  readonly isAttended: boolean;
}

/** Converts the configuration to the settings of the engine, with times in milliseconds. */
export function createEngineSettings(
  config: Config,
  { maxTurns, isAttended }: RunKind,
): EngineSettings {
  const { taskTool, budget, output, liveness, models, provider, sandbox } = config;
  const { treeWallSeconds, maxProcesses, ...treeBudget } = budget;
  return {
    taskTools: taskTool.enabled,
    maxDepth: taskTool.maxDepth,
    listedServerToolBytes: output.serverToolsBytes,
    modelFamily: models.family,
    nested: taskTool.nested,
    maxTasks: taskTool.maxTasks,
    maxParallel: taskTool.maxParallel,
    taskLimits: {
      maxTurns: taskTool.maxTurns,
      maxTokens: taskTool.maxTokens,
      ...collectOptionalLimits((field) => taskTool[field] || null),
      wallMs: taskTool.taskWallSeconds * 1000,
      resultMaxTokens: taskTool.resultMaxTokens,
    },
    rootLimits: {
      maxTurns,
      maxTokens: null,
      wallMs: null,
      resultMaxTokens: taskTool.resultMaxTokens,
    },
    ...treeBudget,
    treeWallMs: treeWallSeconds > 0 ? treeWallSeconds * 1000 : null,
    maxProcesses,
    foregroundMs: taskTool.defaultTimeoutSeconds * 1000,
    retries: provider.retries,
    silentRetries: liveness.silentRetries,
    maxWaitMs: (provider.maxWaitSeconds ?? (isAttended ? 0 : UNATTENDED_MAX_WAIT_SECONDS)) * 1000,
    noProgressCalls: liveness.noProgressCalls,
    cacheHoldMs: provider.cacheHoldMs,
    reusesResults: taskTool.cache,
    caps: {
      resultBytes: output.toolResultBytes,
      readBytes: output.readBytes,
      spillBytes: output.spillBytes,
      toolMs: liveness.toolSeconds * 1000,
    },
    commandVariables: sandbox.env,
  };
}

export function createModelPortLimits({ liveness }: Config): ModelPortLimits {
  const { connectSeconds, firstTokenSeconds, streamIdleSeconds } = liveness;
  return {
    connectMs: connectSeconds * 1000,
    firstTokenMs: (firstTokenSeconds ?? DEFAULT_FIRST_TOKEN_SECONDS) * 1000,
    privateFirstTokenMs: (firstTokenSeconds ?? DEFAULT_PRIVATE_FIRST_TOKEN_SECONDS) * 1000,
    streamIdleMs: streamIdleSeconds * 1000,
  };
}

export function createModelSettings(loaded: LoadedConfig): ModelSettings {
  const { settings } = loaded;
  const { models } = loaded.config;
  const named = settings.get('models.default')?.source.kind === 'flag' ? 'flag' : 'default';
  const providers: Record<string, ProviderSettings> = {};
  for (const [name, { source: _source, ...provider }] of models.providers) {
    providers[name] = provider;
  }
  const fallbacks = listFallbacks(loaded);
  return {
    providers,
    catalogue: models.catalogue,
    ...(fallbacks.length === 0 ? {} : { fallbacks }),
    ...(models.default === null ? {} : { [named]: models.default }),
    ...(models.fast === null ? {} : { fast: models.fast }),
    ...(models.balanced === null ? {} : { balanced: models.balanced }),
    ...(models.powerful === null ? {} : { powerful: models.powerful }),
  };
}

/**
 * Lists the fallback models. The flag replaces all lists of the configuration for one run.
 */
function listFallbacks({ config: { models }, settings }: LoadedConfig): readonly FallbackList[] {
  const source = settings.get('models.fallback')?.source;
  const isFlag = source?.kind === 'flag';
  const setting = isFlag ? source.where : 'models.fallback';
  const general = { setting, tier: null, models: models.fallback };
  const lists: readonly FallbackList[] = [
    { setting: 'models.fallback_fast', tier: 'fast', models: models.fallbackFast },
    { setting: 'models.fallback_balanced', tier: 'balanced', models: models.fallbackBalanced },
    { setting: 'models.fallback_powerful', tier: 'powerful', models: models.fallbackPowerful },
  ];
  return [...(isFlag ? [] : lists), general].filter((list) => list.models.length > 0);
}
