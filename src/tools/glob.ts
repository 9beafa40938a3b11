import { join } from 'node:path';
import { byteLength, plural } from '../base/text.ts';
import { MusterError } from '../base/errors.ts';
import type { ToolContext } from '../protocol/tool.ts';
import { absolutePath, displayPath } from '../sys/paths.ts';
import { defineTool } from './define.ts';
import { DIRECTORY, DIRECTORY_ALIASES } from './fields.ts';
import { KeptBack } from './kept-back.ts';
import { fitLines } from './output.ts';
import { confirmPaths } from './search/confirm.ts';
import { withSearchEngine } from './search/search-engine.ts';
import { comparePaths, type ListResult, type SearchScope } from './search/search-types.ts';
import { splitGlob, type SplitGlob } from './search/split-glob.ts';
import { findPlace, SEARCH_TIME_MS, unreadableNotes } from './search-scope.ts';

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
    fixed: { case_sensitive: [true], respect_git_ignore: [true] },
  },
  aliases: { ...DIRECTORY_ALIASES, glob: 'pattern', glob_pattern: 'pattern', query: 'pattern' },
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
    const withheld = context.withheldBelow({ asked: base, real: place.real });
    const kept = new KeptBack(withheld);
    const { scope, ...found } = await listFiles(place.real, { glob, kept }, context);
    const show = (path: string): string => displayPath(join(base, path), context.cwd);
    const first = found.paths.toSorted(comparePaths).slice(0, MAX_SHOWN);
    const shown = confirmPaths(first, scope).map(show);
    const said = fitLines(
      [...kept.notes(['file', 'files']), ...unreadableNotes(found.unreadable, show, withheld)],
      Math.floor(context.caps.resultBytes / 4),
    ).lines;
    const noteBytes = NOTE_BYTES + byteLength(said.join('\n'));
    const fitted = fitLines(shown, context.caps.resultBytes - noteBytes);
    const notes = [
      ...describeRest(found, fitted.lines.length + first.length - shown.length),
      ...said,
    ];
    if (found.paths.length === 0 && found.stopped === undefined) {
      notes.unshift(`[no file matches ${input.pattern} in ${displayPath(base, context.cwd)}]`);
    }
    return { text: [...fitted.lines, ...notes].join('\n') };
  },
});

function scopeOf({ pattern, path }: GlobInput, cwd: string): SplitGlob {
  return splitGlob(pattern, absolutePath(path ?? '.', cwd));
}

async function listFiles(
  directory: string,
  { glob, kept }: { readonly glob: string; readonly kept: KeptBack },
  context: ToolContext,
): Promise<ListResult & { readonly scope: SearchScope }> {
  const { globFilter } = await import('./search/globs.ts');
  const matches = globFilter(glob);
  // Kept back first: their number must not depend on what is looked for.
  const accepts = (path: string): boolean => !kept.holds(path) && matches(path);
  const scope = { directory, roots: context.roots, accepts, nameGlobs: [] };
  const limits = {
    maxFiles: MAX_LISTED,
    maxMatches: MAX_LISTED,
    maxMatchesPerFile: 1,
    timeMs: SEARCH_TIME_MS,
    signal: context.signal,
  };
  const found = await withSearchEngine((engine) => engine.list(scope, limits));
  return { ...found, scope };
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
