import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';

/** `PID-STARTTIME`: a later process of the same number is another one. */
const RECORD = /^(\d+)-(\d+)$/;
const START_TIME_FIELD = 22;

/** Files in place of a directory that would be in the way: each says what its absence says. */
const TEXTS: ReadonlyMap<string, string> = new Map([['commondir', '.\n']]);

/** How many commands of this process need each placeholder. */
const holds = new Map<string, number>();

/**
 * Empty directories that stand for what is not there, so that a sandbox has something to lay its own
 * over: nothing can be made at a path that is taken. They are directories, whatever the name is of,
 * since git takes no notice of an empty one, and only an empty one can be removed by `rmdir`; but for
 * a few files (TEXTS).
 *
 * In `records` (a directory; null: none are kept) each process writes down which it needs, before it
 * makes them. Removing one takes the cover off it in every sandbox (rmdir(2) detaches mounts of other
 * namespaces), so only the last who needs it does; and what a killed process has left is found.
 */
export class Placeholders {
  private readonly records: string | null;

  constructor(records: string | null) {
    this.records = records;
  }

  /** Whether what is at this path is one. */
  isOne(path: string): boolean {
    return holds.has(path) || this.others().has(path);
  }

  /** Makes those that are missing; those that can't be made are left out of the answer. */
  hold(paths: readonly string[]): readonly string[] {
    if (paths.length === 0) return paths;
    dropAtExit(this);
    for (const path of paths) holds.set(path, (holds.get(path) ?? 0) + 1);
    this.write();
    const missed = paths.filter((path) => !make(path));
    if (missed.length > 0) this.drop(missed);
    return missed.length === 0 ? paths : paths.filter((path) => !missed.includes(path));
  }

  /** Removes those that nobody needs any more and that are still empty. */
  drop(paths: readonly string[]): void {
    const unneeded = paths.filter((path) => {
      const left = (holds.get(path) ?? 1) - 1;
      if (left > 0) holds.set(path, left);
      else holds.delete(path);
      return left <= 0;
    });
    if (unneeded.length === 0) return;
    const others = this.others();
    for (const path of unneeded) if (!others.has(path)) remove(path);
    this.write();
  }

  /** As `drop`, of all that this process needs. */
  dropAll(): void {
    const all = [...holds.keys()];
    for (const path of all) holds.set(path, 1);
    this.drop(all);
  }

  /** Removes what killed processes have left. */
  sweep(): void {
    for (const { name, isAlive, paths } of this.readRecords()) {
      if (isAlive || this.records === null) continue;
      for (const path of paths) if (!this.isOne(path)) remove(path);
      rmSync(join(this.records, name), { force: true });
    }
  }

  private others(): ReadonlySet<string> {
    const own = ownRecord();
    const living = this.readRecords().filter(({ name, isAlive }) => isAlive && name !== own);
    return new Set(living.flatMap(({ paths }) => paths));
  }

  private readRecords(): readonly HoldRecord[] {
    const { records } = this;
    if (records === null) return [];
    return namesOf(records).flatMap((name) => {
      const [, pid, startTime] = RECORD.exec(name) ?? [];
      if (pid === undefined) return [];
      const isAlive = startTimeOf(Number(pid)) === startTime;
      return [{ name, isAlive, paths: readPaths(join(records, name)) }];
    });
  }

  /** A state directory that can't be written to keeps no command from running: then none are found later. */
  private write(): void {
    const own = ownRecord();
    if (this.records === null || own === null) return;
    const path = join(this.records, own);
    try {
      if (holds.size === 0) {
        rmSync(path, { force: true });
        return;
      }
      mkdirSync(this.records, { recursive: true, mode: 0o700 });
      writeFileSync(`${path}.new`, JSON.stringify([...holds.keys()]), { mode: 0o600 });
      renameSync(`${path}.new`, path);
    } catch (thrown) {
      if (systemErrorCode(thrown) === undefined) throw thrown;
    }
  }
}

const holders = new Set<Placeholders>();

/** An exit does not wait for the end of commands; they are being killed by then, or are with it. */
function dropAtExit(placeholders: Placeholders): void {
  if (holders.size === 0) {
    process.once('exit', () => {
      for (const holder of holders) holder.dropAll();
    });
  }
  holders.add(placeholders);
}

interface HoldRecord {
  readonly name: string;
  readonly isAlive: boolean;
  readonly paths: readonly string[];
}

function make(path: string): boolean {
  const text = TEXTS.get(basename(path));
  try {
    if (text === undefined) mkdirSync(path, { mode: 0o700 });
    else makeFile(path, text);
    return true;
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code === undefined) throw thrown;
    // Another command needs it, too. And where we may not make it, nor may the command.
    return code === 'EEXIST';
  }
}

/** Whole from the first moment on: git of the user reads it, too. Throws where something is there. */
function makeFile(path: string, text: string): void {
  const draft = `${path}.${newId()}`;
  writeFileSync(draft, text, { flag: 'wx', mode: 0o644 });
  try {
    linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

function remove(path: string): void {
  const text = TEXTS.get(basename(path));
  try {
    if (text === undefined) rmdirSync(path);
    else if (lstatSync(path).isFile() && readFileSync(path, 'utf8') === text) rmSync(path);
  } catch (thrown) {
    // Gone, or something has been put there meanwhile: neither is ours.
    if (systemErrorCode(thrown) === undefined) throw thrown;
  }
}

let own: string | null | undefined;

/** Null where there is no /proc. */
function ownRecord(): string | null {
  if (own === undefined) {
    const startTime = startTimeOf(process.pid);
    own = startTime === undefined ? null : `${process.pid}-${startTime}`;
  }
  return own;
}

/** Ticks from boot, of proc(5); undefined where there is no such process. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is a name in brackets that may hold anything.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[START_TIME_FIELD - 3];
  } catch {
    // Ended, or no /proc.
    return undefined;
  }
}

function readPaths(file: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  } catch {
    // Its owner has removed it just now.
    return [];
  }
}

function namesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // Nobody has written one yet.
    return [];
  }
}
