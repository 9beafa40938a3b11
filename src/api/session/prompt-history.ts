import { hash } from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { errorMessage, systemErrorCode } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { readWithLimit } from '../../sys/files/read-at-most.ts';

const MAX_ENTRIES = 500;
/** The maximum number of characters of an entry. The log of the conversation contains the full prompt. */
const MAX_ENTRY_CHARACTERS = 10_000;
const MAX_HISTORY_BYTES = 16 * 1024 * 1024;
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;

/** The prompts that a person has typed in a directory, in all sessions. */
export interface PromptHistory {
  /** Returns the entries, the oldest first. */
  entries(): readonly string[];
  add(text: string): void;
  /** Returns the entries of all other directories: those of the directory that was used last come last. */
  elsewhere(): readonly string[];
}

/** The history of a run that keeps no log. */
export const NO_HISTORY: PromptHistory = {
  entries: () => [],
  add: () => {},
  elsewhere: () => [],
};

interface HistoryOptions {
  /** The state directory; absolute. */
  readonly directory: string;
  /** The working directory. */
  readonly cwd: string;
  /** Removes secrets. */
  readonly redact: (text: string) => string;
  /** Called when the history cannot be read or written. The session continues. */
  readonly onProblem: (line: string) => void;
}

/**
 * Opens the history of a working directory: a small file that only the user can read, with one JSON string per line.
 */
export function openPromptHistory(options: HistoryOptions): PromptHistory {
  const { directory, cwd, redact, onProblem } = options;
  const historyDirectory = join(directory, 'typed');
  const path = join(historyDirectory, `${hash('sha256', cwd).slice(0, 32)}.jsonl`);
  const withProblemReport = <T>(otherwise: T, act: () => T): T => {
    try {
      return act();
    } catch (thrown) {
      onProblem(`the prompt history cannot be read or written (${path}): ${errorMessage(thrown)}`);
      return otherwise;
    }
  };
  return {
    entries: () =>
      withProblemReport([], () => {
        const entries = parseEntries(read(path));
        if (entries.length > MAX_ENTRIES * 2) replace(path, entries.slice(-MAX_ENTRIES));
        return entries.slice(-MAX_ENTRIES);
      }),
    elsewhere: () =>
      withProblemReport([], () => {
        const others = listFiles(historyDirectory).filter((other) => other !== path);
        return others.flatMap((other) => parseEntries(read(other)).slice(-MAX_ENTRIES));
      }),
    add: (text) =>
      withProblemReport(undefined, () => {
        fs.mkdirSync(historyDirectory, { recursive: true, mode: 0o700 });
        // Use a single write, so that an entry of another session cannot end up between the bytes of this entry.
        write(path, O_APPEND, formatEntry(redact(text).slice(0, MAX_ENTRY_CHARACTERS)));
      }),
  };
}

/** The maximum number of directories whose entries are read. */
const MAX_DIRECTORIES = 200;

/** Lists the newest histories, the oldest first. */
function listFiles(directory: string): readonly string[] {
  if (!fs.existsSync(directory)) return [];
  return fs
    .readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(directory, name))
    .map((file) => ({ file, time: fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((a, b) => a.time - b.time)
    .slice(-MAX_DIRECTORIES)
    .map(({ file }) => file);
}

function formatEntry(entry: string): string {
  return `${JSON.stringify(entry)}\n`;
}

function read(path: string): string {
  let fd: number;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT') return '';
    throw thrown;
  }
  try {
    if (!fs.fstatSync(fd).isFile()) throw new Error('it is not a regular file');
    const bytes = readWithLimit(fd, MAX_HISTORY_BYTES);
    if (bytes === undefined) throw new Error(`it is larger than ${MAX_HISTORY_BYTES} bytes`);
    return bytes.toString('utf8');
  } finally {
    fs.closeSync(fd);
  }
}

/** Returns the entries of a text, without lines that are damaged or were cut off by a crash. */
function parseEntries(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    try {
      const entry: unknown = JSON.parse(line);
      return typeof entry === 'string' && entry !== '' ? [entry] : [];
    } catch {
      return [];
    }
  });
}

/** Replaces the file. An entry that another session adds at the same moment is lost. */
function replace(path: string, entries: readonly string[]): void {
  const draft = `${path}.${newId()}.new`;
  try {
    write(draft, fs.constants.O_EXCL, entries.map(formatEntry).join(''));
    fs.renameSync(draft, path);
  } catch (thrown) {
    fs.rmSync(draft, { force: true });
    throw thrown;
  }
}

function write(path: string, how: number, text: string): void {
  const fd = fs.openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | how, 0o600);
  try {
    fs.writeSync(fd, text);
  } finally {
    fs.closeSync(fd);
  }
}
