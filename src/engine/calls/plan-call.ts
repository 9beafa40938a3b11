import { relative } from 'node:path/posix';
import type { ErrorCode } from '../../base/errors.ts';
import { lazy } from '../../base/lazy.ts';
import { isInside } from '../../base/path-inside.ts';
import { createExclusionCheck } from '../../policy/excluded-paths.ts';
import type { LanguageCall } from '../../protocol/languages.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { CodePort } from '../../protocol/tool.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import type { TaskRun } from '../task/task-run.ts';

/** Creates the description of a call for language servers. */
export function createLanguageCall(
  { home }: Pick<EngineDeps, 'home'>,
  { spec, permissions }: Pick<TaskRun, 'spec' | 'permissions'>,
  signal: AbortSignal,
): LanguageCall {
  const { rights } = permissions;
  const { roots } = rights;
  const read = { tool: 'Read', kind: 'read', inToolSet: true, access: NO_RESOLVED_ACCESS } as const;
  // Few calls need this, and the rules have to be compiled for it.
  const listWithheld = lazy(() =>
    roots.map((root) => ({
      root,
      rule: createExclusionCheck(read, { rights, home }, { asked: root, real: root }),
    })),
  );
  return {
    cwd: spec.cwd,
    roots,
    signal,
    isReadable: (path) =>
      listWithheld().some(
        ({ root, rule }) => isInside(root, path) && rule?.(relative(root, path)) === undefined,
      ),
  };
}

const NO_RESOLVED_ACCESS = { ...NO_ACCESS, reads: [], writes: [] };

/** Creates the port through which one call asks language servers. Returns undefined if there are none. */
export function createCodePort(
  { languages, home }: Pick<EngineDeps, 'languages' | 'home'>,
  run: Pick<TaskRun, 'spec' | 'permissions'>,
  signal: AbortSignal,
): CodePort | undefined {
  if (languages === undefined) return undefined;
  const call = createLanguageCall({ home }, run, signal);
  return {
    answer: async (question) => (await languages()).answer(question, call),
    listProblems: async (path) => (await languages()).listProblems(path, call),
    planRename: async (symbol) => (await languages()).planRename(symbol, call),
  };
}

/** A call whose changes are known, or the reason why there can be none. */
export type CallWithPlan =
  | { readonly ok: true; readonly call: ReadyCall }
  | { readonly ok: false; readonly text: string; readonly error: ErrorCode };

/** Tells whether a call finds out by a plan which files it changes. */
export function needsPlan({ tool, input }: ReadyCall): boolean {
  return tool.changePlan?.isNeeded(input) === true;
}

/**
 * Plans the changes of a call. The planned call is decided as a call of Edit for all files that it changes, after the
 * call itself was allowed.
 */
export async function planCall(
  deps: EngineDeps,
  run: TaskRun,
  ready: ReadyCall,
): Promise<CallWithPlan> {
  const { tool, input } = ready;
  const signal = run.cancellation.turnSignal;
  const code = createCodePort(deps, run, signal);
  const { cwd, id: taskId } = run.spec;
  const callId = ready.call.id;
  const context = { cwd, taskId, callId, signal, ...(code === undefined ? {} : { code }) };
  const plan = await tool.changePlan?.make(input, context);
  if (plan === undefined) return { ok: true, call: ready };
  if (!plan.ok) return plan;
  const { isReadable } = createLanguageCall(deps, run, signal);
  const withheld = plan.access.writes.find((path) => !isReadable(path));
  if (withheld !== undefined) {
    const text = `This would change ${withheld}, which a rule withholds from this task. Nothing was changed.`;
    return { ok: false, error: 'PERMISSION_DENIED', text };
  }
  // Hooks have not seen the changes of the plan.
  const { hookVerdict: _, ...others } = ready;
  return {
    ok: true,
    call: {
      ...others,
      tool: plan.tool,
      input: plan.input,
      access: plan.access,
      decidedAs: 'Edit',
    },
  };
}
