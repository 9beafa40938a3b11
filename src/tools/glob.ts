import { join } from 'node:path';
import { plural } from '../base/text.ts';
import { MusterError } from '../base/errors.ts';
import type { ToolContext } from '../protocol/tool.ts';
import { absolutePath, displayPath } from '../sys/paths.ts';
import { defineTool } from './define.ts';
import { DIRECTORY, DIRECTORY_ALIASES } from './fields.ts';
import { fitLines } from './output.ts';
import { withSearchEngine } from './search/search-engine.ts';
import { comparePaths, type ListResult } from './search/search-types.ts';
import { splitGlob, type SplitGlob } from './search/split-glob.ts';
import { findPlace, SEARCH_TIME_MS } from './search-scope.ts';

const MAX_SHOWN = 1000;
/** More than this is not even sorted. */
const MAX_LISTED = 200_000;
const NOTE_BYTES = 200;

interface GlobInput {
  readonly pattern: string;
  readonly path?: string | undefined;
}

export const globTool = defineTool({
  name: 'Glob',
  kind: 'read',
  replay: 'pure',
  description:
    'Find files by name, in path order, ignored files (.gitignore) left out. Without a / the pattern is about names in every directory: *.ts, src/**/*.{js,jsx}.',
  input: {
    type: 'object',
    properties: { pattern: { type: 'string', minLength: 1 }, path: DIRECTORY },
    required: ['pattern'],
  },
  aliases: { ...DIRECTORY_ALIASES, glob: 'pattern', glob_pattern: 'pattern' },
  describe: (input, { cwd }) => ({
    reads: [scopeOf(input, cwd).base],
    writes: [],
    commands: [],
    hosts: [],
  }),
  async run(input, context) {
    const { base, glob } = scopeOf(input, context.cwd);
    if (glob.split('/').includes('..')) {
      throw new MusterError(
        'INVALID_PARAM',
        'pattern: has .. after a wildcard; valid: .. in front',
      );
    }
    const place = findPlace(base, context);
    const found = await listFiles(place.real, glob, context);
    const sorted = found.paths.toSorted(comparePaths);
    const shown = sorted
      .slice(0, MAX_SHOWN)
      .map((path) => displayPath(join(base, path), context.cwd));
    const fitted = fitLines(shown, context.caps.resultBytes - NOTE_BYTES);
    const notes = describeRest(found, fitted.lines.length);
    if (found.paths.length === 0 && notes.length === 0) {
      return { text: `[no file matches ${input.pattern} in ${displayPath(base, context.cwd)}]` };
    }
    return { text: [...fitted.lines, ...notes].join('\n') };
  },
});

function scopeOf({ pattern, path }: GlobInput, cwd: string): SplitGlob {
  return splitGlob(pattern, absolutePath(path ?? '.', cwd));
}

async function listFiles(
  directory: string,
  glob: string,
  context: ToolContext,
): Promise<ListResult> {
  const { globFilter } = await import('./search/globs.ts');
  const scope = { directory, roots: context.roots, accepts: globFilter(glob), nameGlobs: [] };
  const limits = {
    maxFiles: MAX_LISTED,
    maxMatches: MAX_LISTED,
    maxMatchesPerFile: 1,
    timeMs: SEARCH_TIME_MS,
    signal: context.signal,
  };
  return withSearchEngine((engine) => engine.list(scope, limits));
}

function describeRest(found: ListResult, shown: number): string[] {
  const left = found.paths.length - shown;
  if (found.stopped === 'time') {
    return [
      `[stopped after ${SEARCH_TIME_MS / 1000} s: there may be more; search a smaller directory]`,
    ];
  }
  const more = found.stopped === 'limit' ? 'more than ' : '';
  return left > 0 ? [`[${more}${plural(left, 'more file')}: narrow the pattern or the path]`] : [];
}
