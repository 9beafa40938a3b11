import { describeAction } from '../../hooks/hook-definition.ts';
import { readHookDefinitions } from '../../trust/hook-definitions.ts';
import { readHookFiles, type HookFiles } from '../../trust/hook-files.ts';
import { createProjectTrust } from '../../trust/project-trust.ts';
import type { StateOptions } from '../../trust/state-directory.ts';
import type { HookEventName, HookSource } from '../../protocol/hook.ts';

/** A hook that runs in the present project. */
export interface HookRow {
  readonly event: HookEventName;
  /** The pattern that the occasion must match. Empty: any. */
  readonly matcher: string;
  readonly kind: 'command' | 'http' | 'prompt';
  /** The command, the address or the question. */
  readonly what: string;
  readonly source: HookSource;
  /** The position in the file, such as `hooks.PreToolUse[0].hooks[1]`. */
  readonly path: string;
  readonly timeoutSeconds: number;
  readonly isAsync: boolean;
  readonly isOnce: boolean;
}

/** The hooks of a user and a project. */
interface HookReport {
  readonly hooks: readonly HookRow[];
  /** The files of the project whose hooks do not run, because the user has not trusted them. */
  readonly untrusted: HookFiles['untrusted'];
  /** The parts of the files that have no effect: one sentence each, with the file and the position in it. */
  readonly problems: readonly string[];
}

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
