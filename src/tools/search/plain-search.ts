import { join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { readWholeFile } from '../../sys/read-file.ts';
import { MatchWorker, type MatchedLines } from './match-worker.ts';
import { plainPattern } from './plain-pattern.ts';
import {
  BINARY_SAMPLE_BYTES,
  MAX_SEARCHED_BYTES,
  type FileHits,
  type FoundLine,
  type ListResult,
  type SearchEngine,
  type SearchLimits,
  type SearchQuery,
  type SearchResult,
  type SearchScope,
} from './search-types.ts';
import { walkFiles } from './walk.ts';

/** One file may not use up the time of all the others. */
const FILE_TIME_MS = 2000;

/** Search without ripgrep, for where its binary is missing: slower, same results. */
export const plainSearch: SearchEngine = { list, search };

async function list(scope: SearchScope, limits: SearchLimits): Promise<ListResult> {
  const deadline = Date.now() + limits.timeMs;
  const paths: string[] = [];
  for await (const path of walkFiles(scope)) {
    limits.signal.throwIfAborted();
    paths.push(path);
    if (paths.length >= limits.maxFiles) return { paths, stopped: 'limit' };
    if (Date.now() > deadline) return { paths, stopped: 'time' };
  }
  return { paths };
}

async function search(
  query: SearchQuery,
  scope: SearchScope,
  limits: SearchLimits,
): Promise<SearchResult> {
  const pattern = plainPattern(query);
  const deadline = Date.now() + limits.timeMs;
  const worker = new MatchWorker();
  const files: FileHits[] = [];
  let matches = 0;
  let slow = false;
  try {
    for await (const path of walkFiles(scope)) {
      limits.signal.throwIfAborted();
      const left = deadline - Date.now();
      if (left <= 0) return { files, stopped: 'time' };
      const text = await searchableText(join(scope.directory, path), scope.roots, limits.signal);
      if (text === undefined) continue;
      const { multiline } = query;
      const request = { text, ...pattern, multiline, maxMatches: limits.maxMatchesPerFile };
      const found = await worker.match(request, Math.min(left, FILE_TIME_MS));
      if (found === undefined) slow = true;
      if (found === undefined || found.length === 0) continue;
      files.push(hitsOf(path, text, found, query));
      matches += found.length;
      if (files.length >= limits.maxFiles || matches >= limits.maxMatches) {
        return { files, stopped: 'limit' };
      }
    }
  } finally {
    await worker.close();
  }
  return slow ? { files, stopped: 'time' } : { files };
}

/** Undefined: binary, too large, or not to be read (any more). */
async function searchableText(
  path: string,
  roots: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const { bytes } = await readWholeFile(path, roots, { maxBytes: MAX_SEARCHED_BYTES, signal });
    const nul = bytes.indexOf(0);
    if (nul !== -1 && nul < BINARY_SAMPLE_BYTES) return undefined;
    return bytes.subarray(0, nul === -1 ? bytes.length : nul).toString('utf8');
  } catch (thrown) {
    if (thrown instanceof MusterError) return undefined;
    throw thrown;
  }
}

function hitsOf(path: string, text: string, found: MatchedLines, query: SearchQuery): FileHits {
  const all = text.split(/\r?\n/);
  if (all.at(-1) === '') all.pop();
  const matching = new Set<number>();
  const wanted = new Set<number>();
  for (const [first, last] of found) {
    for (let line = first; line <= last; line += 1) matching.add(line);
    for (let line = first - query.before; line <= last + query.after; line += 1) wanted.add(line);
  }
  const lines = all.flatMap((lineText, index): FoundLine[] =>
    wanted.has(index) ? [{ number: index + 1, text: lineText, matches: matching.has(index) }] : [],
  );
  return { path, lines, matches: found.length };
}
