import type { JsonObject } from '../../base/json.ts';
import { convertHooks, GEMINI_HOOKS } from '../../hooks/product-hooks.ts';
import { readHooks, type HooksOfFile } from '../../hooks/read-hooks.ts';
import { readHookCondition } from '../../trust/hook-conditions.ts';
import type { PluginHooks } from '../../plugins/active-plugins.ts';

/** Reads the hooks of active plugins. What of them has no effect is a problem, which names the file. */
export function readPluginHooks(plugins: readonly PluginHooks[]): HooksOfFile {
  const read = plugins.map(({ source, vendor, hooks }) => {
    const { groups, missing } = convertHooks(GEMINI_HOOKS, { hooks });
    const own = vendor === 'gemini' ? (Object.fromEntries(groups) as JsonObject) : hooks;
    const result = readHooks(own, source, readHookCondition);
    const unread = vendor === 'gemini' ? missing : [];
    return {
      hooks: result.hooks,
      problems: [...unread, ...result.problems].map((each) => `${source.where}: ${each}`),
    };
  });
  return {
    hooks: read.flatMap(({ hooks }) => hooks),
    problems: read.flatMap(({ problems }) => problems),
  };
}
