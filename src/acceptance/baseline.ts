import { readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { MusterError, systemErrorCode } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { AcceptanceCriteria } from '../protocol/acceptance.ts';
import { createInputTest, findNamedFiles, isPackageManifest, matcher } from './check-inputs.ts';
import { listPackageScripts } from './package-manifest.ts';
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
/** The maximum size of a script in which names of files are searched. */
const MAX_SCRIPT_BYTES = 200_000;
const MAX_SCRIPTS = 500;

/**
 * Takes the baseline of a directory before a task begins. Throws MusterError `LIMIT_EXCEEDED` if the directory has too
 * many files, or too much content that must be kept.
 */
export async function takeBaseline(
  root: string,
  criteria: AcceptanceCriteria,
  signal: AbortSignal,
): Promise<Baseline> {
  const scan = await scanTree(root, null, signal);
  const contents = new Contents(root);
  const isCopied = ({ role }: ScannedFile): boolean => role !== 'dependency';
  const entries = [...scan.entries.values()].filter(isCopied);
  const small = entries.filter(
    ({ path, size }) => size <= MAX_SCRIPT_BYTES && !path.includes('\n'),
  );
  for (const entry of small) if (isPackageManifest(entry.path)) await contents.keep(entry);
  const scripts = [...contents.kept].flatMap(([, bytes]) =>
    listPackageScripts(bytes.toString('utf8')),
  );
  const texts = await readScripts(root, small);
  const named = findNamedFiles(
    criteria.commands,
    {
      exists: (path) => scan.entries.get(path)?.role === 'source',
      read: (path) => texts.get(path) ?? null,
    },
    scripts,
  );
  const isInput = createInputTest({ ...criteria, changed: [], mayChange: [] }, named);
  const isCompared = matcher([...criteria.changed, ...criteria.unchanged]);
  const keepsAll = criteria.maxChangedLines !== null;
  for (const entry of entries) {
    signal.throwIfAborted();
    const { path } = entry;
    if (keepsAll || isInput(path) || isCompared(path)) await contents.keep(entry);
  }
  return { root, ...scan, named, contents: contents.kept };
}

async function readScripts(root: string, entries: readonly ScannedFile[]) {
  const texts = new Map<string, string>();
  const scripts = entries.filter(
    ({ path, role, kind }) =>
      role === 'source' &&
      kind === 'file' &&
      /(?:\.(?:sh|bash|mk)|(?:^|\/)[Mm]akefile)$/.test(path),
  );
  for (const entry of scripts.slice(0, MAX_SCRIPTS)) {
    const bytes = await readContent(root, entry);
    if (bytes !== null) texts.set(entry.path, bytes.toString('utf8'));
  }
  return texts;
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
    const content = await readContent(this.root, entry);
    if (content === null) return;
    this.bytes += content.length;
    if (this.bytes > MAX_KEPT_BYTES) {
      const message = `accept: the tests, their configuration and the files to compare in ${this.root} are larger than ${MAX_KEPT_BYTES} bytes together (at ${path}); give the task a smaller directory`;
      throw new MusterError('LIMIT_EXCEEDED', message);
    }
    this.kept.set(path, content);
  }
}

/** Reads a file, or the target of a link. Returns null if it does not exist any more or can't be read. */
export async function readContent(
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
