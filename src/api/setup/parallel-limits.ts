/** The maximum number of tasks and requests at a time. */
export interface ParallelLimits {
  /** The maximum number of running tasks of one tree. */
  readonly maxParallel: number;
  /** The maximum number of open requests of one provider. */
  readonly maxConcurrent: number;
}

/** The share of `ulimit -n` that the logs' descriptors take (store). */
const SHARE_OF_LOGS = 1 / 4;
/** The files that the process has open, and those that its tools open for a moment. */
const FILES_OF_PROCESS = 40;
/** The files of a running task: a connection, or the pipes and the output file of a command. */
const FILES_OF_TASK = 3;

/**
 * Reduces the limits to what the limit of open files allows, so that tasks queue instead of failing in the middle of
 * their work.
 *
 * @param limit the limit of open files, or null if it is not known and nothing is reduced
 */
export function limitByOpenFiles(
  wanted: ParallelLimits,
  limit: number | null,
): ParallelLimits & { readonly notice: string | null } {
  if (limit === null) return { ...wanted, notice: null };
  const files = Math.max(0, Math.floor(limit * (1 - SHARE_OF_LOGS)) - FILES_OF_PROCESS);
  const tasks = Math.max(1, Math.floor(files / FILES_OF_TASK));
  const maxParallel = Math.min(wanted.maxParallel, tasks);
  const maxConcurrent = Math.min(wanted.maxConcurrent, Math.max(1, files));
  const notice =
    maxParallel === wanted.maxParallel
      ? null
      : `the open files limit of ${limit} (ulimit -n) lets ${maxParallel} tasks of a tree work at a time, not max_parallel = ${wanted.maxParallel}; the rest queue`;
  return { maxParallel, maxConcurrent, notice };
}
