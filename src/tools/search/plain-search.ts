import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { readWholeFile } from '../../sys/read-file.ts';
import { MatchWorker, type MatchedLines } from './match-worker.ts';
import { plainPattern } from './plain-pattern.ts';
import { decodeText, firstNul, isUtf32 } from './decode-text.ts';
import {
  isBinaryAt,
  isLossyName,
  LONG_LINE_CHARACTERS,
  MAX_SEARCHED_BYTES,
  MAX_SPANS,
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
  type TextSpan,
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
      const request = {
        text: read.text,
        ...pattern,
        multiline,
        maxMatches: limits.maxMatchesPerFile,
        longLine: LONG_LINE_CHARACTERS,
        maxSpans: MAX_SPANS,
      };
      const matched = await worker.match(request, Math.min(left, FILE_TIME_MS));
      if (matched === undefined) stopped = 'time';
      if (matched === undefined || matched.found.length === 0) continue;
      const hits = hitsOf({ path, text: read.text }, matched, query);
      files.push(read.isBinary ? { ...hits, isBinary: true } : hits);
      matches += matched.found.length;
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

interface SearchableText {
  readonly text: string;
  readonly isBinary: boolean;
}

/** `skipped`: binary, too large, with a name outside, or gone. */
async function searchableText(
  scope: SearchScope,
  path: string,
  signal: AbortSignal,
): Promise<SearchableText | 'skipped' | 'unreadable'> {
  const whole = join(scope.directory, path);
  const options = { maxBytes: MAX_SEARCHED_BYTES, signal };
  try {
    const { bytes } = await readWholeFile(whole, placeFound(scope, whole), options);
    const isBinary = isBinaryAt(firstNul(bytes), scope);
    const text = decodeText(bytes);
    if (scope.file !== undefined) return { text, isBinary: isBinary && !isUtf32(bytes) };
    if (scope.includesBinary === true) return { text, isBinary };
    const nul = text.indexOf('\0');
    return isBinary ? 'skipped' : { text: nul === -1 ? text : text.slice(0, nul), isBinary };
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    const isRefused = systemErrorCode(thrown.cause) === 'EACCES';
    return isRefused || isLossyName(path) ? 'unreadable' : 'skipped';
  }
}

function hitsOf(
  { path, text }: { readonly path: string; readonly text: string },
  { found, spans }: MatchedLines,
  query: SearchQuery,
): FileHits {
  const all = text.split(/\r?\n/);
  if (all.at(-1) === '') all.pop();
  const matching = new Set<number>();
  const wanted = new Set<number>();
  for (const [first, last] of found) {
    for (let line = first; line <= last; line += 1) matching.add(line);
    for (let line = first - query.before; line <= last + query.after; line += 1) wanted.add(line);
  }
  const places = Map.groupBy(spans, ([line]) => line);
  const lines = all.flatMap((lineText, index): FoundLine[] => {
    if (!wanted.has(index)) return [];
    const line = { number: index + 1, text: lineText, matches: matching.has(index) };
    const inLine = places.get(index)?.map(([, from, to]): TextSpan => [from, to]);
    return [inLine === undefined ? line : { ...line, spans: inLine.slice(0, MAX_SPANS) }];
  });
  return { path, lines, matches: found.length };
}
