/** What may work at a time. */
export interface ParallelLimits {
  /** Tasks of one tree. */
  readonly maxParallel: number;
  /** Requests in flight for one provider. */
  readonly maxConcurrent: number;
}

/** The share of `ulimit -n` that the logs' descriptors take (store). */
const SHARE_OF_LOGS = 1 / 4;
/** What the process itself has open, and what its tools open for a moment. */
const FILES_OF_PROCESS = 40;
/** A task at work has a connection open, or a command's pipes and the file of its output. */
const FILES_OF_TASK = 3;

/**
 * As much of what is wanted as the open files limit lets work, the rest queues; without it tasks would
 * fail in the middle of their work. `limit` null: not known, and nothing is cut.
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
