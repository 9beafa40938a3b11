import { lstatSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileKind } from '../../base/code/file-kind.ts';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { pathHasForeignNames } from '../../sys/hard-links.ts';
import { readWholeFile } from '../../sys/read-file.ts';
import { BINARY_SAMPLE_BYTES, openPlaceOf, type SearchScope } from '../search/search-types.ts';
import { corpusFile, FactFinder, NO_FACTS, type FileFacts } from './corpus.ts';
import { FileReader } from './file-facts.ts';
import { indexPath, loadIndex, saveIndex } from './index-file.ts';
import type { FileStamp, StampedFacts, StoredIndex } from './index-format.ts';
import type { Corpus } from './rank.ts';
import { Vocabulary } from './vocabulary.ts';

/** Of what is larger only the path counts: it is data, or made by a program. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_OTHER_BYTES = 256 * 1024;
/** What is seldom text: it is told by its name, so that it need not be read to be left out. */
const BINARY =
  /\.(?:png|jpe?g|gif|ico|webp|bmp|tiff?|pdf|zip|gz|tgz|bz2|xz|7z|jar|war|class|so|dylib|dll|exe|o|a|wasm|woff2?|ttf|otf|eot|mp[34]|mov|wav|ogg|avi|sqlite|db|pyc|bin)$/i;
/** Within so many milliseconds before it was looked at, a file's times do not tell a later change. */
const UNSURE_MS = 2000;
/** After so many files read, those who watch are told. */
const PROGRESS_EVERY = 10_000;
/** So many are looked at, or read, before others get their turn and a signal is seen. */
const LOOKED_AT_ONCE = 2000;
const READ_AT_ONCE = 64;
/** An index knows at most so many: those that nobody asked for this time go first. */
const MAX_KNOWN = 200_000;

interface IndexOptions {
  /** Absolute; null: nothing is kept. */
  readonly indexDirectory: string | null;
  readonly context: Pick<ToolContext, 'signal' | 'clock' | 'progress'>;
}

/**
 * The files of a scope as a corpus: known ones from the index that is kept, the others read now. What is
 * in it are these files alone, whatever the index knows of others; and what the index knows of others it
 * goes on knowing, so that tasks with different rules share it.
 */
export async function openWorkspace(
  scope: SearchScope,
  paths: readonly string[],
  { indexDirectory, context }: IndexOptions,
): Promise<Corpus> {
  const kept = indexDirectory === null ? null : indexPath(indexDirectory, scope.directory);
  const stored = kept === null ? null : loadIndex(kept);
  const vocabulary = stored?.vocabulary ?? new Vocabulary();
  const known = stored?.files ?? new Map<string, StampedFacts>();
  const { found, changed } = await lookAt(scope, paths, { known, context });
  const reader = new FileReader(scope, new FactFinder(vocabulary), MAX_FILE_BYTES);
  await readChanged(reader, changed, { found, context });
  if (kept !== null && isWorthSaving(found, known)) {
    saveIndex(kept, { vocabulary, files: merged(found, known, scope) });
  }
  const files = [...found].map(([path, { facts }]) => corpusFile(path, facts ?? NO_FACTS));
  return { files, vocabulary, text: (path) => readText(scope, path, context.signal) };
}

interface FoundFile {
  readonly stamp: FileStamp;
  /** Null: it could not be opened, which is tried again next time. */
  facts: FileFacts | null;
}

type Known = StoredIndex['files'];

/** All files there are, in the order of their paths, and those of them whose facts are not known. */
async function lookAt(
  scope: SearchScope,
  paths: readonly string[],
  { known, context }: { readonly known: Known } & Pick<IndexOptions, 'context'>,
): Promise<{ readonly found: Map<string, FoundFile>; readonly changed: readonly string[] }> {
  const found = new Map<string, FoundFile>();
  const changed: string[] = [];
  for (const [index, path] of paths.toSorted().entries()) {
    if (index % LOOKED_AT_ONCE === 0) await othersTurn(context.signal);
    const stamp = stampOf(join(scope.directory, path), context.clock.now());
    if (stamp === null) continue;
    const before = known.get(path);
    if (before !== undefined && isUnchanged(before, stamp)) {
      found.set(path, { stamp: before, facts: before });
    } else if (isWorthReading(path, stamp)) {
      found.set(path, { stamp, facts: null });
      changed.push(path);
    } else {
      found.set(path, { stamp, facts: NO_FACTS });
    }
  }
  return { found, changed };
}

