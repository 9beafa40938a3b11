import { mapToolsByName } from '../../replay/idle-deps.ts';
import { rerunTree, type TreeRerun } from '../../replay/rerun-tree.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { homeDirectory, type Environment } from '../../sys/env.ts';
import { TRUST_NOTHING } from '../../sys/files/project-file.ts';
import { builtinTools } from '../../tools/index.ts';
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
  const tools = mapToolsByName({ store, settings }, builtinTools());
  return rerunTree({ store, settings, tools }, id);
}
