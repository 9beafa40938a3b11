import { describeAction } from '../../hooks/hook-definition.ts';
import { readHookDefinitions } from '../../trust/hook-definitions.ts';
import { readHookFiles } from '../../trust/hook-files.ts';
import { createProjectTrust } from '../../trust/project-trust.ts';
import type { StateOptions } from '../../trust/state-directory.ts';
import type { HookReport, HookRow } from '../../report/hook-lines.ts';

/** Lists the hooks of the settings of the user and of the project. Nothing is run. */
export function listHooks(state: StateOptions): HookReport {
  const notes: string[] = [];
  const trust = createProjectTrust({
    ...state,
    decision: false,
    onProblem: (message) => notes.push(message),
  });
  const { files, untrusted, problems } = readHookFiles(state, trust);
  const read = readHookDefinitions(files);
  const hooks = read.hooks.map(
    ({ event, matcher, action, source, path, timeoutMs, isAsync, isOnce }): HookRow => ({
      event,
      matcher,
      kind: action.kind,
      what: describeAction(action),
      source,
      path,
      timeoutSeconds: timeoutMs / 1000,
      isAsync,
      isOnce,
    }),
  );
  return { hooks, untrusted, problems: [...notes, ...problems, ...read.problems] };
}
