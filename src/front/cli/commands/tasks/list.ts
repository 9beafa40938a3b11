import { systemClock } from '../../../../base/clock.ts';
import { steadyNow } from '../../../../protocol/state/steady-time.ts';
import { realpathSync } from 'node:fs';
import { activityText, type Tasks, type TaskSummary } from '../../../../api/index.ts';
import { MusterError } from '../../../../base/errors.ts';
import { oneLine, plural } from '../../../../base/text.ts';
import type { TasksQuery } from '../../command.ts';
import { printJsonRows, printLines, printProse } from './print.ts';
import { listedRows, taskTitle } from './rows.ts';
import { clockTime, localMinute } from '../../../../base/local-time.ts';

/** What fits into a few screens; `--all` shows the rest. */
const MOST = { trees: 50, rows: 200 };

type TasksList = Extract<TasksQuery, { kind: 'tasks-list' }>;

/** `muster tasks list`. JSON: all that match; what each has used in detail, `muster usage` tells. */
export function listTasks(tasks: Tasks, { json, all, status, here }: TasksList): number {
  const cwd = here ? realpathSync(process.cwd()) : null;
  const found = tasks
    .list()
    .filter((task) => status.length === 0 || status.includes(task.status))
    .filter((task) => cwd === null || task.cwd === cwd);
  if (json) {
    printJsonRows(found.map(withoutLedger));
    return 0;
  }
  if (found.length === 0) {
    printLines(status.length > 0 || here ? 'No such tasks.' : 'No tasks yet.');
    return 0;
  }
  const { rows, left } = listedRows(found, all ? null : MOST);
  printProse(...rows.map(({ task, level }) => listLine(task, level) + doing(tasks, task)));
  if (left.tasks > 0) {
    const trees = plural(left.trees, 'older conversation');
    printLines(`… and ${trees} of ${plural(left.tasks, 'task')}: --all lists them`);
  }
  return 0;
}

/** One of `muster tasks list --json`. */
export type ListedTask = Omit<TaskSummary, 'ledger'>;

function withoutLedger(task: TaskSummary): ListedTask {
  const { ledger: _, ...rest } = task;
  return rest;
}

function listLine(task: TaskSummary, level: number): string {
  const when = localMinute(task.created);
  const indent = '  '.repeat(level);
  const asks = task.questions === undefined ? '' : `  [asks: ${questionIds(task.questions)}]`;
  const reused = task.reused === undefined ? '' : `  [reused from ${task.reused}]`;
  return `${task.id}  ${when}  ${task.status.padEnd(11)}  ${indent}${taskTitle(task)}${reused}${waits(task)}${asks}`;
}

/** Of one at work in any process, which its log tells. */
function doing(tasks: Tasks, { id, status, heldBy }: TaskSummary): string {
  if (status !== 'running' || heldBy !== undefined) return '';
  try {
    const state = tasks.state(id);
    const text = activityText(state, steadyNow(state.lifetime, systemClock));
    return text === null ? '' : `  [${text}]`;
  } catch (thrown) {
    // A log that is damaged, or deleted this moment: `tasks show` says so.
    if (thrown instanceof MusterError) return '';
    throw thrown;
  }
}

function waits({ heldBy, status }: TaskSummary): string {
  if (heldBy === undefined || (status !== 'running' && status !== 'queued')) return '';
  const until = heldBy.untilMs === null ? '' : ` until ${clockTime(heldBy.untilMs)}`;
  return `  [waits for ${oneLine(heldBy.because)}${until}]`;
}

function questionIds(questions: NonNullable<TaskSummary['questions']>): string {
  return questions.map(({ id }) => id).join(', ');
}
