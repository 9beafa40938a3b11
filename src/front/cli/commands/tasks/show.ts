import { resolve } from 'node:path';
import type { Tasks } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { checkNewFile, PRIVATE_MODE } from '../../new-file.ts';
import { TASK_VALUES } from '../../completion-values.ts';
import { printJsonDocument, printPieces, writeTaskFile } from './print.ts';
import { defineTasksCommand } from './with-tasks.ts';

/**
 * `muster tasks show`. JSON prints the result envelope, with the activity of the task, who ended it, how its model was
 * chosen, and the tree below it.
 */
export const tasksShowCommand = defineTasksCommand({
  words: 'tasks show',
  summary: 'a task and all below it: where the time went, turns, receipt, answer',
  operands: [{ name: 'ID', completes: TASK_VALUES }],
  flags: ['html', 'force'],
  examples: ['muster tasks show 4f2k9x', 'muster tasks show 4f2k9x --html report.html'],
  parse: ({ operands: [id = ''], flags }) => {
    const html = flags.text('html');
    const force = flags.has('force');
    if (force && html === null) throw new UsageError('--force goes with --html FILE');
    return { id, html, force };
  },
  run: async (tasks, { id, html, force, json }) => {
    if (html !== null) {
      await writePage(tasks, { id, file: html, force, json });
      return;
    }
    const { reportJson, printTaskReport } = await import('./show-report.ts');
    const state = tasks.state(id);
    const envelope = tasks.envelope(state);
    const tree = await tasks.report(state.spec.id);
    if (json) printJsonDocument(reportJson({ envelope, state, tree }));
    else printTaskReport({ envelope, state, tree });
  },
});

interface PageOptions {
  readonly id: string;
  /** The path of the page; `-` for stdout. */
  readonly file: string;
  readonly force: boolean;
  readonly json: boolean;
}

/** Writes the page of `--html` completely or not at all. Only its user can read the file. */
async function writePage(tasks: Tasks, { id, file, force, json }: PageOptions): Promise<void> {
  const page = { path: resolve(file), force, mode: PRIVATE_MODE };
  if (file === '-') refuseTerminal(id, { json });
  else checkNewFile(page);
  const { treePage } = await import('../../../html/page.ts');
  const { EventLines } = await import('../../../html/event-lines.ts');
  const { readTaskDiffs } = await import('../../../html/task-diffs.ts');
  const lines = new EventLines();
  const tree = await tasks.report(id, lines.add);
  const diffs = await readTaskDiffs(tree, () => tasks.workspaces(new AbortController().signal));
  const pieces = treePage(tree, { events: lines, diffs });
  if (file === '-') await printPieces(pieces);
  else await writeTaskFile(page, pieces, { task: tree.rows[0]?.id ?? id, json });
}

function refuseTerminal(id: string, { json }: { readonly json: boolean }): void {
  if (json) throw new UsageError('--json does not go with --html -: both are for stdout');
  if (process.stdout.isTTY === true) {
    throw new UsageError(
      `a page is for a file or a program, not for a terminal: muster tasks show ${id} --html FILE`,
    );
  }
}
