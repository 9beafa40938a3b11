import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

/** What to look for: members of a process group, and whoever carries a mark in its environment. */
export interface ProcessQuery {
  readonly group?: number;
  /** `NAME=value` each, as they stand in the environment a process was started with. One is enough. */
  readonly marks: ReadonlySet<string>;
  /**
   * The `startTime` of the first process that can carry a mark: the environment of older ones is not read.
   * Absent: that of all is.
   */
  readonly since?: number;
}

/**
 * The pids of living processes (zombies are dead) that belong to the group, descend from its leader
 * or carry a mark. A process that left the group with setsid keeps its mark; one that also cleared
 * its environment is found as long as its chain of parents is whole. Linux only: elsewhere there is
 * no /proc, and the answer is undefined.
 */
export function findProcesses(query: ProcessQuery): readonly number[] | undefined {
  const pids = listPids();
  if (pids === undefined) return undefined;
  const rows = pids.map(readRow).filter((row) => row !== undefined);
  const found = new Set<number>();
  for (const row of rows) {
    const mayCarry = query.since === undefined || row.startTime >= query.since;
    if (row.group === query.group || (mayCarry && carries(row.pid, query.marks)))
      found.add(row.pid);
  }
  if (query.group !== undefined) addDescendants(query.group, rows, found);
  found.delete(process.pid);
  const dead = new Set(rows.filter((row) => row.dead).map((row) => row.pid));
  return [...found].filter((pid) => !dead.has(pid));
}

/** A process as a person knows it. */
export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  /** Its arguments with a space between them; control characters are spaces, too. It may be cut. */
  readonly command: string;
}

/** Bytes of a command line. */
const COMMAND_BYTES = 200;

/** What these processes are; without those that have ended meanwhile. */
export function describeProcesses(pids: readonly number[]): readonly RunningProcess[] {
  return pids.flatMap((pid) => {
    const row = readRow(pid);
    const bytes = row === undefined || row.dead ? undefined : readStart(`/proc/${pid}/cmdline`);
    return row === undefined || bytes === undefined
      ? []
      : [{ pid, parent: row.parent, command: commandText(bytes.subarray(0, COMMAND_BYTES)) }];
  });
}

function commandText(bytes: Buffer): string {
  // oxlint-disable-next-line no-control-regex -- what is taken out
  return bytes.toString('utf8').replaceAll(/[\u0000-\u001f\u007f]/g, ' ');
}

/** When a process began, in clock ticks since the start of the machine; undefined where that is not known. */
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

/** Longer than any `stat`: 52 numbers, and a name of 16 bytes. */
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
    // No /proc mounted: the same as on systems that have none.
    return undefined;
  }
}

function readRow(pid: number): Row | undefined {
  const stat = readStart(`/proc/${pid}/stat`)?.toString('latin1');
  if (stat === undefined) return undefined;
  // The name stands in brackets and may hold anything: the fields begin after the last bracket.
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
 * The beginning of a small file of /proc, until the next call. In one read, since this is done for all processes
 * of the machine at the end of each command.
 */
function readStart(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    return statBuffer.subarray(0, readSync(file, statBuffer));
  } catch {
    // Ended meanwhile.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function carries(pid: number, marks: ReadonlySet<string>): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
    return environment.split('\0').some((variable) => marks.has(variable));
  } catch {
    // Ended meanwhile, or somebody else's: none of ours either way.
    return false;
  }
}