async function readChanged(
  reader: FileReader,
  changed: readonly string[],
  { found, context }: { readonly found: Map<string, FoundFile> } & Pick<IndexOptions, 'context'>,
): Promise<void> {
  let read = 0;
  for (const [directory, all] of Map.groupBy(changed, (path) => dirname(path))) {
    for (let from = 0; from < all.length; from += READ_AT_ONCE) {
      await othersTurn(context.signal);
      const some = all.slice(from, from + READ_AT_ONCE);
      for (const [index, facts] of reader.factsOf(directory, some).entries()) {
        const file = found.get(some[index] ?? '');
        if (file !== undefined) file.facts = facts;
        read += 1;
        if (read % PROGRESS_EVERY === 0) {
          context.progress(`offline search: ${read} of ${changed.length} files read`);
        }
      }
    }
  }
}

async function othersTurn(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}

/** Not where the index knows all of it already; what is gone from the disk does no harm in it. */
function isWorthSaving(found: ReadonlyMap<string, FoundFile>, known: Known): boolean {
  for (const [path, { stamp, facts }] of found) {
    if (facts !== null && stamp !== known.get(path)) return true;
  }
  return false;
}

/** What was found, and of the others those that are still there. */
function merged(
  found: ReadonlyMap<string, FoundFile>,
  known: Known,
  { directory }: SearchScope,
): Known {
  const all = new Map<string, StampedFacts>();
  for (const [path, { stamp, facts }] of found) {
    if (facts !== null) all.set(path, { ...facts, ...stamp });
  }
  for (const [path, facts] of known) {
    if (all.size >= MAX_KNOWN) break;
    if (found.has(path) || look(join(directory, path)) === undefined) continue;
    all.set(path, facts);
  }
  return all;
}

/** Sources of any usual size, of other files the small ones: pictures and archives are not opened. */
function isWorthReading(path: string, { size }: FileStamp): boolean {
  if (BINARY.test(path)) return false;
  return size <= (fileKind(path) === 'source' ? MAX_FILE_BYTES : MAX_OTHER_BYTES);
}

/**
 * Its times are taken before it is read: what changes meanwhile is read again next time. Null: it is no
 * regular file, gone, or has other names that may lie outside.
 */
function stampOf(path: string, now: number): FileStamp | null {
  const stats = look(path);
  if (stats === undefined || !stats.isFile()) return null;
  if (stats.nlink > 1 && pathHasForeignNames(path)) return null;
  const { size, mtimeMs, ctimeMs, ino } = stats;
  return { size, modified: mtimeMs, changed: ctimeMs, inode: ino, read: now };
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    // Not to be looked at, or no longer a directory on the way: as good as gone.
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}

function isUnchanged(known: FileStamp, now: FileStamp): boolean {
  if (known.size !== now.size || known.modified !== now.modified) return false;
  if (known.inode !== now.inode || known.changed !== now.changed) return false;
  return now.changed < known.read - UNSURE_MS;
}

/** Null: binary, too large, or not to be opened. */
async function readText(
  scope: SearchScope,
  path: string,
  signal: AbortSignal,
): Promise<string | null> {
  const whole = join(scope.directory, path);
  try {
    const { bytes } = await readWholeFile(whole, openPlaceOf(scope, whole), {
      maxBytes: MAX_FILE_BYTES,
      signal,
    });
    const nul = bytes.indexOf(0);
    if (nul !== -1 && nul < BINARY_SAMPLE_BYTES) return null;
    return bytes.toString('utf8');
  } catch (thrown) {
    if (thrown instanceof MusterError) return null;
    throw thrown;
  }
}
