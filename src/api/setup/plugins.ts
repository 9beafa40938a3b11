import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ActivePlugins, PluginExtras } from '../../plugins/active-plugins.ts';
import type { ApprovalReaderOptions } from '../../trust/approval-list.ts';
import { PLUGINS_FILE, stateDirectory } from '../../trust/state-directory.ts';

const NO_PLUGINS: ActivePlugins = { definitions: [], servers: [], languageServers: [], parts: [] };

/**
 * Reads what the active plugins contain. Plugins that cannot be used are reported. Loads no code if nothing was ever
 * installed.
 */
export async function loadPlugins(options: ApprovalReaderOptions): Promise<ActivePlugins> {
  if (!existsSync(join(stateDirectory(options), PLUGINS_FILE))) return NO_PLUGINS;
  const { readActivePlugins } = await import('../../plugins/active-plugins.ts');
  return readActivePlugins(options);
}

/**
 * Lists the commands and hooks of the active plugins. They have no wider rights than those of a project: a hook of a
 * plugin allows nothing.
 */
export async function listPluginParts(
  options: ApprovalReaderOptions,
): Promise<readonly PluginExtras[]> {
  return (await loadPlugins(options)).parts;
}
