import { absolutePath } from '../../../sys/paths.ts';
import { groupAt } from './glob-syntax.ts';

export interface SplitGlob {
  /** Absolute directory that holds everything the glob can match. */
  readonly base: string;
  /** The rest of the glob: with a leading `/` about the path from `base`, otherwise about names anywhere below. */
  readonly glob: string;
}

/** Names that mean a directory, so that a glob which ends in one means all that is in it. */
const DIRECTORY_NAMES: ReadonlySet<string> = new Set(['', '.', '..', '~']);

/**
 * Takes the leading names without wildcards off a glob: `src/ui/*.ts` is `*.ts` directly in `src/ui`, and
 * `src/` is everything in `src`. Absolute globs and `../` work so; what they reach is judged like any
 * other path.
 */
export function splitGlob(glob: string, directory: string): SplitGlob {
  const text = withSlashes(glob.trim());
  const names = text.split('/');
  const magic = firstWildcard(text);
  const isDirectory = DIRECTORY_NAMES.has(names.at(-1) ?? '');
  if (names.length === 1 && !isDirectory) return { base: directory, glob: text };
  const fixedCount = magic === -1 ? names.length - 1 : text.slice(0, magic).split('/').length - 1;
  const fixed = names.slice(0, magic === -1 && isDirectory ? names.length : fixedCount);
  const rest = names.slice(fixed.length).filter((name) => name !== '' && name !== '.');
  const leading = fixed.join('/');
  const here = text.startsWith('/') ? '/' : '.';
  return {
    base: absolutePath(leading === '' ? here : leading, directory),
    glob: `/${[...rest, ...(isDirectory ? ['**'] : [])].join('/')}`,
  };
}

/** Whether a glob holds nothing but names. */
export function isLiteralGlob(glob: string): boolean {
  return firstWildcard(glob) === -1;
}

/** Where the first wildcard, group or escape stands; -1: nowhere. */
function firstWildcard(glob: string): number {
  for (let at = 0; at < glob.length; at += 1) {
    if ('*?[]{}\\'.includes(glob[at] ?? '') || groupAt(glob, at) !== undefined) return at;
  }
  return -1;
}

/** `src\ui\*.ts`, as it is written on Windows. A backslash before a bracket is an escape. */
function withSlashes(glob: string): string {
  return !glob.includes('/') && /\\[\w.*$ -]/.test(glob) ? glob.replaceAll('\\', '/') : glob;
}
