import type { DeletedTask } from '../../../../api/index.ts';
import { plural } from '../../../../base/text.ts';
import { defineCommand } from '../../command.ts';
import { outputOptions } from '../../run-options.ts';
import { printJsonDocument, printLines } from './print.ts';
import { taskLabel } from './rows.ts';
import { withTasks } from './with-tasks.ts';

/** `muster tasks delete`: does not ask, and lists what was deleted. */
export const tasksDeleteCommand = defineCommand({
  words: 'tasks delete',
  summary: 'delete ended tasks with all below them, for good',
  operands: [{ name: 'ID…', completes: { found: 'ended tasks' } }],
  flags: ['json', 'data-dir'],
  examples: ['muster tasks delete 4f2k9x 7hm01c'],
  parse: ({ operands, flags }) => ({ ids: operands, ...outputOptions(flags) }),
  run: ({ ids, ...options }) =>
    withTasks(options, async (tasks) => {
      printDeleted(await tasks.delete(ids), options);
      return 0;
    }),
});

/** Lists the tasks that were deleted. */
export function printDeleted(
  deleted: readonly DeletedTask[],
  { json }: { readonly json: boolean },
): void {
  if (json) {
    printJsonDocument({ deleted: deleted.map(({ id }) => id) });
    return;
  }
  for (const { id, was } of deleted) {
    printLines(was === null ? id : `${id}  ${taskLabel(was)}`);
  }
  printLines(
    deleted.length === 0 ? 'Nothing to delete.' : `${plural(deleted.length, 'task')} deleted`,
  );
}
