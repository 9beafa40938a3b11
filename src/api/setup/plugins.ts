import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ActivePlugins } from '../../plugins/active-plugins.ts';
import type { ApprovalReaderOptions } from '../../trust/approval-list.ts';
import { PLUGINS_FILE, stateDirectory } from '../../trust/state-directory.ts';

const NO_PLUGINS: ActivePlugins = { definitions: [], servers: [], languageServers: [], hooks: [] };

/**
 * Reads what the active plugins contain. Plugins that cannot be used are reported. Loads no code if nothing was ever
 * installed.
 */
export async function loadPlugins(options: ApprovalReaderOptions): Promise<ActivePlugins> {
  if (!existsSync(join(stateDirectory(options), PLUGINS_FILE))) return NO_PLUGINS;
  const { readActivePlugins } = await import('../../plugins/active-plugins.ts');
  return readActivePlugins(options);
}
