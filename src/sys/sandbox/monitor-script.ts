import { START_CHECK } from '../start-check.ts';

/** 2 GB in the 512-byte blocks that POSIX counts in. */
const FILE_BLOCKS = 4_194_304;
const MOST_PROCESSES = 4096;

/** POSIX sh; `ulimit` knows the number of processes by `-p` in dash, elsewhere by `-u`. */
const LIMITS = [
  `ulimit -f ${FILE_BLOCKS} 2>/dev/null`,
  `{ ulimit -u ${MOST_PROCESSES} || ulimit -p ${MOST_PROCESSES}; } 2>/dev/null`,
];

const MONITOR = [
  // Before the trap, so that TERM ends a shell that waits for the answer.
  ...START_CHECK,
  'trap : TERM',
  ...LIMITS,
  'echo begun >&2',
  '"$@" 2>&1',
  'code=$?',
  'set -- /proc/[0-9]*',
  // This shell and the first process of the namespace.
  'echo "left $(($# - 2))" >&2',
  'exit $code',
].join('\n');

/**
 * Runs the command inside a process namespace of its own, and says on stderr, which the command itself
 * does not get (its errors go to stdout): `begun` before, and after it `left N`, the processes that were
 * still there. It outlives TERM, which is for the command; all end when it ends.
 */
export function monitored(argv: readonly string[]): readonly string[] {
  return ['/bin/sh', '-c', MONITOR, 'sh', ...argv];
}

/** Runs the command within the same limits, in the place of the shell that sets them. */
export function limited(
  argv: readonly string[],
  { startCheck }: { readonly startCheck: boolean },
): readonly string[] {
  const lines = [...(startCheck ? START_CHECK : []), ...LIMITS, 'exec "$@"'];
  return ['/bin/sh', '-c', lines.join('\n'), 'sh', ...argv];
}

/** What was said on stderr of a monitored command, or of what should have started it. */
export interface MonitorReport {
  /** Whether the command itself ran. */
  readonly begun: boolean;
  /** Processes that it left; they are gone. */
  readonly left: number;
  /** Where it did not begin: why not, one line. */
  readonly problem: string;
}

export function readReport(stderr: string): MonitorReport {
  const begun = /^begun$/m.test(stderr);
  const left = begun ? Number(/^left (\d{1,6})$/m.exec(stderr)?.[1] ?? 0) : 0;
  const [line = ''] = stderr.trim().split('\n');
  return { begun, left, problem: begun ? '' : line.slice(0, 300) };
}
