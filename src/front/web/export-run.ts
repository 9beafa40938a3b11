import { lstat, mkdir, open, readdir, readFile, rmdir, unlink } from 'node:fs/promises';
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
  /** The maximum length of the data in UTF-16 units. Default: 100,000,000. */
  readonly maxLength?: number;
}

const PAGE_FILE = 'index.html';
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
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** The maximum length of the data of an exported run, in UTF-16 units. Browsers fail to read much longer scripts. */
const MAX_RUN_LENGTH = 100_000_000;

/**
 * Writes the page with the data of a task and all tasks below it, to be opened from the disk. Resolves to the path of the
 * page. Rejects with UsageError if the directory is not empty, and with MusterError `LIMIT_EXCEEDED` if the run has too much
 * data. After an error, nothing that was written is left.
 */
export async function exportRun(options: ExportOptions): Promise<string> {
  const { directory, pageDirectory, redact, maxLength = MAX_RUN_LENGTH } = options;
  const run = await collectRun(options, {
    clean: (value) => mapTexts(value, redact),
    count: createLengthCheck(maxLength),
  });
  const text = JSON.stringify(run);
  // The text of a script that is parsed as JSON means the same as the JSON, whatever its keys are.
  const script = `globalThis.${EXPORT_GLOBAL} = Object.freeze(JSON.parse(${JSON.stringify(text)}));\n`;
  const page = await readPage(pageDirectory);
  await checkEmpty(directory);
  try {
    // The page comes last, so that none is there before its data.
    await writeNewFiles(directory, [[DATA_FILE, script], ...page]);
  } catch (thrown) {
    throw toFileError(directory, thrown);
  }
  return join(directory, PAGE_FILE);
}

/** Returns a function that throws MusterError `LIMIT_EXCEEDED` when the values that it was called with are too long. */
function createLengthCheck(maxLength: number): (value: unknown) => void {
  let length = 0;
  return (value) => {
    length += JSON.stringify(value).length;
    if (length <= maxLength) return;
    throw new MusterError(
      'LIMIT_EXCEEDED',
      `the run has more than ${maxLength.toLocaleString('en')} characters of data, which is the limit of a page. Export one of the tasks below it: muster web --export DIR ID`,
    );
  };
}

interface CollectSteps {
  /** Removes secrets from all texts of a value. It must come before a text is cut, so that no part of one is left. */
  readonly clean: <T>(value: T) => T;
  /** Called with each part of the run. Throws if the run becomes too long. */
  readonly count: (value: unknown) => void;
}

async function collectRun(
  { tasks, id }: ExportOptions,
  { clean, count }: CollectSteps,
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
    for await (const event of tasks.events(task)) {
      const short = cutEvent(clean(event));
      count(short);
      logged.push(short);
    }
    events[task] = logged;
    reports[task] = clean(await readReport(tasks, task));
    diffs[task] = clean(await readDiff(tasks, task));
    count([reports[task], diffs[task]]);
  }
  const overview = {
    cursor: '',
    version: VERSION,
    tasks: rows.toSorted(compareRowsNewestFirst),
    questions: [],
  };
  const [timeline, usage] = [toTimeline(tree), toTreeUsage(tree)];
  count([overview, timeline, usage]);
  return { overview, events, reports, diffs, timeline, usage, exportedAt: Date.now() };
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
    if (systemErrorCode(thrown) !== 'ENOENT') throw toFileError(directory, thrown);
    const isLink = await lstat(directory).then(() => true, isMissing);
    if (!isLink) return;
    throw new UsageError(
      `--export ${directory}: the link leads to a directory that does not exist; name a new one`,
    );
  }
  throw new UsageError(`--export ${directory}: the directory is not empty; name a new one`);
}

/** Returns false for the error of a missing file. Throws any other. */
function isMissing(thrown: unknown): false {
  if (systemErrorCode(thrown) === 'ENOENT') return false;
  throw thrown;
}

/** The name and the content of a file. */
type NewFile = readonly [name: string, content: string | Buffer];

/** Reads the files of the page. The page itself is the last one. */
async function readPage(from: URL): Promise<readonly NewFile[]> {
  try {
    const names = (await readdir(from)).filter((name) => name !== PAGE_FILE);
    const files = names.map(async (name): Promise<NewFile> => [
      name,
      await readFile(new URL(name, from)),
    ]);
    const page = await readFile(new URL(PAGE_FILE, from), 'utf8');
    return [...(await Promise.all(files)), [PAGE_FILE, toExportedPage(page)]];
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'ENOENT') throw thrown;
    throw new MusterError(
      'INTERNAL_ERROR',
      'the files of the page are missing. Install Muster again.',
    );
  }
}

/** Writes files that must not exist, not even as links. Removes what it has written if it fails. */
async function writeNewFiles(directory: string, files: readonly NewFile[]): Promise<void> {
  const first = await mkdir(directory, { recursive: true, mode: 0o700 });
  const written: string[] = [];
  try {
    for (const [name, content] of files) {
      const path = join(directory, name);
      const file = await open(path, 'wx', FILE_MODE);
      written.push(path);
      await file.writeFile(content).finally(() => file.close());
    }
  } catch (thrown) {
    for (const path of written) await unlink(path);
    if (first !== undefined) await rmdir(directory);
    throw thrown;
  }
}

/** Turns the page of the server into one that is opened from the disk: with its own policy and its data. */
export function toExportedPage(page: string): string {
  const head = `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><script src="${DATA_FILE}"></script>`;
  return page.replace(/<meta charset[^>]*>/, (charset) => `${charset}${head}`);
}
