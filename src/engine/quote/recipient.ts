import { addRestrictions } from '../../policy/conversation-rules.ts';
import { newId } from '../../base/ids.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { LOG_VERSION } from '../../protocol/events/event.ts';
import type { ResolvedModel } from '../../protocol/model.ts';
import type { Rights } from '../../protocol/permission.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { EngineDeps } from '../task/deps.ts';
import { foldLog } from '../task/fold-log.ts';
import type { CallingTask } from '../permissions/prepare-call.ts';
import type { RunningTasks } from '../task/running-tasks.ts';
import { initialState } from '../../protocol/state/task-state.ts';
import type { CallerPermissions } from '../task/task-permissions.ts';

/** The task that a user's message is for. */
export type QuoteRecipient =
  /**
   * A task that has a log and may run in this process. `maxRights` narrows its recorded rights to those with which it
   * continues.
   */
  | { readonly task: string; readonly maxRights: (recorded: Rights) => Rights }
  /** A conversation that is about to start. */
  | {
      readonly agent: AgentDefinition;
      readonly model: ResolvedModel;
      readonly rights: Rights;
      readonly cwd: string;
    };

/** A task, existing or future, for which items are quoted. Its rights decide which files may be read. */
export type RecipientTask = Omit<CallingTask, 'view'>;

/** Finds the running or recorded task to which a message goes, or builds the task that is about to start. */
export function resolveRecipient(
  { store, clock }: Pick<EngineDeps, 'store' | 'clock'>,
  to: QuoteRecipient,
  running: Pick<RunningTasks, 'get'>,
): RecipientTask {
  if (!('task' in to)) return futureRootTask(to, clock.now());
  const run = running.get(to.task);
  if (run !== undefined) {
    return { spec: run.spec, state: run.state, permissions: run.permissions };
  }
  const state = foldLog(store, to.task);
  const { spec } = state;
  const rights = addRestrictions(to.maxRights(spec.rights), state.restrictions);
  return { spec, state, permissions: { ...NO_GRANTS, rights } };
}

const NO_GRANTS: Omit<CallerPermissions, 'rights'> = {
  granted: () => [],
  modeGrants: () => [],
  isTrusted: () => false,
};

function futureRootTask(
  { agent, model, rights, cwd }: Exclude<QuoteRecipient, { readonly task: string }>,
  ts: number,
): RecipientTask {
  const id = newId();
  const spec: TaskSpec = {
    id,
    root: id,
    parent: null,
    parentCall: null,
    depth: 0,
    agent,
    description: '',
    prompt: '',
    model,
    cwd,
    rights,
    tools: ['Read'],
    limits: { maxTurns: null, maxTokens: null, wallMs: null, resultMaxTokens: 0 },
    prefix: '',
    handed: [],
    background: false,
    source: 'sdk',
    params: {},
  };
  const eventFields = { v: LOG_VERSION, seq: 0, ts, task: id, epoch: 0 };
  return {
    spec,
    state: initialState({ ...eventFields, type: 'task.created', spec }),
    permissions: { ...NO_GRANTS, rights },
  };
}
