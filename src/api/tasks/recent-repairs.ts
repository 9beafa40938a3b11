import { MusterError } from '../../base/errors.ts';
import type { Environment } from '../../sys/env.ts';
import { RepairCount, type RepairsByModel } from '../../report/repairs.ts';
import { openTasks } from './tasks.ts';

/** The number of logs that are read, the newest first. */
const LOOKED_AT = 20;

/**
 * Counts the repairs to the answers of the newest tasks of a data directory. Changes nothing in it.
 */
export async function recentRepairs(
  dataDir: string,
  environment: Environment,
): Promise<RepairsByModel> {
  const count = new RepairCount();
  const tasks = openTasks({ environment: { ...environment, MUSTER_DATA_DIR: dataDir } });
  try {
    for (const { id } of tasks.list().slice(0, LOOKED_AT)) {
      try {
        for await (const event of tasks.events(id)) count.add(event);
      } catch (error) {
        // A log that cannot be read has a line of its own wherever tasks are listed.
        if (!(error instanceof MusterError)) throw error;
      }
    }
  } finally {
    await tasks.close();
  }
  return count.byModel;
}
