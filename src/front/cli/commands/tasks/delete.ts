import { homedir } from 'node:os';
import type { Deleted, Tasks } from '../../../../api/index.ts';
import { loadConfig } from '../../../../config/load.ts';
import { UsageError } from '../../../../base/errors.ts';
import { plural } from '../../../../base/text.ts';
import { readEnvironment } from '../../../../sys/env.ts';
import { TRUST_NOTHING } from '../../../../sys/project-file.ts';
import { printJson, printLines } from './print.ts';
import { taskTitle } from './rows.ts';

const DAY_MS = 86_400_000;

/** `muster tasks delete`: asks nothing, says what went. */
export async function deleteTasks(
  tasks: Tasks,
  { ids, json }: { readonly ids: readonly string[]; readonly json: boolean },
): Promise<number> {
  tell(await tasks.delete(ids), { json });
  return 0;
}

/** `muster tasks prune`: whole trees only, as the sweep at each start does. */
export async function pruneTasks(
  tasks: Tasks,
  { days, json }: { readonly days: number | null; readonly json: boolean },
): Promise<number> {
  const kept = days ?? (await retentionDays());
  tell(await tasks.prune(Date.now() - kept * DAY_MS), { json });
  return 0;
}

async function retentionDays(): Promise<number> {
  const environment = readEnvironment();
  const home = environment['HOME'] || homedir();
  const cwd = process.cwd();
  const trust = TRUST_NOTHING;
  const loaded = await loadConfig({ environment, home, cwd, trust, flags: [] });
  const { retentionDays: days } = loaded.config.store;
  if (days > 0) return days;
  throw new UsageError(
    'store.retention_days = 0 keeps tasks for ever: say with --days how old is old enough',
  );
}

function tell(deleted: readonly Deleted[], { json }: { readonly json: boolean }): void {
  if (json) {
    printJson({ deleted: deleted.map(({ id }) => id) });
    return;
  }
  for (const { id, was } of deleted) {
    printLines(was === null ? id : `${id}  ${taskTitle(was)}`);
  }
  printLines(
    deleted.length === 0 ? 'Nothing to delete.' : `${plural(deleted.length, 'task')} deleted`,
  );
}
