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
  const pids = listPids();
  if (pids === undefined) return undefined;
  const rows = pids.map(readRow).filter((row) => row !== undefined);
  const found = new Set<number>();
  for (const row of rows) {
    const mayHaveMark = query.since === undefined || row.startTime >= query.since;
    if (row.group === query.group || (mayHaveMark && hasMark(row.pid, query.marks)))
      found.add(row.pid);
  }
  if (query.group !== undefined) addDescendants(query.group, rows, found);
  found.delete(process.pid);
  const dead = new Set(rows.filter((row) => row.dead).map((row) => row.pid));
  return [...found].filter((pid) => !dead.has(pid));
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
  const rows = (listPids() ?? []).map(readRow).filter((row) => row !== undefined);
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
  /** Clock ticks since the start of the machine. */
  readonly startTime: number;
}

/** The buffer for files of /proc. It is larger than any `stat` file, which holds 52 numbers and a name of 16 bytes. */
const statBuffer = Buffer.allocUnsafe(2048);
/** Index of `starttime`, counted from `state` (proc_pid_stat(5)). */
const START_TIME = 19;

function addDescendants(leader: number, rows: readonly Row[], found: Set<number>): void {
  const family = new Set([...found, leader]);
  for (let grown = true; grown;) {
    grown = false;
    for (const row of rows) {
      if (family.has(row.parent) && !family.has(row.pid)) {
        family.add(row.pid);
        found.add(row.pid);
        grown = true;
      }
    }
  }
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

function hasMark(pid: number, marks: ReadonlySet<string>): boolean {
  return readVariables(pid).some((variable) => marks.has(variable));
}

function readVariable(pid: number, name: string): string | null {
  const start = `${name}=`;
  return (
    readVariables(pid)
      .find((variable) => variable.startsWith(start))
      ?.slice(start.length) ?? null
  );
}

function readVariables(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    // The process has ended meanwhile, or belongs to another user.
    return [];
  }
}
