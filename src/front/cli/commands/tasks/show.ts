import { resolve } from 'node:path';
import type { Tasks } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { plural } from '../../../../base/text.ts';
import { defineCommand } from '../../command.ts';
import { checkNewFile, PRIVATE, writeNewFile } from '../../new-file.ts';
import { outputOptions } from '../../run-options.ts';
import { TASK_VALUES } from '../../completion-values.ts';
import { printJsonDocument, printLines, printPieces } from './print.ts';
import { withTasks } from './with-tasks.ts';

/**
 * `muster tasks show`. JSON: the result envelope, with the activity of the task, who ended it, how its model
 * was chosen, and the tree below it.
 */
export const tasksShowCommand = defineCommand({
  words: 'tasks show',
  summary: 'a task and all below it: where the time went, turns, receipt, answer',
  operands: [{ name: 'ID', completes: TASK_VALUES }],
  flags: ['html', 'force', 'json', 'data-dir'],
  examples: ['muster tasks show 4f2k9x', 'muster tasks show 4f2k9x --html report.html'],
  parse: ({ operands: [id = ''], flags }) => {
    const html = flags.text('html');
    const force = flags.has('force');
    if (force && html === null) throw new UsageError('--force goes with --html FILE');
    return { id, html, force, ...outputOptions(flags) };
  },
  run: ({ id, html, force, ...options }) =>
    withTasks(options, async (tasks) => {
      if (html !== null) return writePage(tasks, { id, file: html, force, json: options.json });
      const { reportJson, printTaskReport } = await import('./show-report.ts');
      const state = tasks.state(id);
      const envelope = tasks.envelope(state);
      const tree = await tasks.report(state.spec.id);
      if (options.json) printJsonDocument(reportJson({ envelope, state, tree }));
      else printTaskReport({ envelope, state, tree });
      return 0;
    }),
});

interface PageOptions {
  readonly id: string;
  /** `-`: stdout. */
  readonly file: string;
  readonly force: boolean;
  readonly json: boolean;
}

/** Writes the page of `--html` as a whole or not at all; only its user can read it. */
async function writePage(tasks: Tasks, { id, file, force, json }: PageOptions): Promise<number> {
  const page = { path: resolve(file), force, mode: PRIVATE };
  if (file === '-') refuseTerminal(id, { json });
  else checkNewFile(page);
  const { treePage } = await import('../../../html/page.ts');
  const { EventLines } = await import('../../../html/event-lines.ts');
  const lines = new EventLines();
  const tree = await tasks.report(id, lines.add);
  const pieces = treePage(tree, lines);
  if (file === '-') {
    await printPieces(pieces);
    return 0;
  }
  const { path } = page;
  const bytes = await writeNewFile(page, pieces);
  const task = tree.rows[0]?.id ?? id;
  if (json) printJsonDocument({ task_id: task, file: path, bytes });
  else printLines(`task ${task} is in ${path} (${plural(bytes, 'byte')})`);
  return 0;
}

function refuseTerminal(id: string, { json }: { readonly json: boolean }): void {
  if (json) throw new UsageError('--json does not go with --html -: both are for stdout');
  if (process.stdout.isTTY === true) {
    throw new UsageError(
      `a page is for a file or a program, not for a terminal: muster tasks show ${id} --html FILE`,
    );
  }
}
