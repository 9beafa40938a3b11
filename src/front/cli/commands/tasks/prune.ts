import { UsageError } from '../../../../base/errors.ts';
import { defineCommand, type CommandContext } from '../../command.ts';
import { outputOptions } from '../../run-options.ts';
import { printDeleted } from './delete.ts';
import { withTasks } from './with-tasks.ts';

const DAY_MS = 86_400_000;

/** `muster tasks prune`: deletes whole trees only, as the cleaning at each start does. */
export const tasksPruneCommand = defineCommand({
  words: 'tasks prune',
  summary: 'delete the conversations that ended long ago, for good',
  operands: [],
  flags: ['days', 'json', 'data-dir'],
  examples: ['muster tasks prune', 'muster tasks prune --days 7'],
  parse: ({ flags }) => ({ days: flags.count('days', 0), ...outputOptions(flags) }),
  run: ({ days, ...options }, context) =>
    withTasks(options, async (tasks) => {
      const kept = days ?? (await retentionDays(context));
      printDeleted(await tasks.prune(Date.now() - kept * DAY_MS), options);
      return 0;
    }),
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
