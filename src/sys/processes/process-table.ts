import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

/** Selects the members of a process group, and the processes with a certain variable (a mark) in their environment. */
export interface ProcessQuery {
  readonly group?: number;
  /** `NAME=value` entries of the environment with which a process was started. One match is enough. */
  readonly marks: ReadonlySet<string>;
  /**
   * The `startTime` of the first process that can have a mark. The environment of older processes is not read.
   * Default: every environment is read.
   */
  readonly since?: number;
}

/**
 * Returns the pids of the running processes (not zombies) that belong to the group, descend from its leader or have a
 * mark. A process that left the group with setsid still has its mark. A process that also cleared its environment is
 * found as long as all its ancestors up to the leader run. Returns undefined without /proc, so on other systems than
 * Linux.
 */
export function findProcesses(query: ProcessQuery): readonly number[] | undefined {
  return matchProcesses([query])?.[0]?.running;
}

/** The processes that match a query. */
export interface MatchingProcesses {
  /** The pids of the running processes, without zombies. */
  readonly running: readonly number[];
  /** The number of all processes and their threads, with zombies, as the kernel counts them. */
  readonly threads: number;
}

/**
 * Finds the processes of several queries with one look at all processes, in the order of the queries. A process that
 * several queries match counts for the first of them. Returns undefined without /proc.
 */
export function matchProcesses(
  queries: readonly ProcessQuery[],
): readonly MatchingProcesses[] | undefined {
  const rows = readRows();
  if (rows === undefined) return undefined;
  const owners = findOwners(rows, queries);
  return queries.map((query) => {
    const matching = rows.filter(({ pid }) => pid !== process.pid && owners.get(pid) === query);
    return {
      running: matching.filter((row) => !row.dead).map(({ pid }) => pid),
      threads: matching.reduce((sum, row) => sum + row.threads, 0),
    };
  });
}

/**
 * Finds the running processes that have a variable in the environment with which they were started, and their
 * descendants without it. Returns the pids by the value of the variable. Examines all processes of the machine once, so
 * that many values cost no more than one. Empty without /proc.
 *
 * @param since the `startTime` of the first process that can have the variable
 */
export function findProcessesByVariable(
  name: string,
  since: number,
): ReadonlyMap<string, readonly number[]> {
  const rows = readRows() ?? [];
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const values = new Map<number, string | null>();
  const findValue = (pid: number): string | null => {
    const row = byPid.get(pid);
    if (row === undefined || row.startTime < since || pid === process.pid) return null;
    const known = values.get(pid);
    if (known !== undefined) return known;
    // Without this, a circle of parents, which pids that are used again could form, would never end.
    values.set(pid, null);
    const value = readVariable(pid, name) ?? findValue(row.parent);
    values.set(pid, value);
    return value;
  };
  const found = new Map<string, number[]>();
  for (const { pid, dead } of rows) {
    const value = dead ? null : findValue(pid);
    if (value !== null) found.set(value, [...(found.get(value) ?? []), pid]);
  }
  return found;
}

/** The description of a running process for people. */
export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  /**
   * The arguments separated by spaces. Control characters are replaced by spaces, and long command lines are
   * cut.
   */
  readonly command: string;
}

/** The maximum length of a command line in bytes. */
const MAX_COMMAND_BYTES = 200;

/** Describes those of the given processes that still run. */
export function describeProcesses(pids: readonly number[]): readonly RunningProcess[] {
  return pids.flatMap((pid) => {
    const row = readRow(pid);
    const bytes = row === undefined || row.dead ? undefined : readStart(`/proc/${pid}/cmdline`);
    return row === undefined || bytes === undefined
      ? []
      : [{ pid, parent: row.parent, command: toCommandText(bytes.subarray(0, MAX_COMMAND_BYTES)) }];
  });
}

function toCommandText(bytes: Buffer): string {
  // oxlint-disable-next-line no-control-regex -- what is taken out
  return bytes.toString('utf8').replaceAll(/[\u0000-\u001f\u007f]/g, ' ');
}

/** Returns the resident memory of a process in bytes; 0 if it has ended or cannot be examined. */
export function readResidentBytes(pid: number): number {
  const status = readStart(`/proc/${pid}/status`)?.toString('latin1') ?? '';
  return Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

/** Returns the time at which a process started, in clock ticks since boot; undefined if the time is not known. */
export function readStartTime(pid: number): number | undefined {
  return process.platform === 'linux' ? readRow(pid)?.startTime : undefined;
}

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly dead: boolean;
  /** True for a thread of the kernel, which has no environment. */
  readonly kernel: boolean;
  /** The number of threads, at least 1. */
  readonly threads: number;
  /** Clock ticks since the start of the machine. */
  readonly startTime: number;
}

