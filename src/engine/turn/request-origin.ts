import type { Effort } from '../../protocol/agent.ts';
import type { RequestPrefix, ResolvedModel } from '../../protocol/model.ts';
import type { TaskRun } from '../task/task-run.ts';

/** Who is asked by a request of a task, and what it begins with. */
export interface RequestOrigin {
  readonly model: ResolvedModel;
  readonly prefix: RequestPrefix;
  /** The agent type that the provider's cache knows what follows by. */
  readonly agent: string;
  /** Absent: the model's own. */
  readonly effort?: Effort;
}

/** Of the next request. While a summary of its parent's conversation is due, that conversation's. */
export function requestOrigin({
  spec,
  prefix,
  state,
}: Pick<TaskRun, 'spec' | 'prefix' | 'state'>): RequestOrigin {
  const { handover } = state.conversation;
  if (handover !== null && handover.text === null) return handover.of;
  const { agent, inherited, model } = spec;
  const { effort } = agent;
  const own = { model, prefix, agent: inherited?.agent ?? agent.name };
  return effort === undefined ? own : { ...own, effort };
}
