import { mapToolsByName } from '../../replay/idle-deps.ts';
import { rerunTree, type TreeRerun } from '../../replay/rerun-tree.ts';
import type { EngineSettings } from '../../engine/limits/configured-limits.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { homeDirectory, type Environment } from '../../sys/env.ts';
import { TRUST_NOTHING } from '../../sys/files/project-file.ts';
import { builtinTools } from '../../tools/index.ts';
import { createRemoteTools } from '../../tools/remote/remote-tools.ts';
import { loadConfig } from '../../config/load.ts';
import { createEngineSettings } from '../setup/settings.ts';

/**
 * Reruns a task and its descendants from their logs, with the limits of the current configuration.
 */
export async function rerunFromLogs(
  store: TaskStore,
  id: string,
  environment: Environment,
): Promise<TreeRerun> {
  const home = homeDirectory(environment);
  const cwd = process.cwd();
  const { config } = await loadConfig({ environment, home, cwd, trust: TRUST_NOTHING, flags: [] });
  const settings = createEngineSettings(config, { maxTurns: null, isAttended: false });
  return rerunWithTools({ store, settings, programTools: [] }, id);
}

interface RerunParts {
  readonly store: TaskStore;
  readonly settings: EngineSettings;
  /** The tools that the program has brought along. */
  readonly programTools: readonly AnyTool[];
}

/** Reruns a task and its descendants from their logs, with the built-in tools and those of a program. */
export function rerunWithTools(
  { store, settings, programTools }: RerunParts,
  id: string,
): Promise<TreeRerun> {
  const { tools: ofRemoteAgents } = createRemoteTools();
  const all = [...builtinTools(), ...ofRemoteAgents, ...programTools];
  const tools = mapToolsByName({ store, settings }, all);
  return rerunTree({ store, settings, tools }, id);
}
