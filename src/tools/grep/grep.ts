import { join } from 'node:path';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { toAbsolutePath, displayPath } from '../../sys/files/paths.ts';
import { DIRECTORY_ALIASES, defineBuiltinTool } from '../shared/define-tool.ts';
import { formatMatches, type OutputMode } from './format-matches.ts';
import type { EmptySearch } from './no-match-notes.ts';
import {
  contentScope,
  countWithheldFiles,
  resolveSearchTarget,
  SEARCH_TIME_MS,
  unreadableNotes,
  type ContentFilters,
} from '../search/search-scope.ts';
import {
  isLiteralGlob,
  createGlobFilter,
  placeGlobsWithin,
  createPathFilter,
  requireUsableGlob,
  type PlacedGlob,
} from '../search/globs/placed-globs.ts';
import { acceptGlobLists } from '../search/globs/glob-list.ts';
import { requireUsablePattern } from '../search/pattern-error.ts';
import { sharedSearches } from '../search/shared-searches.ts';
import type {
  Notes,
  SearchLimits,
  SearchQuery,
  SearchResult,
  SearchScope,
} from '../search/search-types.ts';
import { spillText } from '../shared/output.ts';

const MAX_HITS = 1000;
/** The maximum number of matches that count mode counts in one file. */
const MAX_COUNTED_MATCHES = 10_000;
const MAX_CONTEXT_LINES = 50;

const grep = defineBuiltinTool({
  name: 'Grep',
  kind: 'read',
  replay: 'pure',
  description:
    'Search file contents with a regular expression (ripgrep, no look-around). Ignored, binary, secret and hard-linked files are left out, unless path names the file.',
  input: {
    type: 'object',
    properties: {
      pattern: { type: 'string', minLength: 1 },
      path: { type: 'string' },
      glob: { type: 'string', description: '*.ts,!*.test.ts' },
      type: { type: 'string', description: 'ts, py' },
      output_mode: {
        type: 'string',
        enum: ['content', 'files_with_matches', 'count'],
        description: 'default files_with_matches',
      },
      ignore_case: { type: 'boolean' },
      multiline: { type: 'boolean', description: '. matches line ends' },
      before: { type: 'integer', minimum: 0, clampTo: MAX_CONTEXT_LINES },
      after: { type: 'integer', minimum: 0, clampTo: MAX_CONTEXT_LINES },
      context: { type: 'integer', minimum: 0, clampTo: MAX_CONTEXT_LINES },
      include_ignored: { type: 'boolean' },
      head_limit: { type: 'integer', minimum: 1, clampTo: MAX_HITS, lowIsAbsent: true },
    },
    required: ['pattern'],
    fixed: { '-n': [true], offset: [0], fixed_strings: [false], is_regexp: [true] },
  },
  aliases: {
    ...DIRECTORY_ALIASES,
    '-A': 'after',
    '-B': 'before',
    '-C': 'context',
    '-i': 'ignore_case',
    case_insensitive: 'ignore_case',
    case_sensitive: '!ignore_case',
    include: 'glob',
    globs: 'glob',
    no_ignore: 'include_ignored',
    include_pattern: 'glob',
    file_pattern: 'glob',
    query: 'pattern',
    regex: 'pattern',
    limit: 'head_limit',
    max_results: 'head_limit',
    total_max_matches: 'head_limit',
  },
  describe: (input, { cwd }) => ({ ...NO_ACCESS, reads: [toAbsolutePath(input.path ?? '.', cwd)] }),
  async run(input, context) {
    requireUsablePattern(input.pattern);
    const path = toAbsolutePath(input.path ?? '.', context.cwd);
    const target = resolveSearchTarget(path, context);
    const mode = input.output_mode ?? 'files_with_matches';
    const filters = await createFileFilters(input, path);
    const scope = contentScope(path, target, filters, context);
    const show = (file: string): string => displayPath(join(scope.directory, file), context.cwd);
    const contextLines = (lines = input.context ?? 0): number =>
      mode === 'content' ? Math.min(lines, MAX_CONTEXT_LINES) : 0;
    const query = {
      pattern: input.pattern,
      ignoreCase: input.ignore_case ?? false,
      multiline: input.multiline ?? false,
      before: contextLines(input.before),
      after: contextLines(input.after),
    };
    const limits = createSearchLimits(mode, input.head_limit ?? MAX_HITS, context);
    const includesIgnored = input.include_ignored ?? false;
    const listed = { ...target, asked: path, includesIgnored };
    const withheldCounter = await countWithheldFiles(listed, limits, context);
    const { searchFilesInScope } = await import('../search/ripgrep.ts');
    const key = createSearchKey({ input, query, path, limits, scope }, context);
    const result = await sharedSearches.run(key, context.signal, (signal) =>
      searchFilesInScope(query, scope, { ...limits, signal }),
    );
    const search = { asked: path, target, query, scope, filters, show };
    const exclusions = await describeExclusions(result, search, context);
    const withheld = context.excludedPathsBelow({ asked: path, real: target.real });
    const notes = [
      ...exclusions,
      ...withheldCounter.notes(['file', 'files']),
      ...unreadableNotes(result.unreadable, show, withheld),
    ];
    return {
      text: formatMatches(
        { ...result, limits },
        {
          mode,
          show,
          maxBytes: context.caps.resultBytes,
          pattern: input.pattern,
          where: displayPath(path, context.cwd),
          notes,
          saveAll: (text) => spillText(text, context),
        },
      ),
    };
  },
});

