import { readFileSync, statSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { MusterError, systemErrorCode } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { AcceptanceCriteria } from '../protocol/acceptance.ts';
import { createInputTest, isPackageManifest, matcher } from './check-inputs.ts';
import { findNamedFiles } from './named-files.ts';
import { scanTree, type ScannedFile, type TreeScan } from './scan-tree.ts';

/** The state of a directory tree before a task began, as far as checks of its work need it. */
export interface Baseline extends TreeScan {
  /** The real path of the directory. */
  readonly root: string;
  /** The inputs of the checks that the commands name. */
  readonly named: ReadonlySet<string>;
  /** The contents of the inputs of the checks and of compared files, by path. The content of a link is its target. */
  readonly contents: ReadonlyMap<string, Buffer>;
}

/** The maximum total size of the contents that are kept. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
/** The maximum size of a text in which names of files are searched. */
const MAX_SCRIPT_BYTES = 200_000;

/** The part of a tree that a baseline must not hold. */
interface BaselineOptions {
  readonly criteria: AcceptanceCriteria;
  /** Absolute paths that rules hide from the commands of the task. */
  readonly hidden: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Takes the baseline of a directory before a task begins. Throws MusterError `LIMIT_EXCEEDED` if the directory has too
 * many files, or too much content that must be kept.
 */
export async function takeBaseline(
  root: string,
  { criteria, hidden, signal }: BaselineOptions,
): Promise<Baseline> {
  const scan = await scanTree(root, { hidden, earlier: null, signal });
  const sources = [...scan.entries.values()].filter(({ role }) => role === 'source');
  const named = findNamedFiles(criteria, {
    paths: sources.map(({ path }) => path),
    read: (path) => readSmallText(join(root, path)),
  });
  const isInput = createInputTest({ mayChange: [] }, named);
  const isFree = matcher(criteria.mayChange);
  const isCompared = matcher([...criteria.changed, ...criteria.unchanged]);
  const keepsAll = criteria.maxChangedLines !== null;
  const contents = new Contents(root);
  for (const entry of sources) {
    signal.throwIfAborted();
    const { path } = entry;
    const isNeeded = isInput(path) || isPackageManifest(path) || isCompared(path) || keepsAll;
    if (isNeeded && !isFree(path)) await contents.keep(entry);
  }
  return { root, ...scan, named, contents: contents.kept };
}

function readSmallText(path: string): string | null {
  try {
    return statSync(path).size > MAX_SCRIPT_BYTES ? null : readFileSync(path, 'utf8');
  } catch (thrown) {
    // The file is gone since it was listed, or nobody may read it.
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return null;
  }
}

/** Contents of files, within the limit on their total size. */
class Contents {
  readonly kept = new Map<string, Buffer>();
  private readonly root: string;
  private bytes = 0;

  constructor(root: string) {
    this.root = root;
  }

  async keep(entry: ScannedFile): Promise<void> {
    const { path } = entry;
    if (this.kept.has(path)) return;
    if (entry.size > MAX_KEPT_BYTES) throw tooLargeError(this.root, path);
    const content = await readFileOrLink(this.root, entry);
    if (content === null) return;
    this.bytes += content.length;
    if (this.bytes > MAX_KEPT_BYTES) throw tooLargeError(this.root, path);
    this.kept.set(path, content);
  }
}

function tooLargeError(root: string, path: string): MusterError {
  const message = `accept: the tests, their configuration and the files to compare in ${root} are larger than ${MAX_KEPT_BYTES} bytes together (at ${path}); except large files with may_change, or give the task a smaller directory`;
  return new MusterError('LIMIT_EXCEEDED', message);
}

/** Reads a file, or the target of a link. Returns null if it does not exist any more or can't be read. */
export async function readFileOrLink(
  root: string,
  { path, kind }: Pick<ScannedFile, 'path' | 'kind'>,
): Promise<Buffer | null> {
  const full = join(root, path);
  try {
    return kind === 'link' ? Buffer.from(await readlink(full)) : await readFile(full);
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return null;
  }
}

/** Writes a baseline as text, for the store. */
export function formatBaseline({ root, entries, ignoreFiles, named, contents }: Baseline): string {
  return JSON.stringify({
    root,
    entries: [...entries.values()].map(({ path, kind, role, mode, size, stamp }) => [
      path,
      kind,
      role,
      mode,
      size,
      stamp,
    ]),
    ignoreFiles: Object.fromEntries(ignoreFiles),
    named: [...named],
    contents: [...contents].map(([path, bytes]) => [path, bytes.toString('base64')]),
  });
}

/** Reads a baseline from the text of `formatBaseline`. Throws MusterError `INTERNAL_ERROR` if it is damaged. */
export function parseBaseline(text: string): Baseline {
  const value: unknown = JSON.parse(text);
  if (!isJsonObject(value) || typeof value['root'] !== 'string') {
    throw new MusterError(
      'INTERNAL_ERROR',
      'accept: the recorded state before the task is damaged',
    );
  }
  const { root, entries, ignoreFiles, named, contents } = value as JsonObject & {
    readonly root: string;
    readonly entries: readonly (readonly [
      string,
      'file' | 'link',
      ScannedFile['role'],
      number,
      number,
      string,
    ])[];
    readonly ignoreFiles: Readonly<Record<string, string>>;
    readonly named: readonly string[];
    readonly contents: readonly (readonly [string, string])[];
  };
  return {
    root,
    entries: new Map(
      entries.map(([path, kind, role, mode, size, stamp]) => [
        path,
        { path, kind, role, mode, size, stamp },
      ]),
    ),
    ignoreFiles: new Map(Object.entries(ignoreFiles)),
    named: new Set(named),
    contents: new Map(contents.map(([path, bytes]) => [path, Buffer.from(bytes, 'base64')])),
  };
}