/** The buffer for files of /proc. It is larger than any `stat` file, which holds 52 numbers and a name of 16 bytes. */
const statBuffer = Buffer.allocUnsafe(2048);
/** Indexes of `flags`, `num_threads` and `starttime`, counted from `state` (proc_pid_stat(5)). */
const FLAGS = 6;
const THREADS = 17;
const START_TIME = 19;
/** The flag of a thread of the kernel. */
const PF_KTHREAD = 0x00200000;

/** Finds the query that each process belongs to, by its pid. */
function findOwners(
  rows: readonly Row[],
  queries: readonly ProcessQuery[],
): ReadonlyMap<number, ProcessQuery | undefined> {
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const byGroup = new Map(queries.toReversed().map((query) => [query.group, query]));
  const owners = new Map<number, ProcessQuery | undefined>();
  for (const row of rows) {
    const line: Row[] = [];
    let owner: ProcessQuery | undefined;
    for (let at: Row | undefined = row; at !== undefined && owner === undefined;) {
      owner = byGroup.get(at.group) ?? byGroup.get(at.parent) ?? owners.get(at.pid);
      if (owner === undefined && owners.has(at.pid)) break;
      // An entry before the search has ended keeps it from going in a circle, should pids be reused meanwhile.
      owners.set(at.pid, undefined);
      line.push(at);
      at = byPid.get(at.parent);
    }
    // From the oldest ancestor down, since the children of a process with a mark belong to it.
    for (const each of line.toReversed()) {
      owner ??= findMarkedQuery(each, queries);
      owners.set(each.pid, owner);
    }
  }
  return owners;
}

/** Returns the query that has a mark which is in the environment of the process. */
function findMarkedQuery(
  { pid, startTime }: Row,
  queries: readonly ProcessQuery[],
): ProcessQuery | undefined {
  const candidates = queries.filter(
    ({ marks, since }) => marks.size > 0 && (since === undefined || startTime >= since),
  );
  if (candidates.length === 0) return undefined;
  const environment = readEnvironmentOf(pid);
  return candidates.find(({ marks }) => environment.some((variable) => marks.has(variable)));
}

function listPids(): number[] | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    // If /proc is not mounted, nothing is known about other processes.
    return undefined;
  }
}

function readRows(): readonly Row[] | undefined {
  return listPids()
    ?.map(readRow)
    .filter((row) => row !== undefined);
}

function readRow(pid: number): Row | undefined {
  const stat = readStart(`/proc/${pid}/stat`)?.toString('latin1');
  if (stat === undefined) return undefined;
  // The name in parentheses may contain anything, so the fields begin after the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', START_TIME + 1);
  const [state, parent, group] = fields;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    dead: state === 'Z' || state === 'X',
    // oxlint-disable-next-line no-bitwise -- a flag
    kernel: (Number(fields[FLAGS]) & PF_KTHREAD) !== 0,
    threads: Math.max(1, Number(fields[THREADS])),
    startTime: Number(fields[START_TIME]),
  };
}

/**
 * Returns the beginning of a small file of /proc. The next call reuses the buffer. The file is read synchronously with
 * one read, because all processes of the machine are examined at the end of each command.
 */
function readStart(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    return statBuffer.subarray(0, readSync(file, statBuffer));
  } catch {
    // The process has ended meanwhile.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function readVariable(pid: number, name: string): string | null {
  const start = `${name}=`;
  const found = readEnvironmentOf(pid).find((variable) => variable.startsWith(start));
  return found?.slice(start.length) ?? null;
}

/** Returns the environment with which a process was started, as `NAME=value` entries. */
function readEnvironmentOf(pid: number): readonly string[] {
  for (let attempt = 0; ; attempt += 1) {
    const environment = readText(`/proc/${pid}/environ`);
    // The process has ended meanwhile, or belongs to another user.
    if (environment === null) return [];
    if (environment !== '' || attempt === EXEC_ATTEMPTS || !isInExec(pid))
      return environment.split('\0');
    Atomics.wait(NEVER_NOTIFIED, 0, 0, 1);
  }
}

/** The number of milliseconds for which a process may be in `exec`. */
const EXEC_ATTEMPTS = 100;
const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4));

/**
 * Tells whether a process whose environment is empty is about to get one: during `exec`, it has neither an environment nor
 * arguments for a moment.
 */
function isInExec(pid: number): boolean {
  const row = readRow(pid);
  return row !== undefined && !row.dead && !row.kernel && readText(`/proc/${pid}/cmdline`) === '';
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
