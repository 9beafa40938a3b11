import { toolsByName } from '../../replay/idle-deps.ts';
import { rerunTree, type TreeRerun } from '../../replay/rerun-tree.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { Environment } from '../../sys/env.ts';
import { builtinTools } from '../../tools/index.ts';
import { engineSettings, loadUserConfig } from '../setup/settings.ts';

/**
 * Reruns a task and its descendants from their logs, with the limits of the present configuration.
 */
export async function rerunFromLogs(
  store: TaskStore,
  id: string,
  environment: Environment,
): Promise<TreeRerun> {
  const { config } = await loadUserConfig(environment);
  const settings = engineSettings(config, { maxTurns: null, isAttended: false });
  const tools = toolsByName({ store, settings }, builtinTools());
  return rerunTree({ store, settings, tools }, id);
}
