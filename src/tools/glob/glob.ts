import { byteLength, plural, truncate } from '../../base/text.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import { toAbsolutePath, displayPath } from '../../sys/files/paths.ts';
import { DIRECTORY, DIRECTORY_ALIASES, defineBuiltinTool } from '../shared/define-tool.ts';
import { baseDirectories } from './glob-bases.ts';
import type { GlobListing } from './glob-listing.ts';
import { fitLines } from '../shared/output.ts';
import { SEARCH_TIME_MS } from '../search/search-scope.ts';
import { placeGlobs, requireUsableGlob } from '../search/globs/placed-globs.ts';
import { acceptGlobLists, formatGlobList } from '../search/globs/glob-list.ts';

const NOTE_BYTES = 200;
const MAX_SHOWN_PATTERN_LENGTH = 100;

const glob = defineBuiltinTool({
  name: 'Glob',
  kind: 'read',
  replay: 'pure',
  description:
    'Find files by name, in path order, without ignored ones (.gitignore). A pattern without / matches in every directory: *.ts, src/**/*.{js,jsx}, *.ts,!*.test.ts.',
  input: {
    type: 'object',
    properties: {
      pattern: { type: 'string', minLength: 1 },
      path: DIRECTORY,
      include_ignored: { type: 'boolean' },
    },
    required: ['pattern'],
    fixed: { case_sensitive: [true], respect_git_ignore: [true] },
  },
  aliases: {
    ...DIRECTORY_ALIASES,
    glob: 'pattern',
    glob_pattern: 'pattern',
    patterns: 'pattern',
    query: 'pattern',
    no_ignore: 'include_ignored',
  },
  describe({ pattern, path = '.' }, { cwd }) {
    const directory = toAbsolutePath(path, cwd);
    return { ...NO_ACCESS, reads: baseDirectories(placeGlobs(pattern, directory), directory) };
  },
  async run(input, context) {
    requireUsableGlob(input.pattern, 'pattern');
    const directory = toAbsolutePath(input.path ?? '.', context.cwd);
    const includesIgnored = input.include_ignored ?? false;
    const { listGlobs } = await import('./glob-listing.ts');
    const found = await listGlobs({ list: input.pattern, directory, includesIgnored }, context);
    const show = (path: string): string => displayPath(path, context.cwd);
    const foundNotes = fitLines(found.notes, Math.floor(context.caps.resultBytes / 4)).lines;
    const noteBytes = NOTE_BYTES + byteLength(foundNotes.join('\n'));
    const fitted = fitLines(found.first.map(show), context.caps.resultBytes - noteBytes);
    const notes = [...describeOmittedFiles(found, fitted.lines.length + found.gone), ...foundNotes];
    if (found.total === 0 && found.stopped === undefined) {
      const where = show(found.directory);
      notes.unshift(
        `[no file matches ${truncate(formatGlobList(input.pattern), MAX_SHOWN_PATTERN_LENGTH)} in ${where}]`,
      );
    }
    return { text: [...fitted.lines, ...notes].join('\n') };
  },
});

/** The Glob tool. It accepts its globs as one string or as a list. */
export const globTool = acceptGlobLists(glob, ['pattern', 'glob', 'glob_pattern', 'patterns']);

function describeOmittedFiles(found: GlobListing, shown: number): string[] {
  const remaining = found.total - shown;
  if (found.stopped === 'time') {
    return [
      `[stopped after ${SEARCH_TIME_MS / 1000} s: there may be more; search a smaller directory]`,
    ];
  }
  const more = found.stopped === 'limit' ? 'more than ' : '';
  return remaining > 0
    ? [`[${more}${plural(remaining, 'more file')}: narrow the pattern or the path]`]
    : [];
}
