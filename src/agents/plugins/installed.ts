import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { isInside } from '../../sys/paths.ts';
import type { Looks } from '../loader/path-cache.ts';
import { readText } from '../loader/read-text.ts';
import type { Surroundings } from '../loader/search-context.ts';
import { PRODUCT_HOMES } from '../loader/user-directories.ts';

/** A plugin of Claude Code that the user has installed and switched on. */
export interface InstalledPlugin {
  readonly name: string;
  /** Absolute: where its files lie. */
  readonly root: string;
}

/**
 * The plugins that count in `cwd`, by what Claude Code itself keeps: `plugins/installed_plugins.json`
 * (an object or a list of them for each `NAME@MARKETPLACE`) and `enabledPlugins` of the user's
 * settings. One that was installed for a project counts in that project. In the order of their names.
 */
export function installedPlugins({
  cwd,
  user,
  looks,
}: Pick<Surroundings, 'cwd' | 'user' | 'looks'>): readonly InstalledPlugin[] {
  const home = PRODUCT_HOMES.claude(user);
  const installed = readObject(join(home, 'plugins', 'installed_plugins.json'), looks)['plugins'];
  if (!isJsonObject(installed)) return [];
  const enabled = readObject(join(home, 'settings.json'), looks)['enabledPlugins'];
  return Object.keys(installed)
    .toSorted()
    .flatMap((id): readonly InstalledPlugin[] => {
      const state = isJsonObject(enabled) ? enabled[id] : undefined;
      const root =
        state === false ? undefined : rootFor(cwd, installed[id] ?? null, state === true);
      return root === undefined ? [] : [{ name: id.split('@', 1)[0] ?? id, root }];
    });
}

/** The entry for the project that `cwd` lies in goes before the one for everywhere. */
function rootFor(cwd: string, entry: JsonValue, isEnabled: boolean): string | undefined {
  const entries = (Array.isArray(entry) ? entry : [entry]).filter((each) => isJsonObject(each));
  const here = entries.find(({ projectPath }) => {
    return typeof projectPath === 'string' && isInside(projectPath, cwd);
  });
  const everywhere = isEnabled
    ? entries.find((each) => each['projectPath'] === undefined)
    : undefined;
  const root = (here ?? everywhere)?.['installPath'];
  return typeof root === 'string' && root.startsWith('/') ? root : undefined;
}

/** What is missing or broken holds nothing: it is another product's own file. */
export function readObject(path: string, looks: Looks): JsonObject {
  if (!looks.mayExist(path)) return {};
  const text = readText(path);
  if (!text.ok) return {};
  try {
    const value: unknown = JSON.parse(text.text);
    return isJsonObject(value) ? value : {};
  } catch {
    // JSON.parse throws for nothing else than bad JSON.
    return {};
  }
}
