import type {
  InitialContext,
  ForkedConversation,
  SummarizedConversation,
} from '../../../protocol/initial-context.ts';
import type { ModelDetails } from '../../../protocol/model.ts';
import type { Expense } from '../../limits/budget.ts';
import type { ChildPlan } from '../plan-child.ts';
import type { SharedPrefix } from '../../prompt/prefix.ts';
import type { TaskRun } from '../../task/task-run.ts';
import type { ContextRequest } from '../../task/context-request.ts';

/** What a child gets beside its prompt, ready to be frozen. */
export interface TransferredContext {
  /** The child as it is to be made with that. */
  readonly plan: ChildPlan;
  readonly initialContext?: InitialContext;
  readonly forked?: {
    readonly prefix: SharedPrefix;
    readonly conversation: ForkedConversation;
  };
  readonly summarized?: {
    readonly conversation: SummarizedConversation;
    /** What asking for the summary can take. */
    readonly least: Expense;
    /** Of the model that is asked. */
    readonly facts: ModelDetails;
  };
  /** Tasks whose results it gets: it may reach them. */
  readonly resultTasks: readonly string[];
}

/** A Task call that wants its child to have more than the prompt. */
export interface TransferRequest {
  readonly caller: TaskRun;
  /** The child: its id, and what was decided about it. */
  readonly id: string;
  readonly plan: ChildPlan;
  /** What its system prompt would end with: what is particular to this task. */
  readonly taskLine: string;
  readonly context: ContextRequest;
}
