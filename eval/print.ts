import { UsageError } from '../src/base/errors.ts';
import { renderComparison, type ComparedSide } from './compare.ts';
import type { Selection } from './options.ts';
import { readResults, readSettings } from './results.ts';
import { findMissingPrograms, selectTasks } from './selection.ts';

/** Lists the selected tasks, one a line. */
export function listTasks(selection: Selection): string {
  const lines = selectTasks(selection).map((task) => {
    const missing = findMissingPrograms(task);
    const note = missing.length === 0 ? '' : `  (needs ${missing.join(', ')})`;
    return `${task.name.padEnd(28)} ${task.language.padEnd(10)} ${task.kind}${note}\n`;
  });
  return lines.join('');
}

/** Compares the results of two directories. Throws UsageError if one of them holds none. */
export function compareDirectories(first: string, second: string): string {
  return renderComparison(readSide(first), readSide(second));
}

function readSide(directory: string): ComparedSide {
  const settings = readSettings(directory);
  if (settings === null) throw new UsageError(`${directory} holds no results of an evaluation`);
  return { directory, settings, results: readResults(directory) };
}
