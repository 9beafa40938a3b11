import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { fileKind } from '../../base/code/file-kind.ts';
import { MusterError } from '../../base/errors.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { readWholeFile } from '../../sys/read-file.ts';
import { BINARY_SAMPLE_BYTES, placeFound, type SearchScope } from '../search/search-types.ts';
import { corpusFile, FactFinder, NO_FACTS, type FileFacts } from './corpus.ts';
import {
  indexPath,
  loadIndex,
  saveIndex,
  type FileStamp,
  type StampedFacts,
} from './index-file.ts';
import type { Corpus } from './rank.ts';
import { Vocabulary } from './vocabulary.ts';

/** Of what is larger only the path counts: it is data, or made by a program. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_OTHER_BYTES = 256 * 1024;
/** What is seldom text: it is told by its name, so that it need not be read to be left out. */
const BINARY =
  /\.(?:png|jpe?g|gif|ico|webp|bmp|tiff?|pdf|zip|gz|tgz|bz2|xz|7z|jar|war|class|so|dylib|dll|exe|o|a|wasm|woff2?|ttf|otf|eot|mp[34]|mov|wav|ogg|avi|sqlite|db|pyc|bin)$/i;
/** Within so many milliseconds before it was read, a file's times do not tell a later change. */
const UNSURE_MS = 2000;
/** After so many files read, those who watch are told. */
const PROGRESS_EVERY = 10_000;

interface IndexOptions {
  /** Absolute; null: nothing is kept. */
  readonly indexDirectory: string | null;
  readonly context: Pick<ToolContext, 'signal' | 'clock' | 'progress'>;
}

/**
 * The files of a scope as a corpus: known ones from the index that is kept, the others read now. What is
 * in it are these files alone, whatever the index knows of others.
 */
export async function openWorkspace(
  scope: SearchScope,
  paths: readonly string[],
  { indexDirectory, context }: IndexOptions,
): Promise<Corpus> {
  const kept = indexDirectory === null ? null : indexPath(indexDirectory, scope.directory);
  const stored = kept === null ? null : loadIndex(kept);
  const vocabulary = stored?.vocabulary ?? new Vocabulary();
  const finder = new FactFinder(vocabulary);
  const read = (path: string) => readText(scope, path, context.signal);
  const files = new Map<string, StampedFacts>();
  let anew = 0;
  for (const path of paths.toSorted()) {
    const stamp = stampOf(join(scope.directory, path), context.clock.now());
    if (stamp === null) continue;
    const known = stored?.files.get(path);
    if (known !== undefined && isUnchanged(known, stamp)) {
      files.set(path, known);
      continue;
    }
    const text = isWorthReading(path, stamp) ? await read(path) : null;
    const facts: FileFacts = text === null ? NO_FACTS : finder.factsOf({ path, text });
    files.set(path, { ...facts, ...stamp });
    anew += 1;
    if (anew % PROGRESS_EVERY === 0)
      context.progress(`offline search: ${anew} of ${paths.length} files read`);
  }
  if (kept !== null && (anew > 0 || files.size !== stored?.files.size)) {
    saveIndex(kept, { vocabulary, files });
  }
  const all = [...files].map(([path, facts]) => corpusFile(path, facts));
  return { files: all, vocabulary, text: read };
}

/** Sources of any usual size, of other files the small ones: pictures and archives are not opened. */
function isWorthReading(path: string, { size }: FileStamp): boolean {
  if (BINARY.test(path)) return false;
  return size <= (fileKind(path) === 'source' ? MAX_FILE_BYTES : MAX_OTHER_BYTES);
}

/** Its times are taken before it is read: what changes meanwhile is read again next time. */
function stampOf(path: string, now: number): FileStamp | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile()) return null;
  return { size: stats.size, modified: stats.mtimeMs, changed: stats.ctimeMs, read: now };
}

function isUnchanged(known: FileStamp, now: FileStamp): boolean {
  if (known.size !== now.size || known.modified !== now.modified) return false;
  return known.changed === now.changed && now.changed < known.read - UNSURE_MS;
}

/** Null: binary, too large, or not to be opened. */
async function readText(
  scope: SearchScope,
  path: string,
  signal: AbortSignal,
): Promise<string | null> {
  const whole = join(scope.directory, path);
  try {
    const { bytes } = await readWholeFile(whole, placeFound(scope, whole), {
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
