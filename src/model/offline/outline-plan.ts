import { fileKind } from '../../base/code/file-kind.ts';
import { isSecretPath } from '../../sys/secret-paths.ts';
import type { Evidence } from './evidence.ts';
import { globOf, type PlannedCall } from './plan-calls.ts';
import type { Situation } from './situation.ts';
import type { Query } from './terms.ts';

/** Files that are outlined whole, and files of a directory of which a line is told. */
const OPENED = 5;
export const OPENED_OF_DIRECTORY = 16;
/** Enough for what a file says of itself and most of what it defines. */
const DIRECTORY_LINES = 600;

const ASKS_FOR_DIRECTORY =
  /^(?:please |can you |could you )*(?:summari[sz]e|condense|outline|(?:give (?:me )?)?an? (?:overview|outline|summary) of|overview of)\s+(?:of )?(?:the )?(?:(?:directory|folder|package|module) )?[`"']?([\w@.~/-]+?)[`"']?\/?(?: (?:directory|folder|package|module))?[.!?]*$/i;
const ALL =
  /^(?:\.|this|it|project|repository|repo|codebase|workspace|directory|folder|code|files)$/i;

/** The directory that an outline is asked of: `.` for all of it, null for none. */
export function outlinedDirectory(question: string): string | null {
  const first = question.split('\n')[0] ?? '';
  const named = ASKS_FOR_DIRECTORY.exec(first.trim().replace(/\bthis (?=\w)/i, ''))?.[1];
  if (named === undefined || /\.\w+$/.test(named)) return null;
  return ALL.test(named) ? '.' : named.replace(/^\.\//, '').replace(/\/$/, '');
}

/**
 * Find the files, then read them: the named ones whole, of a directory the beginnings of some. Whoever asks for a
 * directory does not ask for the secrets in it, each of which would be asked about.
 */
export function outlineCalls(
  { query, directory }: { readonly query: Query; readonly directory: string | null },
  situation: Situation,
  evidence: Evidence,
): readonly PlannedCall[] {
  const has = (name: string) => situation.rounds.flat().some(({ call }) => call.name === name);
  if (has('Read')) return [];
  if (directory !== null) {
    if (!has('Glob')) return [{ name: 'Glob', input: { pattern: globBelow(directory) } }];
    return directoryOrder(filesBelow(directory, evidence.files))
      .filter((path) => !isSecretPath(path))
      .slice(0, OPENED_OF_DIRECTORY)
      .map((path) => ({ name: 'Read', input: { file_path: path, limit: DIRECTORY_LINES } }));
  }
  if (!has('Glob') && situation.tools.has('Glob')) {
    return query.paths.slice(0, OPENED).map((path) => ({
      name: 'Glob',
      input: { pattern: path.includes('/') ? globOf([path]) : `**/${globOf([path])}` },
    }));
  }
  const found = [...evidence.files].slice(0, OPENED);
  const paths = found.length === 0 ? query.paths.slice(0, OPENED) : found;
  return paths.map((path) => ({ name: 'Read', input: { file_path: path } }));
}

/** One below another is meant where there is none here. */
function globBelow(directory: string): string {
  return directory === '.' ? '**/*' : `**/${globOf([directory])}/**/*`;
}

/** The files of a directory among those that were found: of the one right here, or else of all of that name. */
export function filesBelow(directory: string, found: Iterable<string>): readonly string[] {
  const all = [...found];
  const here = all.filter((path) => path.startsWith(`${directory}/`));
  return directory === '.' || here.length === 0 ? all : here;
}

/** What tells most of a directory first: its own texts, then its sources, the upper ones first. */
export function directoryOrder(paths: readonly string[]): readonly string[] {
  const worth = (path: string): number => {
    if (/(?:^|\/)readme[^/]*$/i.test(path)) return 0;
    const kind = fileKind(path);
    if (kind === 'source' && !BINARY.test(path)) return 1;
    return kind === 'docs' || kind === 'types' ? 2 : 3;
  };
  const depth = (path: string) => path.split('/').length;
  return paths.toSorted((a, b) => worth(a) - worth(b) || depth(a) - depth(b) || (a < b ? -1 : 1));
}

const BINARY =
  /\.(?:png|jpe?g|gif|ico|webp|pdf|zip|gz|tgz|bz2|xz|jar|so|exe|wasm|woff2?|ttf|mp[34])$/i;
