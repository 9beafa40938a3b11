import { join } from 'node:path';
import type { ToolContext } from '../protocol/tool.ts';
import { absolutePath, displayPath } from '../sys/paths.ts';
import { defineTool } from './define.ts';
import { DIRECTORY_ALIASES } from './fields.ts';
import { spillText } from './spill-text.ts';
import { describeHits, type OutputMode } from './grep-output.ts';
import {
  contentScope,
  countKeptBack,
  findPlace,
  SEARCH_TIME_MS,
  unreadableNotes,
} from './search-scope.ts';
import { withSearchEngine } from './search/search-engine.ts';
import type { SearchLimits } from './search/search-types.ts';

const MAX_HITS = 1000;
/** In count mode: what is counted in one file. */
const MAX_COUNTED = 10_000;
const MAX_CONTEXT = 50;

export const grepTool = defineTool({
  name: 'Grep',
  kind: 'read',
  replay: 'pure',
  description:
    'Search file contents with a regular expression (ripgrep syntax, no look-around). Ignored, binary, secret and hard-linked files are left out. content gives path:line:text.',
  input: {
    type: 'object',
    properties: {
      pattern: { type: 'string', minLength: 1 },
      path: { type: 'string', description: 'file or directory' },
      glob: { type: 'string', description: 'only these files: *.ts' },
      type: { type: 'string', description: 'only this language: ts, py' },
      output_mode: {
        type: 'string',
        enum: ['content', 'files_with_matches', 'count'],
        description: 'default files_with_matches',
      },
      ignore_case: { type: 'boolean' },
      multiline: { type: 'boolean', description: '. matches line ends' },
      before: { type: 'integer', minimum: 0, clampTo: MAX_CONTEXT },
      after: { type: 'integer', minimum: 0, clampTo: MAX_CONTEXT },
      context: {
        type: 'integer',
        minimum: 0,
        clampTo: MAX_CONTEXT,
        description: 'lines before and after',
      },
      head_limit: {
        type: 'integer',
        minimum: 1,
        clampTo: MAX_HITS,
        lowIsAbsent: true,
        description: 'at most this many results',
      },
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
    include_pattern: 'glob',
    file_pattern: 'glob',
    query: 'pattern',
    regex: 'pattern',
    limit: 'head_limit',
    max_results: 'head_limit',
    total_max_matches: 'head_limit',
  },
  describe: (input, { cwd }) => ({
    reads: [absolutePath(input.path ?? '.', cwd)],
    writes: [],
    commands: [],
    hosts: [],
  }),
  async run(input, context) {
    const path = absolutePath(input.path ?? '.', context.cwd);
    const place = findPlace(path, context);
    const mode = input.output_mode ?? 'files_with_matches';
    const filters = await fileFilters(input);
    const scope = contentScope(path, place, filters, context);
    const around = (lines = input.context ?? 0): number =>
      mode === 'content' ? Math.min(lines, MAX_CONTEXT) : 0;
    const query = {
      pattern: input.pattern,
      ignoreCase: input.ignore_case ?? false,
      multiline: input.multiline ?? false,
      before: around(input.before),
      after: around(input.after),
    };
    const limits = limitsOf(mode, input.head_limit ?? MAX_HITS, context);
    const { kept, ...result } = await withSearchEngine(async (engine) => ({
      kept: await countKeptBack(engine, { ...place, asked: path }, limits, context),
      ...(await engine.search(query, scope, limits)),
    }));
    const found = { ...result, limits };
    const show = (file: string): string => displayPath(join(scope.directory, file), context.cwd);
    const maxBytes = context.caps.resultBytes;
    const where = displayPath(path, context.cwd);
    const withheld = context.withheldBelow({ asked: path, real: place.real });
    const notes = [
      ...kept.notes(['file', 'files']),
      ...unreadableNotes(result.unreadable, show, withheld),
    ];
    return {
      text: describeHits(found, {
        mode,
        show,
        maxBytes,
        pattern: input.pattern,
        where,
        notes,
        keepWhole: (text) => spillText(text, context),
      }),
    };
  },
});

interface FileChoice {
  readonly glob?: string | undefined;
  readonly type?: string | undefined;
}

/** What the engine filters by, and globs for bare names that let it skip files early. */
async function fileFilters({ glob, type }: FileChoice) {
  if (glob === undefined && type === undefined) return { accepts: [], nameGlobs: [] };
  const { globFilter } = await import('./search/globs.ts');
  const { fileTypeGlob } = await import('./search/file-types.ts');
  const typeGlob = type === undefined ? [] : [fileTypeGlob(type)];
  const all = [...(glob === undefined ? [] : [glob]), ...typeGlob];
  return { accepts: all.map(globFilter), nameGlobs: typeGlob };
}

function limitsOf(mode: OutputMode, wanted: number, context: ToolContext): SearchLimits {
  const most = Math.min(wanted, MAX_HITS);
  const common = { timeMs: SEARCH_TIME_MS, signal: context.signal };
  switch (mode) {
    case 'content':
      return { ...common, maxFiles: MAX_HITS, maxMatches: most, maxMatchesPerFile: most };
    case 'files_with_matches':
      return { ...common, maxFiles: most, maxMatches: MAX_HITS, maxMatchesPerFile: 1 };
    case 'count':
      return { ...common, maxFiles: most, maxMatches: Infinity, maxMatchesPerFile: MAX_COUNTED };
  }
}
