import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tasks } from '../../api/index.ts';
import { MusterError, systemErrorCode, UsageError } from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import { toFileError } from '../../sys/files/file-errors.ts';
import { cutEvent } from './cut-texts.ts';
import { readDiff, readReport } from './task-replies.ts';
import { compareRowsNewestFirst, rowFromState, type WorkspacesById } from './task-rows.ts';
import { toTimeline, toTreeUsage } from './tree-replies.ts';
import {
  EXPORT_GLOBAL,
  MAX_TREE_TASKS,
  type DiffReply,
  type ExportedRun,
  type LoggedEvent,
  type TaskReportReply,
  type TaskRow,
} from './wire.ts';

export interface ExportOptions {
  readonly tasks: Tasks;
  /** The id of the top task, or a unique beginning of it. */
  readonly id: string;
  /** The directory to write, which must be empty or missing. Absolute. */
  readonly directory: string;
  /** The directory with the files of the page. */
  readonly pageDirectory: URL;
  /** Replaces secrets in a text. */
  readonly redact: (text: string) => string;
}

/** The name of the file with the data. A page that is opened from the disk can load scripts, but no JSON. */
const DATA_FILE = 'run.js';
/** Only the user can read what was exported, as with `muster tasks export`. */
const FILE_MODE = 0o600;

/** Like that of the server, but for files. A page from the disk may be in a frame, because it can do nothing. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self' file:",
  "style-src 'self' file:",
  "img-src 'self' file: data:",
  "font-src 'self' file:",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/**
 * Writes the page with the data of a task and all tasks below it, to be opened from the disk. Resolves to the path of the
 * page. Rejects with UsageError if the directory is not empty.
 */
export async function exportRun(options: ExportOptions): Promise<string> {
  const { directory, pageDirectory, redact } = options;
  const run = await collectRun(options, (value) => mapTexts(value, redact));
  const text = JSON.stringify(run);
  await checkEmpty(directory);
  try {
    await copyPage(pageDirectory, directory);
    // The text of a script that is parsed as JSON means the same as the JSON, whatever its keys are.
    const script = `globalThis.${EXPORT_GLOBAL} = Object.freeze(JSON.parse(${JSON.stringify(text)}));\n`;
    await writeFile(join(directory, DATA_FILE), script, { mode: FILE_MODE });
  } catch (thrown) {
    throw toFileError(directory, thrown);
  }
  return join(directory, 'index.html');
}

/** @param clean removes secrets from all texts of a value. It must come before a text is cut, so that no part of one is left. */
async function collectRun(
  { tasks, id }: ExportOptions,
  clean: <T>(value: T) => T,
): Promise<ExportedRun> {
  const tree = clean(await tasks.boundedReport(id, MAX_TREE_TASKS));
  const workspaces: WorkspacesById = new Map(
    (await tasks.workspaceSummaries()).map((each) => [each.id, each]),
  );
  const rows: TaskRow[] = [];
  const events: Record<string, readonly LoggedEvent[]> = {};
  const reports: Record<string, TaskReportReply> = {};
  const diffs: Record<string, DiffReply> = {};
  for (const { id: task, report } of tree.rows) {
    if (report === null) continue;
    const state = tasks.state(task);
    const spec = { ...state.spec, description: clean(state.spec.description) };
    rows.push(clean(rowFromState({ ...state, spec }, workspaces)));
    const logged: LoggedEvent[] = [];
    for await (const event of tasks.events(task)) logged.push(cutEvent(clean(event)));
    events[task] = logged;
    reports[task] = clean(await readReport(tasks, task));
    diffs[task] = clean(await readDiff(tasks, task));
  }
  const overview = {
    cursor: '',
    version: VERSION,
    tasks: rows.toSorted(compareRowsNewestFirst),
    questions: [],
  };
  return {
    overview,
    events,
    reports,
    diffs,
    timeline: toTimeline(tree),
    usage: toTreeUsage(tree),
    exportedAt: Date.now(),
  };
}

/** Returns a copy of a value of JSON in which all texts are mapped. */
function mapTexts<T>(value: T, map: (text: string) => string): T {
  const visit = (each: unknown): unknown => {
    if (typeof each === 'string') return map(each);
    if (typeof each !== 'object' || each === null) return each;
    if (Array.isArray(each)) return each.map(visit);
    return Object.fromEntries(Object.entries(each).map(([key, own]) => [map(key), visit(own)]));
  };
  return visit(value) as T;
}

async function checkEmpty(directory: string): Promise<void> {
  try {
    if ((await readdir(directory)).length === 0) return;
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT') return;
    throw toFileError(directory, thrown);
  }
  throw new UsageError(`--export ${directory}: the directory is not empty; name a new one`);
}

async function copyPage(from: URL, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  const names = await readdir(from, { recursive: true, withFileTypes: true }).catch(
    (thrown: unknown) => {
      if (systemErrorCode(thrown) !== 'ENOENT') throw thrown;
      throw new MusterError(
        'INTERNAL_ERROR',
        'the files of the page are missing. Install Muster again.',
      );
    },
  );
  const root = new URL(from).pathname;
  for (const entry of names) {
    const path = join(entry.parentPath, entry.name).slice(decodeURIComponent(root).length);
    if (entry.isDirectory()) await mkdir(join(to, path), { recursive: true, mode: 0o700 });
    else if (!path.endsWith('.map')) {
      const bytes = await readFile(new URL(path, from));
      const content = path === 'index.html' ? toExportedPage(bytes.toString('utf8')) : bytes;
      await writeFile(join(to, path), content, { mode: FILE_MODE });
    }
  }
}

/**
 * Turns the page of the server into one that is opened from the disk: with its own policy and its data, and with relative
 * paths and plain scripts, because a browser loads no modules from there.
 */
export function toExportedPage(page: string): string {
  const head = `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><script src="${DATA_FILE}"></script>`;
  return page
    .replaceAll(/\s(?:type="module"|crossorigin(?:="[^"]*")?)(?=[^<>]*>)/g, (attribute) =>
      attribute.includes('module') ? ' defer' : '',
    )
    .replaceAll(/(src|href)="\/(?!\/)/g, '$1="./')
    .replace(/<head[^>]*>(?:\s*<meta charset[^>]*>)?/i, (start) => `${start}${head}`);
}
