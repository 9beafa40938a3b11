/** The time in seconds between the signal XCPU, at the limit, and KILL for a program that ignores it. */
const GRACE_SECONDS = 5;

/** The exit code with which a shell reports a program that the signal XCPU (24, on Linux and macOS) has ended. */
const EXIT_CODE = 128 + 24;

/** Tells whether a program was ended because it has reached its limit on processor time. */
export function isCpuLimitEnd(code: number | null, signal: NodeJS.Signals | null): boolean {
  return signal === 'SIGXCPU' || code === EXIT_CODE;
}

/**
 * Wraps a command in a shell that limits the processor time and is then replaced by the command. Each process that the
 * command starts has the same limit for itself. A stricter limit that the user has set stays.
 *
 * @param seconds the processor time of one process
 */
export function withCpuLimit(
  argv: readonly string[],
  seconds: number,
): readonly [string, ...string[]] {
  // The soft limit is set before the hard one, because a soft limit must never exceed the hard one.
  const lines = [
    `ulimit -S -t ${seconds} 2>/dev/null`,
    `ulimit -H -t ${seconds + GRACE_SECONDS} 2>/dev/null`,
    'exec "$@"',
  ];
  return ['/bin/sh', '-c', lines.join('\n'), 'sh', ...argv];
}
