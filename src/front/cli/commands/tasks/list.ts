import { steadyNow } from '../../../../protocol/state/steady-time.ts';
import { realpathSync } from 'node:fs';
import {
  activityText,
  type Tasks,
  type TaskSummary,
  type WorkspaceSummary,
} from '../../../../api/index.ts';
import { systemClock } from '../../../../base/clock.ts';
import { MusterError } from '../../../../base/errors.ts';
import { formatClockTime, formatLocalMinute } from '../../../../base/local-time.ts';
import { collapseWhitespace, plural } from '../../../../base/text.ts';
import { TASK_STATUSES } from '../../../../protocol/result.ts';
import { formatOverlaps } from '../../../../protocol/state/overlaps.ts';
import { findListedOverlaps, workspaceNote } from './list-workspaces.ts';
import { printJsonRows, printLines, printProse } from './print.ts';
import { listedRows, taskLabel } from './rows.ts';
import { defineTasksCommand } from './with-tasks.ts';

/** The maximum numbers of listed trees and tasks, which fill a few screens. `--all` lists the others, too. */
const MAX_LISTED = { trees: 50, rows: 200 };

const MAX_OVERLAP_BYTES = 4_000;

/** `muster tasks list`. JSON lists all matching tasks, without their detailed usage, which `muster usage` shows. */
export const tasksListCommand = defineTasksCommand({
  words: 'tasks list',
  summary: 'the tasks of this data directory, newest first',
  operands: [],
  flags: ['all', 'status', 'here'],
  examples: ['muster tasks list', 'muster tasks list --status running --status queued --json'],
  parse: ({ flags }) => ({
    all: flags.has('all'),
    status: flags.choices('status', TASK_STATUSES),
    here: flags.has('here'),
  }),
  run: async (tasks, { all, status, here, json }, context) => {
    const cwd = here ? realpathSync(context.cwd) : null;
    const matching = tasks
      .list()
      .filter((task) => status.length === 0 || status.includes(task.status))
      .filter((task) => cwd === null || task.cwd === cwd);
    const workspaces = new Map((await tasks.workspaceSummaries()).map((each) => [each.id, each]));
    if (json) printJsonRows(matching.map((task) => toJson(task, workspaces.get(task.id))));
    else if (matching.length > 0)
      await printTasks(tasks, matching, { limits: all ? null : MAX_LISTED, workspaces });
    else printLines(status.length > 0 || here ? 'No such tasks.' : 'No tasks yet.');
  },
});

async function printTasks(
  tasks: Tasks,
  listed: readonly TaskSummary[],
  {
    limits,
    workspaces,
  }: {
    readonly limits: typeof MAX_LISTED | null;
    readonly workspaces: ReadonlyMap<string, WorkspaceSummary>;
  },
): Promise<void> {
  const { rows, omitted } = listedRows(listed, limits);
  const lines = rows.map(
    async ({ task, level }) =>
      listLine(task, level) +
      workspaceNote(task, workspaces.get(task.id)) +
      (await activityNote(tasks, task)),
  );
  printProse(...(await Promise.all(lines)));
  const shown = rows.flatMap(({ task }) => workspaces.get(task.id) ?? []);
  printLines(...formatOverlaps(findListedOverlaps(tasks, shown), MAX_OVERLAP_BYTES));
  if (omitted.tasks > 0) {
    const trees = plural(omitted.trees, 'older conversation');
    printLines(`… and ${trees} of ${plural(omitted.tasks, 'task')}: --all lists them`);
  }
}

/** A task in `muster tasks list --json`. */
export type ListedTask = Omit<TaskSummary, 'ledger'> & {
  /** The workspace of the task; absent if there is none. */
  readonly workspace?: Pick<WorkspaceSummary, 'kind' | 'branch' | 'landing'>;
};

function toJson(task: TaskSummary, workspace: WorkspaceSummary | undefined): ListedTask {
  const { ledger: _, ...rest } = task;
  if (workspace === undefined) return rest;
  const { kind, branch, landing } = workspace;
  return { ...rest, workspace: { kind, branch, landing } };
}

function listLine(task: TaskSummary, level: number): string {
  const when = formatLocalMinute(task.created);
  const indent = '  '.repeat(level);
  const asks = task.questions === undefined ? '' : `  [asks: ${questionIds(task.questions)}]`;
  const reused = task.reused === undefined ? '' : `  [reused from ${task.reused}]`;
  return `${task.id}  ${when}  ${task.status.padEnd(11)}  ${indent}${taskLabel(task)}${reused}${heldNote(task)}${asks}`;
}

/** Describes what a running task does now, in any process; empty for all other tasks. */
async function activityNote(tasks: Tasks, { id, status, heldBy }: TaskSummary): Promise<string> {
  if (status !== 'running' || heldBy !== undefined) return '';
  try {
    const state = tasks.state(id);
    const text = activityText(state, steadyNow(state.lifetime, systemClock));
    return text === null ? '' : `  [${text}]`;
  } catch (thrown) {
    // The log is damaged or has just been deleted; `muster tasks show` reports the reason.
    if (thrown instanceof MusterError) return '';
    throw thrown;
  }
}

function heldNote({ heldBy, status }: TaskSummary): string {
  if (heldBy === undefined || (status !== 'running' && status !== 'queued')) return '';
  const until = heldBy.untilMs === null ? '' : ` until ${formatClockTime(heldBy.untilMs)}`;
  return `  [waiting for ${collapseWhitespace(heldBy.because)}${until}]`;
}

function questionIds(questions: NonNullable<TaskSummary['questions']>): string {
  return questions.map(({ id }) => id).join(', ');
}
