import { homedir } from 'node:os';
import { dropMissing } from '../../base/drop-missing.ts';
import type { ModelPortLimits } from '../../model/model-port.ts';
import type {
  FallbackList,
  ModelSettings,
  ProviderSettings,
} from '../../model/settings/model-settings.ts';
import type { Config } from '../../config/config.ts';
import { loadConfig, type LoadedConfig } from '../../config/load.ts';
import type { Environment } from '../../sys/env.ts';
import { TRUST_NOTHING } from '../../sys/files/project-file.ts';
import type { EngineSettings } from '../../engine/limits/engine-settings.ts';

/** Seconds to the first token from a private address, where a model may have to be loaded first. */
const PRIVATE_FIRST_TOKEN_SECONDS = 600;
const FIRST_TOKEN_SECONDS = 120;

/** The longest wait in a run that nobody watches. */
const MAX_WAIT_SECONDS = 300;

interface RunKind {
  /** Turn limit of the main agent; null if there is none. */
  readonly maxTurns: number | null;
  /** True if a person is present and can end what takes too long. */
  readonly isAttended: boolean;
}

/** Returns the configuration in the engine's units. */
export function engineSettings(config: Config, { maxTurns, isAttended }: RunKind): EngineSettings {
  const { taskTool, budget, output, liveness, provider, sandbox } = config;
  return {
    taskTools: taskTool.enabled,
    maxDepth: taskTool.maxDepth,
    nested: taskTool.nested,
    maxTasks: taskTool.maxTasks,
    maxParallel: taskTool.maxParallel,
    taskLimits: {
      maxTurns: taskTool.maxTurns,
      maxTokens: taskTool.maxTokens,
      ...(taskTool.maxCostUsd > 0 ? { maxCostUsd: taskTool.maxCostUsd } : {}),
      ...(taskTool.maxToolBytes > 0 ? { maxToolBytes: taskTool.maxToolBytes } : {}),
      wallMs: taskTool.taskWallSeconds * 1000,
      resultMaxTokens: taskTool.resultMaxTokens,
    },
    rootLimits: {
      maxTurns,
      maxTokens: null,
      wallMs: null,
      resultMaxTokens: taskTool.resultMaxTokens,
    },
    treeTokens: budget.treeTokens,
    treeCostUsd: budget.treeCostUsd,
    treeTurns: budget.treeTurns,
    treeToolBytes: budget.treeToolBytes,
    treeWallMs: budget.treeWallSeconds > 0 ? budget.treeWallSeconds * 1000 : null,
    maxProcesses: budget.maxProcesses,
    foregroundMs: taskTool.defaultTimeoutSeconds * 1000,
    retries: provider.retries,
    silentRetries: liveness.silentRetries,
    maxWaitMs: (provider.maxWaitSeconds ?? (isAttended ? 0 : MAX_WAIT_SECONDS)) * 1000,
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

export function connectLimits({ liveness }: Config): ModelPortLimits {
  const { connectSeconds, firstTokenSeconds, streamIdleSeconds } = liveness;
  return {
    connectMs: connectSeconds * 1000,
    firstTokenMs: (firstTokenSeconds ?? FIRST_TOKEN_SECONDS) * 1000,
    privateFirstTokenMs: (firstTokenSeconds ?? PRIVATE_FIRST_TOKEN_SECONDS) * 1000,
    streamIdleMs: streamIdleSeconds * 1000,
  };
}

export function modelSettings(loaded: LoadedConfig): ModelSettings {
  const { settings } = loaded;
  const { models } = loaded.config;
  const named = settings.get('models.default')?.source.kind === 'flag' ? 'flag' : 'default';
  const providers: Record<string, ProviderSettings> = {};
  for (const [name, { source: _source, ...provider }] of models.providers) {
    providers[name] = provider;
  }
  const fallbacks = fallbackLists(loaded);
  const { fast, balanced, powerful } = models;
  return {
    providers,
    catalogue: models.catalogue,
    ...(fallbacks.length === 0 ? {} : { fallbacks }),
    ...dropMissing({ [named]: models.default, fast, balanced, powerful }),
  };
}

/**
 * Returns the fallback lists. A flag replaces all others, since it means the full list for one run.
 */
function fallbackLists({ config: { models }, settings }: LoadedConfig): readonly FallbackList[] {
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

/** Loads the configuration of this directory without the files of its project. */
export function loadUserConfig(environment: Environment): Promise<LoadedConfig> {
  const home = environment['HOME'] || homedir();
  const cwd = process.cwd();
  return loadConfig({ environment, home, cwd, trust: TRUST_NOTHING, flags: [] });
}
