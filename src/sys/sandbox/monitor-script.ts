import type { RunningProcess } from '../processes/process-table.ts';
import { START_CHECK } from '../processes/start-check.ts';

/** The maximum size of a file: 2 GB in the 512-byte blocks of POSIX. */
const FILE_BLOCKS = 4_194_304;

/**
 * The smallest limit on processes that the kernel gets. Before Linux 5.14 it counts all processes of the user, also those
 * outside the sandbox.
 */
const MIN_KERNEL_LIMIT = 4096;

/**
 * Returns lines of POSIX sh that set limits. The limit on processes is `ulimit -p` in dash and `ulimit -u` in other
 * shells. It holds for no process of root. It is higher than the limit on which Muster itself acts (process-limit.ts),
 * so that Muster sees when a command exceeds its limit and can say so.
 *
 * @param maxProcesses the maximum number of processes and threads of a command; 0: no limit
 */
function buildLimits(maxProcesses: number): readonly string[] {
  const kernelLimit = Math.max(MIN_KERNEL_LIMIT, 2 * maxProcesses);
  return [
    `ulimit -f ${FILE_BLOCKS} 2>/dev/null`,
    ...(maxProcesses === 0
      ? []
      : [`{ ulimit -u ${kernelLimit} || ulimit -p ${kernelLimit}; } 2>/dev/null`]),
  ];
}

/** The maximum number of processes whose command lines are reported. */
const MAX_REPORTED = 10;
const MAX_COMMAND_BYTES = 200;

/**
 * Lines of POSIX sh that search for running processes besides this shell and the first process of the namespace, and
 * report them. If there are any, the script first waits up to 0.3 s for their end, in short steps. Zombies do not
 * count.
 */
const REPORT_REMAINING = [
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
  `  [ "$named" -lt ${MAX_REPORTED} ] || break`,
  '  named=$((named + 1))',
  '  { read -r stat < "/proc/$pid/stat"; } 2>/dev/null || continue',
  '  stat=${stat##*) }',
  '  stat=${stat#? }',
  '  parent=${stat%% *}',
  '  command=$({',
  String.raw`    tr '\000-\037\177' ' ' < "/proc/$pid/cmdline" |`,
  `    head -c ${MAX_COMMAND_BYTES}`,
  '  } 2>/dev/null)',
  String.raw`  printf 'process %s %s %s\n' "$pid" "$parent" "$command" >&2`,
  'done',
];

/** Settings of the shell that starts a command. */
interface ShellSettings {
  /** The maximum number of processes and threads of the command; 0: no limit. */
  readonly maxProcesses: number;
}

/**
 * Wraps a command in a shell that runs inside the command's process namespace and reports on stderr. It writes `begun`
 * before the command starts. When the command has ended, it writes `left N` with the number of processes that still
 * run, and `process PID PARENT COMMAND` for the first of them. The stderr of the command itself goes to its stdout. The
 * shell ignores TERM, which is meant for the command. When the shell ends, all processes in the namespace end.
 */
export function withMonitor(
  argv: readonly string[],
  { maxProcesses }: ShellSettings,
): readonly string[] {
  const lines = [
    // The check comes before the trap, so that TERM ends a shell that waits for the answer.
    ...START_CHECK,
    'trap : TERM',
    ...buildLimits(maxProcesses),
    'echo begun >&2',
    '"$@" 2>&1',
    'code=$?',
    ...REPORT_REMAINING,
    'exit $code',
  ];
  return ['/bin/sh', '-c', lines.join('\n'), 'sh', ...argv];
}

/** Wraps a command in a shell that sets the same limits and is then replaced by the command. */
export function withLimits(
  argv: readonly string[],
  { maxProcesses, startCheck }: ShellSettings & { readonly startCheck: boolean },
): readonly string[] {
  const lines = [...(startCheck ? START_CHECK : []), ...buildLimits(maxProcesses), 'exec "$@"'];
  return ['/bin/sh', '-c', lines.join('\n'), 'sh', ...argv];
}

/** The report on the stderr of a monitored command, or of the program that failed to start the command. */
export interface MonitorReport {
  /** True if the command itself ran. */
  readonly hasStarted: boolean;
  /** The number of processes that still ran when the command ended. They were then ended, too. */
  readonly remaining: number;
  /** Details of the first of these processes. */
  readonly processes: readonly RunningProcess[];
  /** The reason why the command did not start, on one line; empty if it started. */
  readonly problem: string;
}

/** Parses the report from the stderr of a monitored command. */
export function parseMonitorReport(stderr: string): MonitorReport {
  const hasStarted = /^begun$/m.test(stderr);
  if (!hasStarted) {
    const [line = ''] = stderr.trim().split('\n');
    return { hasStarted, remaining: 0, processes: [], problem: line.slice(0, 300) };
  }
  const remaining = Number(/^left (\d{1,6})$/m.exec(stderr)?.[1] ?? 0);
  const processes = [...stderr.matchAll(/^process (\d{1,10}) (\d{1,10}) (.*)$/gm)].map(
    ([, pid, parent, command = '']) => ({ pid: Number(pid), parent: Number(parent), command }),
  );
  return { hasStarted, remaining, processes, problem: '' };
}
