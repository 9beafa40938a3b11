import { createHash } from 'node:crypto';
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

/** Computes a short hash of all files of tasks. */
export function hashTasks(tasks: readonly EvalTask[]): string {
  const hash = createHash('sha256');
  for (const { directory, name } of tasks) {
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    for (const file of files.map((entry) => join(entry.parentPath, entry.name)).toSorted()) {
      const path = relative(directory, file);
      hash.update(`${name}/${path}\0`).update(readFileSync(file)).update('\0');
    }
  }
  return hash.digest('hex').slice(0, 12);
}
