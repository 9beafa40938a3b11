import type { ErrorCode } from '../../base/errors.ts';
import type { CodePort } from '../../protocol/tool.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import type { TaskRun } from '../task/task-run.ts';

/** Creates the port through which one call asks language servers. Returns undefined if there are none. */
export function createCodePort(
  { languages }: Pick<EngineDeps, 'languages'>,
  run: Pick<TaskRun, 'spec' | 'permissions'>,
  signal: AbortSignal,
): CodePort | undefined {
  if (languages === undefined) return undefined;
  const { roots } = run.permissions.rights;
  const call = { cwd: run.spec.cwd, roots, signal };
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
  const context = { cwd: run.spec.cwd, ...(code === undefined ? {} : { code }) };
  const plan = await tool.changePlan?.make(input, context);
  if (plan === undefined) return { ok: true, call: ready };
  if (!plan.ok) return plan;
  return {
    ok: true,
    call: {
      ...ready,
      tool: plan.tool,
      input: plan.input,
      access: plan.access,
      decidedAs: 'Edit',
    },
  };
}
