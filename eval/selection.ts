import { createHash, type Hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join, relative, resolve } from 'node:path';
import { UsageError } from '../src/base/errors.ts';
import type { Selection } from './options.ts';
import { loadTasks, type EvalTask } from './tasks.ts';

const TASKS = join(import.meta.dirname, 'tasks');

/** Loads the selected tasks. Throws UsageError for a name that no task has. */
export function selectTasks({ directory, only, languages }: Selection): readonly EvalTask[] {
  const all = loadTasks(resolve(directory ?? TASKS));
  const unknown = only.find((name) => !all.some((task) => task.name === name));
  if (unknown !== undefined) throw new UsageError(`--only: there is no task ${unknown}`);
  return all.filter(
    ({ name, language }) =>
      (only.length === 0 || only.includes(name)) &&
      (languages.length === 0 || languages.includes(language)),
  );
}

/** Lists the programs that a task needs and this machine lacks. */
export function findMissingPrograms({ needs }: EvalTask): readonly string[] {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  return Object.keys(needs).filter(
    (program) => !directories.some((directory) => existsSync(join(directory, program))),
  );
}

/** A directory whose content is hashed, and the name that stands for its path. */
interface NamedDirectory {
  readonly name: string;
  readonly directory: string;
}

/** Computes a short hash of all files in directories, such as those of tasks. */
export function hashDirectories(directories: readonly NamedDirectory[]): string {
  const hash = createHash('sha256');
  for (const { directory, name } of directories) {
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    for (const file of files.map((entry) => join(entry.parentPath, entry.name)).toSorted()) {
      const path = relative(directory, file);
      hash.update(`${name}/${path}\0`).update(readFileSync(file)).update('\0');
    }
  }
  return shorten(hash);
}

/** Computes a short hash of a text. */
export function hashText(text: string): string {
  return shorten(createHash('sha256').update(text));
}

function shorten(hash: Hash): string {
  return hash.digest('hex').slice(0, 12);
}
