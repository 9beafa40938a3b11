import { taskCaps } from '../engine/limits/budget-caps.ts';
import { Budget, expenseOf } from '../engine/limits/budget.ts';
import type { EngineDeps } from '../engine/task/deps.ts';
import { TaskRun, type TaskRunParts } from '../engine/task/task-run.ts';
import { Tree, type TreeParts } from '../engine/task/tree.ts';
import { LoggedBudget } from './logged-budget.ts';
import type { Script } from './script.ts';
import { Cancellation } from '../engine/task/cancellation.ts';

/** A task that is run again, alone: what it shared with its tree its log tells. */
export class LoggedRun extends TaskRun {
  override readonly budget: Budget;

  constructor(deps: EngineDeps, parts: TaskRunParts, script: Script) {
    const { deadlines } = deps;
    const isInterruptible = parts.parent === null;
    super(deps, { ...parts, cancellation: new LoggedCancellation({ deadlines, isInterruptible }) });
    this.budget = new LoggedBudget(taskCaps(this.spec.limits), script);
    if (this.state.end === null) this.budget.recover(expenseOf(this.state.activation));
  }
}

/** Sets no time limit: the log says when the time was up. */
class LoggedCancellation extends Cancellation {
  override callAfter(): void {}
}

const SPENT_BY_TREE = 'the retries of the whole task tree';

/** The tree of such a task. */
export class LoggedTree extends Tree {
  private readonly script: Script;

  constructor(id: string, parts: TreeParts, script: Script) {
    super(id, parts);
    this.script = script;
  }

  /** Others of the tree have used them up where the log says so. */
  override get retriesLeft(): number {
    const next = this.script.next();
    const isSpent = next?.type === 'turn.failed' && next.failure.message.includes(SPENT_BY_TREE);
    return isSpent ? 0 : Infinity;
  }
}
