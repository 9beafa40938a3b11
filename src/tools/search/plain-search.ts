import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { readWholeFile } from '../../sys/read-file.ts';
import { MatchWorker, type MatchedLines } from './match-worker.ts';
import { plainPattern } from './plain-pattern.ts';
import {
  BINARY_SAMPLE_BYTES,
  isLossyName,
  MAX_SEARCHED_BYTES,
  placeFound,
  unreadableOf,
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
  const deadline = systemClock.monotonic() + limits.timeMs;
  const paths: string[] = [];
  const unreadable: string[] = [];
  for await (const path of walkFiles(scope, (each) => unreadable.push(each))) {
    limits.signal.throwIfAborted();
    paths.push(path);
    if (paths.length >= limits.maxFiles) {
      return { paths, stopped: 'limit', ...unreadableOf(unreadable) };
    }
    if (systemClock.monotonic() > deadline)
      return { paths, stopped: 'time', ...unreadableOf(unreadable) };
  }
  return { paths, ...unreadableOf(unreadable) };
}

async function search(
  query: SearchQuery,
  scope: SearchScope,
  limits: SearchLimits,
): Promise<SearchResult> {
  const pattern = plainPattern(query);
  const deadline = systemClock.monotonic() + limits.timeMs;
  const worker = new MatchWorker();
  const files: FileHits[] = [];
  let matches = 0;
  const unreadable: string[] = [];
  let stopped: SearchResult['stopped'];
  try {
    for await (const path of walkFiles(scope, (each) => unreadable.push(each))) {
      limits.signal.throwIfAborted();
      const left = deadline - systemClock.monotonic();
      if (left <= 0) {
        stopped = 'time';
        break;
      }
      const read = await searchableText(scope, path, limits.signal);
      if (read === 'unreadable') unreadable.push(path);
      if (read === 'unreadable' || read === 'skipped') continue;
      const { multiline } = query;
      const request = { ...read, ...pattern, multiline, maxMatches: limits.maxMatchesPerFile };
      const found = await worker.match(request, Math.min(left, FILE_TIME_MS));
      if (found === undefined) stopped = 'time';
      if (found === undefined || found.length === 0) continue;
      files.push(hitsOf(path, read.text, found, query));
      matches += found.length;
      if (files.length >= limits.maxFiles || matches >= limits.maxMatches) {
        stopped = 'limit';
        break;
      }
    }
  } finally {
    await worker.close();
  }
  return { files, ...(stopped === undefined ? {} : { stopped }), ...unreadableOf(unreadable) };
}

/** `skipped`: binary, too large, with a name outside, or gone. */
async function searchableText(
  scope: SearchScope,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly text: string } | 'skipped' | 'unreadable'> {
  const whole = join(scope.directory, path);
  const options = { maxBytes: MAX_SEARCHED_BYTES, signal };
  try {
    const { bytes } = await readWholeFile(whole, placeFound(scope, whole), options);
    const nul = bytes.indexOf(0);
    if (nul !== -1 && nul < BINARY_SAMPLE_BYTES) return 'skipped';
    return { text: bytes.subarray(0, nul === -1 ? bytes.length : nul).toString('utf8') };
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    const isRefused = systemErrorCode(thrown.cause) === 'EACCES';
    return isRefused || isLossyName(path) ? 'unreadable' : 'skipped';
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