export const grepTool = acceptGlobLists(grep, ['glob', 'globs', 'include']);

/** The arguments that the result of a search depends on, and what was made of them. */
interface KeyedSearch {
  readonly input: FileFilterArguments;
  readonly query: SearchQuery;
  readonly path: string;
  readonly limits: SearchLimits;
  readonly scope: SearchScope;
}

/**
 * Describes everything on which the result of a search depends: searches with equal texts have equal results. Returns null for a search of a single file, which costs
 * little, and for a search whose exclusions depend on more than rules.
 */
function createSearchKey(
  { input, query, path, limits, scope }: KeyedSearch,
  { roots, exclusionsKey }: ToolContext,
): string | null {
  if (scope.file !== undefined || exclusionsKey === undefined) return null;
  const { glob, type, include_ignored: includesIgnored } = input;
  const { maxFiles, maxMatches, maxMatchesPerFile } = limits;
  return JSON.stringify([
    query,
    [path, scope.directory, roots, exclusionsKey],
    [glob, type, includesIgnored],
    // JSON has no infinity.
    [maxFiles, String(maxMatches), maxMatchesPerFile],
  ]);
}

/**
 * Creates notes on files that were not searched. If the search found nothing, the notes cover all such files, and
 * otherwise only those that the glob names.
 */
async function describeExclusions(
  found: SearchResult,
  search: EmptySearch & { readonly filters: FileFilters },
  context: ToolContext,
): Promise<Notes> {
  const { asked, target, scope, filters, show } = search;
  if (scope.file !== undefined) {
    const { isBinaryFile } = await import('../search/decode-text.ts');
    const isBinary = isBinaryFile(scope.file, scope);
    return isBinary ? [`[${show(scope.file)} is binary, and was searched as text]`] : [];
  }
  if (found.files.length === 0 && found.stopped === undefined) {
    const { describeNoMatch: noMatchNotes } = await import('./no-match-notes.ts');
    const notes = await noMatchNotes(search, context);
    if (notes.length > 0) return notes;
  }
  const named = filters.globs.filter((glob) => isLiteralGlob(glob.text));
  if (named.length === 0) return [];
  const { namedNotes } = await import('../search/named-file-notes.ts');
  const namedSearch = {
    asked,
    real: target.real,
    found: new Set(found.files.map(({ path }) => join(asked, path))),
    includesIgnored: scope.includesIgnored === true,
    readsContents: true,
    show: (path: string) => displayPath(path, context.cwd),
  };
  return namedNotes(named, namedSearch, context);
}

interface FileFilterArguments {
  readonly glob?: string | undefined;
  readonly type?: string | undefined;
  readonly include_ignored?: boolean | undefined;
}

interface FileFilters extends ContentFilters {
  readonly globs: readonly PlacedGlob[];
}

/**
 * Creates the filters for the arguments glob and type, and the globs for file names with which ripgrep skips files
 * early.
 */
async function createFileFilters(
  choice: FileFilterArguments,
  directory: string,
): Promise<FileFilters> {
  const { glob, type, include_ignored: includesIgnored = false } = choice;
  if (glob === undefined && type === undefined) {
    return { accepts: [], nameGlobs: [], globs: [], includesIgnored };
  }
  if (glob !== undefined) requireUsableGlob(glob, 'glob');
  const { fileTypeGlob } = await import('./file-types.ts');
  const nameGlobs = type === undefined ? [] : [fileTypeGlob(type)];
  const globs = glob === undefined ? [] : placeGlobsWithin(glob, directory);
  const byGlob = globs.length === 0 ? [] : [createPathFilter(globs, directory)];
  const byType = nameGlobs.map((each) => createGlobFilter(each));
  return { accepts: [...byGlob, ...byType], nameGlobs, globs, includesIgnored };
}

function createSearchLimits(
  mode: OutputMode,
  headLimit: number,
  context: ToolContext,
): SearchLimits {
  const max = Math.min(headLimit, MAX_HITS);
  const common = { timeMs: SEARCH_TIME_MS, signal: context.signal };
  switch (mode) {
    case 'content':
      return { ...common, maxFiles: MAX_HITS, maxMatches: max, maxMatchesPerFile: max };
    case 'files_with_matches':
      return { ...common, maxFiles: max, maxMatches: MAX_HITS, maxMatchesPerFile: 1 };
    case 'count':
      return {
        ...common,
        maxFiles: max,
        maxMatches: Infinity,
        maxMatchesPerFile: MAX_COUNTED_MATCHES,
      };
  }
}
