import type { RunningProcess } from '../processes/process-table.ts';
import { START_CHECK } from '../processes/start-check.ts';

/** The maximum size of a file: 2 GB in the 512-byte blocks of POSIX. */
const FILE_BLOCKS = 4_194_304;
const MOST_PROCESSES = 4096;

/** Lines of POSIX sh. The number of processes is `ulimit -p` in dash and `-u` in other shells. */
const LIMITS = [
  `ulimit -f ${FILE_BLOCKS} 2>/dev/null`,
  `{ ulimit -u ${MOST_PROCESSES} || ulimit -p ${MOST_PROCESSES}; } 2>/dev/null`,
];

/** The maximum number of processes whose command lines are reported. */
const MOST_NAMED = 10;
const COMMAND_BYTES = 200;

/**
 * Searches for living processes besides this shell and the first process of the namespace. If there are any, it
 * waits up to 0.3 s for their end, in short steps. A zombie has ended.
 */
const LOOK_FOR_LEFT = [
  'look() {',
  '  left=',
  '  for each in /proc/[0-9]*; do',
  '    pid=${each#/proc/}',
  '    case $pid in 1|$$) continue ;; esac',
  '    { read -r stat < "$each/stat"; } 2>/dev/null || continue',
  '    case ${stat##*) } in [ZX]*) continue ;; esac',
  '    left="$left $pid"',
  '  done',
  '}',
  'look',
  // Directories of the workspace that are on PATH come after those of the system.
  'PATH=/usr/bin:/bin:$PATH',
  'tries=0',
  'while [ -n "$left" ] && [ "$tries" -lt 15 ]; do',
  '  tries=$((tries + 1))',
  '  sleep 0.02 2>/dev/null || { sleep 1; tries=15; }',
  '  look',
  'done',
  'set -- $left',
  String.raw`printf 'left %s\n' "$#" >&2`,
  'named=0',
  'for pid; do',
  `  [ "$named" -lt ${MOST_NAMED} ] || break`,
  '  named=$((named + 1))',
  '  { read -r stat < "/proc/$pid/stat"; } 2>/dev/null || continue',
  '  stat=${stat##*) }',
  '  stat=${stat#? }',
  '  parent=${stat%% *}',
  '  command=$({',
  String.raw`    tr '\000-\037\177' ' ' < "/proc/$pid/cmdline" |`,
  `    head -c ${COMMAND_BYTES}`,
  '  } 2>/dev/null)',
  String.raw`  printf 'process %s %s %s\n' "$pid" "$parent" "$command" >&2`,
  'done',
];

const MONITOR = [
  // The check comes before the trap, so that TERM ends a shell that waits for the answer.
  ...START_CHECK,
  'trap : TERM',
  ...LIMITS,
  'echo begun >&2',
  '"$@" 2>&1',
  'code=$?',
  ...LOOK_FOR_LEFT,
  'exit $code',
].join('\n');

/**
 * Wraps a command in a shell that runs inside the command's process namespace and reports on stderr: `begun`
 * before the command, and after it `left N`, the number of processes that still existed, and `process PID
 * PARENT COMMAND` for the first of them. The command itself does not get this stderr (its errors go to stdout).
 * The shell survives TERM, which is meant for the command; all processes end when it ends.
 */
export function withMonitor(argv: readonly string[]): readonly string[] {
  return ['/bin/sh', '-c', MONITOR, 'sh', ...argv];
}

/** Wraps a command in a shell that sets the same limits and is then replaced by the command. */
export function withLimits(
  argv: readonly string[],
  { startCheck }: { readonly startCheck: boolean },
): readonly string[] {
  const lines = [...(startCheck ? START_CHECK : []), ...LIMITS, 'exec "$@"'];
  return ['/bin/sh', '-c', lines.join('\n'), 'sh', ...argv];
}

/** The report on the stderr of a monitored command, or of the program that should have started it. */
export interface MonitorReport {
  /** True if the command itself ran. */
  readonly hasStarted: boolean;
  /** The number of processes that the command left running. They have been ended. */
  readonly remaining: number;
  /** Details of the first of these processes. */
  readonly processes: readonly RunningProcess[];
  /** The reason why the command did not start, on one line; empty if it started. */
  readonly problem: string;
}

/** Reads the report from the stderr of a monitored command. */
export function parseMonitorReport(stderr: string): MonitorReport {
  const begun = /^begun$/m.test(stderr);
  if (!begun) {
    const [line = ''] = stderr.trim().split('\n');
    return { hasStarted: begun, remaining: 0, processes: [], problem: line.slice(0, 300) };
  }
  const remaining = Number(/^left (\d{1,6})$/m.exec(stderr)?.[1] ?? 0);
  const processes = [...stderr.matchAll(/^process (\d{1,10}) (\d{1,10}) (.*)$/gm)].map(
    ([, pid, parent, command = '']) => ({ pid: Number(pid), parent: Number(parent), command }),
  );
  return { hasStarted: begun, remaining, processes, problem: '' };
}
