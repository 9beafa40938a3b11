import { openSync, readSync, writeSync } from 'node:fs';
import { readEnvironment } from '../env.ts';

/** The kinds of memory that a core dump of a process contains (core(5)). Processes that it starts inherit them. */
const FILTER = '/proc/self/coredump_filter';
/** No memory at all: a core dump has only the registers and the stack traces of no use to a thief. */
const NO_MEMORY = '0';

interface FilterFile {
  readonly descriptor: number;
  /** The filter with which this process was started. */
  readonly original: string;
}

/** The open file; null: the filter was not changed. */
let filter: FilterFile | null = null;

/**
 * Keeps API keys out of the files that are written when this process crashes: a core dump contains no memory (on
 * Linux), and a diagnostic report of Node no environment. Does nothing where the system does not allow that.
 */
export function excludeSecretsFromDumps(): void {
  // Without an option of Node there are no reports, and loading the module for them takes 0.1 ms.
  const hasOptions = process.execArgv.length > 0 || Boolean(readEnvironment()['NODE_OPTIONS']);
  if (hasOptions) process.report.excludeEnv = true;
  if (process.platform !== 'linux') return;
  try {
    const descriptor = openSync(FILTER, 'r+');
    const bytes = Buffer.alloc(16);
    const original = `0x${bytes.toString('latin1', 0, readSync(descriptor, bytes)).trim()}`;
    writeSync(descriptor, NO_MEMORY);
    filter = { descriptor, original };
  } catch {
    // This system has no such file or does not allow to write it, as in some containers.
  }
}

/**
 * Calls a function that starts a process. The process can be dumped as if the user had started it, so that people can
 * debug their own programs.
 */
export function spawnWithCoreDumps<Child>(start: () => Child): Child {
  if (filter === null) return start();
  const { descriptor, original } = filter;
  // The new process has run `exec`, and so has a filter of its own, when `start` returns.
  writeSync(descriptor, original);
  try {
    return start();
  } finally {
    writeSync(descriptor, NO_MEMORY);
  }
}
