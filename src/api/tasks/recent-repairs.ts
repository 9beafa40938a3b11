import { MusterError } from '../../base/errors.ts';
import type { Environment } from '../../sys/env.ts';
import { RepairCount, type RepairsByModel } from '../../report/repairs.ts';
import { openTasks } from './tasks.ts';

/** The maximum number of logs that are read, the newest first. */
const MAX_LOGS = 20;

/**
 * Counts how often the answers of each model had to be repaired, in the newest tasks of a data directory. Does not
 * change the data directory.
 */
export async function recentRepairs(
  dataDir: string,
  environment: Environment,
): Promise<RepairsByModel> {
  const repairs = new RepairCount();
  const tasks = openTasks({ environment: { ...environment, MUSTER_DATA_DIR: dataDir } });
  try {
    for (const { id } of tasks.list().slice(0, MAX_LOGS)) {
      try {
        for await (const event of tasks.events(id)) repairs.add(event);
      } catch (error) {
        // Skip a log that cannot be read. Every list of tasks reports it.
        if (!(error instanceof MusterError)) throw error;
      }
    }
  } finally {
    await tasks.close();
  }
  return repairs.byModel;
}
