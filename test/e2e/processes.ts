import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The pids of living processes with `NAME=value` in their environment. Linux only: elsewhere none. */
export function findMarked(mark: string): readonly number[] {
  return processIds().filter((pid) => isAlive(pid) && environmentOf(pid).includes(mark));
}

/** Far longer than any wait on an idle machine, and shorter than the time limit of a test, whose error names none. */
const MAX_WAIT_MS = 60_000;

/** Waits until `pids` holds for the marked processes; throws when it has not after a minute. */
export async function waitForMarked(
  mark: string,
  holds: (pids: readonly number[]) => boolean,
): Promise<void> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < MAX_WAIT_MS) {
    if (holds(findMarked(mark))) return;
    await sleep(50);
  }
  throw new Error(`after a minute the processes are ${describe(findMarked(mark))}`);
}

/** What the processes are, for the message of a test that fails. */
export function describe(pids: readonly number[]): string {
  return pids.map((pid) => `${pid}: ${read(pid, 'cmdline').replaceAll('\0', ' ')}`).join(', ');
}

export function endMarked(mark: string): void {
  killAll(findMarked(mark));
}

/** The pids of living processes with just these words, for what has no environment. Linux only. */
export function pidsOf(words: string): readonly number[] {
  const line = `${words.replaceAll(' ', '\0')}\0`;
  return processIds().filter((pid) => isAlive(pid) && read(pid, 'cmdline') === line);
}

export function endAllOf(words: string): void {
  killAll(pidsOf(words));
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended by itself.
    }
  }
}

/** The most memory a living process has had, in bytes. 0 when it has ended. */
export function peakMemory(pid: number): number {
  const [, kilobytes = '0'] = /^VmHWM:\s*(\d+) kB$/m.exec(read(pid, 'status')) ?? [];
  return Number(kilobytes) * 1024;
}

function processIds(): readonly number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function isAlive(pid: number): boolean {
  const stat = read(pid, 'stat');
  const [state] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return stat !== '' && state !== 'Z' && state !== 'X';
}

function environmentOf(pid: number): readonly string[] {
  return read(pid, 'environ').split('\0');
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    // It has ended, or belongs to somebody else.
    return '';
  }
}
