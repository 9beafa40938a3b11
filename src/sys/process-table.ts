import { readdirSync, readFileSync } from 'node:fs';

/** What to look for: members of a process group, and whoever carries a mark in its environment. */
export interface ProcessQuery {
  readonly group?: number;
  /** `NAME=value` each, as they stand in the environment a process was started with. One is enough. */
  readonly marks: ReadonlySet<string>;
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
    if (row.group === query.group || carries(row.pid, query.marks)) found.add(row.pid);
  }
  if (query.group !== undefined) addDescendants(query.group, rows, found);
  found.delete(process.pid);
  const dead = new Set(rows.filter((row) => row.dead).map((row) => row.pid));
  return [...found].filter((pid) => !dead.has(pid));
}

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly dead: boolean;
}

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
  const stat = readProc(pid, 'stat');
  if (stat === undefined) return undefined;
  // The name stands in brackets and may hold anything: the fields begin after the last bracket.
  const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    dead: state === 'Z' || state === 'X',
  };
}

function carries(pid: number, marks: ReadonlySet<string>): boolean {
  return (
    readProc(pid, 'environ')
      ?.split('\0')
      .some((variable) => marks.has(variable)) ?? false
  );
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // Ended meanwhile, or somebody else's: none of ours either way.
    return undefined;
  }
}
