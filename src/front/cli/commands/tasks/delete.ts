import type { DeletedTask } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { plural } from '../../../../base/text.ts';
import type { CommandContext } from '../../command.ts';
import { printJsonDocument, printLines } from './print.ts';
import { taskLabel } from './rows.ts';
import { defineTasksCommand } from './with-tasks.ts';

const DAY_MS = 86_400_000;

/** `muster tasks delete`: does not ask, and lists what was deleted. */
export const tasksDeleteCommand = defineTasksCommand({
  words: 'tasks delete',
  summary: 'delete ended tasks with all below them, for good',
  operands: [{ name: 'ID…', completes: { found: 'ended tasks' } }],
  flags: [],
  examples: ['muster tasks delete 4f2k9x 7hm01c'],
  parse: ({ operands: ids }) => ({ ids }),
  run: async (tasks, { ids, json }) => printDeleted(await tasks.delete(ids), { json }),
});

/** `muster tasks prune`: deletes only complete trees, as the cleanup at each start does. */
export const tasksPruneCommand = defineTasksCommand({
  words: 'tasks prune',
  summary: 'delete the conversations that ended long ago, for good',
  operands: [],
  flags: ['days'],
  examples: ['muster tasks prune', 'muster tasks prune --days 7'],
  parse: ({ flags }) => ({ days: flags.count('days', 0) }),
  run: async (tasks, { days, json }, context) => {
    const daysToKeep = days ?? (await retentionDays(context));
    printDeleted(await tasks.prune(Date.now() - daysToKeep * DAY_MS), { json });
  },
});

async function retentionDays({ environment, home, cwd }: CommandContext): Promise<number> {
  const { loadConfig } = await import('../../../../config/load.ts');
  const { TRUST_NOTHING } = await import('../../../../sys/files/project-file.ts');
  const loaded = await loadConfig({ environment, home, cwd, trust: TRUST_NOTHING, flags: [] });
  const { retentionDays: days } = loaded.config.store;
  if (days > 0) return days;
  throw new UsageError(
    'store.retention_days = 0 keeps tasks forever; say with --days after how many days to delete them',
  );
}

/** Lists the tasks that were deleted. */
function printDeleted(deleted: readonly DeletedTask[], { json }: { readonly json: boolean }): void {
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
