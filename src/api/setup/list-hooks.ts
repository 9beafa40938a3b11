import { dropMissing } from '../../base/drop-missing.ts';
import { describeAction, type HookDefinition } from '../../hooks/hook-definition.ts';
import { readHookDefinitions } from '../../trust/hook-definitions.ts';
import { readHookFiles } from '../../trust/hook-files.ts';
import { findDefinitionHooks, readFoundHooks } from './definition-hooks.ts';
import { loadPlugins } from './plugins.ts';
import { readPluginHooks } from '../../plugins/plugin-hooks.ts';
import { createProjectTrust } from '../../trust/project-trust.ts';
import type { StateOptions } from '../../trust/state-directory.ts';
import type { HookReport, HookRow } from '../../report/hook-lines.ts';

/**
 * Lists the hooks of the settings of the user and of the project, of active plugins, and of the agents and skills that can be
 * used. Nothing is run.
 */
export async function listHooks(state: StateOptions): Promise<HookReport> {
  const notes: string[] = [];
  const trust = createProjectTrust({
    ...state,
    decision: false,
    onProblem: (message) => notes.push(message),
  });
  const { files, untrusted, problems } = readHookFiles(state, trust);
  const read = readHookDefinitions(files);
  const plugins = await loadPlugins({ ...state, onProblem: (message) => notes.push(message) });
  const own = readPluginHooks(plugins.hooks);
  const { cwd, environment } = state;
  const found = readFoundHooks(
    await findDefinitionHooks({ cwd, environment, trust, plugins: plugins.definitions }),
  );
  const all = [read, own, found];
  return {
    hooks: all.flatMap(({ hooks }) => hooks).map(toRow),
    untrusted,
    problems: [...notes, ...problems, ...all.flatMap((each) => each.problems)],
  };
}

function toRow({
  event,
  matcher,
  condition,
  action,
  source,
  path,
  timeoutMs,
  isAsync,
  isOnce,
}: HookDefinition): HookRow {
  return {
    event,
    matcher,
    ...dropMissing({ condition: condition?.text }),
    kind: action.kind,
    what: describeAction(action),
    source,
    path,
    timeoutSeconds: timeoutMs / 1000,
    isAsync,
    isOnce,
  };
}
