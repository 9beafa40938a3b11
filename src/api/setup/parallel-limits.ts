/** The maximum numbers of tasks and requests that run at the same time. */
export interface ParallelLimits {
  /** The maximum number of running tasks of one tree. */
  readonly maxParallel: number;
  /** The maximum number of open requests to one provider. */
  readonly maxConcurrent: number;
}

/** The share of `ulimit -n` that the store uses for the descriptors of logs. */
const LOG_SHARE = 1 / 4;
/** The number of files that the process itself keeps open, or that its tools open for a moment. */
const PROCESS_FILES = 40;
/** The number of open files of a running task: a connection, or the pipes and the output file of a command. */
const FILES_PER_TASK = 3;

/**
 * Reduces the limits so that tasks do not exceed the limit of open files. Tasks then wait for their turn instead of
 * failing in the middle of their work.
 *
 * @param limit the limit of open files, or null if it is unknown; nothing is reduced then
 */
export function limitByOpenFiles(
  configured: ParallelLimits,
  limit: number | null,
): ParallelLimits & { readonly notice: string | null } {
  if (limit === null) return { ...configured, notice: null };
  const files = Math.max(0, Math.floor(limit * (1 - LOG_SHARE)) - PROCESS_FILES);
  const tasks = Math.max(1, Math.floor(files / FILES_PER_TASK));
  const maxParallel = Math.min(configured.maxParallel, tasks);
  const maxConcurrent = Math.min(configured.maxConcurrent, Math.max(1, files));
  const notice =
    maxParallel === configured.maxParallel
      ? null
      : `the limit of ${limit} open files (ulimit -n) allows only ${maxParallel} tasks of a tree at a time instead of max_parallel = ${configured.maxParallel}; the other tasks wait`;
  return { maxParallel, maxConcurrent, notice };
}
