import { resolve } from 'node:path';
import { openTasks, type Tasks } from '../../../../api/index.ts';
import { printNotice } from '../../output.ts';
import type { DataOptions } from '../../run-options.ts';

interface OpenOptions extends DataOptions {
  /** Whether to make the data directory if it is missing. Default false. */
  readonly create?: boolean;
}

/** Opens the tasks of a data directory for some work, and closes them after it. */
export async function withTasks<Result>(
  { dataDir, create = false }: OpenOptions,
  work: (tasks: Tasks) => Result | Promise<Result>,
): Promise<Result> {
  const tasks = await openTasks({
    ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
    create,
    onNotice: printNotice,
  });
  try {
    return await work(tasks);
  } finally {
    await tasks.close();
  }
}
