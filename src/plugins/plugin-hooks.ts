import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { convertHooks, GEMINI_HOOKS } from '../hooks/product-hooks.ts';
import { readHooks, type HooksOfFile } from '../hooks/read-hooks.ts';
import { readHookCondition } from '../trust/hook-conditions.ts';
import type { PluginHooks } from './active-plugins.ts';

/**
 * Reads the hooks of plugins, for a run and for the review before it. What of them has no effect is a problem, which names
 * the file.
 */
export function readPluginHooks(plugins: readonly PluginHooks[]): HooksOfFile {
  const read = plugins.map((each) => {
    const { source } = each;
    const { events, missing } = each.vendor === 'gemini' ? toOwnFormat(each) : keepFormat(each);
    const { hooks, problems } = readHooks(events, source, readHookCondition);
    return {
      hooks,
      problems: [...missing, ...problems].map((problem) => `${source.where}: ${problem}`),
    };
  });
  return {
    hooks: read.flatMap(({ hooks }) => hooks),
    problems: read.flatMap(({ problems }) => problems),
  };
}

interface ReadableHooks {
  readonly events: JsonObject;
  /** A list of what cannot be converted: one sentence each. */
  readonly missing: readonly string[];
}

function keepFormat({ hooks }: PluginHooks): ReadableHooks {
  return { events: hooks, missing: [] };
}

function toOwnFormat({ hooks }: PluginHooks): ReadableHooks {
  const { groups, missing } = convertHooks(GEMINI_HOOKS, { hooks: replaceVariables(hooks) });
  return { events: Object.fromEntries(groups) as JsonObject, missing };
}

/**
 * Replaces the variables that Gemini CLI fills in before it runs a hook. The variables in their place are set when the
 * hook runs, so that no character of a path can change the command.
 */
function replaceVariables(value: JsonValue): JsonValue {
  if (typeof value === 'string') {
    return value
      .replaceAll('${extensionPath}', () => '${CLAUDE_PLUGIN_ROOT}')
      .replaceAll('${workspacePath}', () => '${CLAUDE_PROJECT_DIR}')
      .replaceAll(/\$\{(?:\/|pathSeparator)\}/g, '/');
  }
  if (Array.isArray(value)) return value.map((item: JsonValue) => replaceVariables(item));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, replaceVariables(item ?? null)]),
  );
}
