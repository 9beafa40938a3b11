import { isJsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { projectClaudeFiles } from '../config/claude-files.ts';
import { MAX_SETTINGS_BYTES } from '../config/settings-file.ts';
import { readProjectFile, TRUST_ALL } from '../sys/files/project-file.ts';

/** The plugins and marketplaces that a settings file of the project names. They have no effect, trusted or not. */
export interface ProjectPluginSettings {
  /** The path of the settings file. */
  readonly path: string;
  /** The plugins that it would switch on, as `NAME@MARKETPLACE`. Outside text. */
  readonly plugins: readonly string[];
  /** The names of the marketplaces that it would add. Outside text. */
  readonly marketplaces: readonly string[];
}

/** The maximum number of names that are listed for one file. */
const MAX_NAMES = 50;

/**
 * Lists the plugins and marketplaces that the settings files of Claude Code in a project name, so that a person can
 * decide whether to install them.
 *
 * @param cwd absolute and real
 */
export function listProjectPlugins(cwd: string, home: string): readonly ProjectPluginSettings[] {
  return projectClaudeFiles(cwd, home).flatMap(({ path, boundary }) => {
    const request = { kind: 'permissions', path, boundary, maxBytes: MAX_SETTINGS_BYTES } as const;
    // The names are only shown.
    const reading = readProjectFile(request, TRUST_ALL);
    const value = reading.kind === 'read' ? parseJsonLine(reading.bytes.toString('utf8')) : null;
    if (!isJsonObject(value)) return [];
    const enabled = listNamesOf(value['enabledPlugins']).filter(
      ([, isEnabled]) => isEnabled === true,
    );
    const plugins = enabled.map(([name]) => name);
    const marketplaces = listNamesOf(value['extraKnownMarketplaces']).map(([name]) => name);
    return plugins.length + marketplaces.length === 0 ? [] : [{ path, plugins, marketplaces }];
  });
}

function listNamesOf(value: unknown): readonly (readonly [name: string, value: unknown])[] {
  return isJsonObject(value) ? Object.entries(value).slice(0, MAX_NAMES) : [];
}
