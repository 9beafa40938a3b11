import { byteLength, collapseWhitespace, truncate } from '../../base/text.ts';

/** The files that one task has changed in its workspace. */
export interface ChangedPaths {
  /** The id of the task. */
  readonly id: string;
  /** The directory for which the workspace stands. */
  readonly source: string;
  /** The changed files, relative to that directory. */
  readonly paths: readonly string[];
}

/** A file that several tasks have changed, each in its own workspace. */
export interface Overlap {
  /** The path relative to the directory for which the workspaces stand. */
  readonly path: string;
  /** The ids of the tasks, in the order in which they were given. */
  readonly tasks: readonly string[];
}

/**
 * Finds the files that two or more tasks have changed in workspaces of the same directory, those with the most tasks
 * first.
 */
export function findOverlaps(changes: readonly ChangedPaths[]): readonly Overlap[] {
  const found = new Map<string, { readonly path: string; readonly tasks: Set<string> }>();
  for (const { id, source, paths } of changes) {
    for (const path of paths) {
      const key = `${source}\0${path}`;
      const file = found.get(key) ?? { path, tasks: new Set<string>() };
      file.tasks.add(id);
      found.set(key, file);
    }
  }
  return [...found.values()]
    .filter(({ tasks }) => tasks.size > 1)
    .map(({ path, tasks }) => ({ path, tasks: [...tasks] }))
    .toSorted((a, b) => b.tasks.length - a.tasks.length || (a.path < b.path ? -1 : 1));
}

/** The maximum numbers of files and of tasks of a file that a text names, and the length of a path in code points. */
const MAX_FILES = 20;
const MAX_TASKS = 8;
const MAX_PATH_LENGTH = 200;

/**
 * Formats overlaps, one file a line, below a heading. Returns nothing if there are none. Names at most 20 files, and no
 * more than fit into `maxBytes` together; the last line says how many are left out.
 */
export function formatOverlaps(overlaps: readonly Overlap[], maxBytes: number): readonly string[] {
  if (overlaps.length === 0) return [];
  const lines = [HEADING];
  let bytes = byteLength(HEADING) + MAX_NOTE_BYTES;
  for (const overlap of overlaps.slice(0, MAX_FILES)) {
    const line = formatOverlap(overlap);
    bytes += byteLength(line) + 1;
    if (bytes > maxBytes) break;
    lines.push(line);
  }
  const left = overlaps.length - (lines.length - 1);
  return left === 0 ? lines : [...lines, `  … and ${left} more`];
}

const HEADING = 'Changed by several tasks, each in its own worktree:';
const MAX_NOTE_BYTES = 40;

function formatOverlap({ path, tasks }: Overlap): string {
  const name = truncate(collapseWhitespace(path), MAX_PATH_LENGTH);
  const shown = /[\p{Cc}\s,:"]/u.test(path) ? JSON.stringify(name) : name;
  const more = tasks.length - MAX_TASKS;
  const ids = [...tasks.slice(0, MAX_TASKS), ...(more > 0 ? [`${more} more`] : [])];
  return `  ${shown}: ${ids.join(', ')}`;
}
