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
import type { ContextArgument } from '../../task/context-argument.ts';

/** The context that a child gets in addition to its prompt, ready to be frozen. */
export interface TransferredContext {
  /** The plan of the child, changed as this context needs it. */
  readonly plan: ChildPlan;
  readonly initialContext?: InitialContext;
  readonly forked?: {
    readonly prefix: SharedPrefix;
    readonly conversation: ForkedConversation;
  };
  readonly summarized?: {
    readonly conversation: SummarizedConversation;
    /** The least that the request for the summary can cost. */
    readonly minimumExpense: Expense;
    /** The details of the model that writes the summary. */
    readonly modelDetails: ModelDetails;
  };
  /** Ids of the tasks whose results it gets: it may see these tasks. */
  readonly resultTasks: readonly string[];
}

/** A Task call that passes context to its child. */
export interface TransferRequest {
  readonly caller: TaskRun;
  /** The id of the child. */
  readonly id: string;
  readonly plan: ChildPlan;
  /** The last line of its system prompt, which describes this task. */
  readonly taskLine: string;
  readonly context: ContextArgument;
}
