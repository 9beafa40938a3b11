import { isFileKind, type FileKind } from '../../base/code/file-kind.ts';
import { truncate } from '../../base/text.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { fitLines } from '../shared/output.ts';
import { listFilesInScope } from '../search/ripgrep.ts';
import { contentScope, resolveSearchTarget } from '../search/search-scope.ts';
import { rankPlaces, type RankedPlace, type Ranking } from './rank.ts';
import { openWorkspace } from './workspace-index.ts';

export interface FindPlacesInput {
  readonly question: string;
  readonly kinds?: readonly string[] | undefined;
  readonly paths?: readonly string[] | undefined;
}

const MAX_FILES = 100_000;
/** For all of it. */
const TIME_MS = 120_000;
const SHOWN_PLACES = 20;
const MAX_QUESTION_CHARS = 6000;

/** JSON, a line each: what was searched, then the places, best first. */
export async function findPlaces(
  input: FindPlacesInput,
  context: ToolContext,
  indexDirectory: string | null,
): Promise<ToolOutput> {
  const place = resolveSearchTarget(context.cwd, context);
  const filters = { accepts: [], nameGlobs: [], checksOtherNames: true } as const;
  const scope = contentScope(context.cwd, place, filters, context);
  const limits = {
    maxFiles: MAX_FILES,
    maxMatches: MAX_FILES,
    maxMatchesPerFile: 1,
    timeMs: TIME_MS,
    signal: context.signal,
  };
  const listed = await listFilesInScope(scope, limits);
  const corpus = await openWorkspace(scope, listed.paths, { indexDirectory, context });
  const ranking = await rankPlaces(
    {
      question: truncate(input.question, MAX_QUESTION_CHARS),
      kinds: new Set((input.kinds ?? []).filter(isFileKind)),
      paths: input.paths ?? [],
    },
    corpus,
  );
  const head = describeSearch(ranking, { files: corpus.files.length, cut: listed.stopped });
  const lines = [head, ...ranking.places.slice(0, SHOWN_PLACES).map(describePlace)];
  return { text: fitLines(lines, context.caps.resultBytes).lines.join('\n') };
}

function describeSearch(
  { absent }: Ranking,
  { files, cut }: { readonly files: number; readonly cut: 'limit' | 'time' | undefined },
): string {
  return JSON.stringify({ files, absent, ...(cut === undefined ? {} : { cut }) });
}

function describePlace({ score, coverage, ...place }: RankedPlace): string {
  return JSON.stringify({
    ...place,
    score: Math.round(score * 1000) / 1000,
    coverage: Math.round(coverage * 1000) / 1000,
  } satisfies { readonly kind: FileKind } & Record<string, unknown>);
}
