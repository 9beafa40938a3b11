import { toAbsolutePath } from '../../../sys/files/paths.ts';
import { findGroup } from './glob-syntax.ts';

/** A glob and the directory in which it begins. */
export interface SplitGlob {
  /** The absolute path of the directory that contains everything the glob can match. */
  readonly base: string;
  /** The rest of the glob. With a leading `/` it matches paths from `base`, otherwise names anywhere below. */
  readonly glob: string;
}

/** Last names that make a path a directory, so that a glob ending in one matches everything in it. */
const DIRECTORY_NAMES: ReadonlySet<string> = new Set(['', '.', '..', '~']);

/**
 * Separates the leading names without wildcards from a glob: `src/ui/*.ts` is `*.ts` directly in `src/ui`, and `src/`
 * is everything in `src`. Globs may be absolute or begin with `../`; the permission rules decide on their base.
 */
export function splitGlob(glob: string, directory: string): SplitGlob {
  const text = withSlashes(glob.trim());
  const names = text.split('/');
  const wildcard = firstWildcard(text);
  const isDirectory = DIRECTORY_NAMES.has(names.at(-1) ?? '');
  if (names.length === 1 && !isDirectory) return { base: directory, glob: text };
  const fixedCount =
    wildcard === -1 ? names.length - 1 : text.slice(0, wildcard).split('/').length - 1;
  const fixed = names.slice(0, wildcard === -1 && isDirectory ? names.length : fixedCount);
  const rest = names.slice(fixed.length).filter((name) => name !== '' && name !== '.');
  const leading = fixed.join('/');
  const here = text.startsWith('/') ? '/' : '.';
  return {
    base: toAbsolutePath(leading === '' ? here : leading, directory),
    glob: `/${[...rest, ...(isDirectory ? ['**'] : [])].join('/')}`,
  };
}

/** Whether a glob has no wildcards. */
export function isLiteralGlob(glob: string): boolean {
  return firstWildcard(glob) === -1;
}

/** Finds the first wildcard, group or escape; -1 if there is none. */
function firstWildcard(glob: string): number {
  for (let at = 0; at < glob.length; at += 1) {
    if ('*?[]{}\\'.includes(glob[at] ?? '') || findGroup(glob, at) !== undefined) return at;
  }
  return -1;
}

/** Replaces the separators of a Windows path such as `src\ui\*.ts`. A backslash before a bracket is an escape. */
function withSlashes(glob: string): string {
  return !glob.includes('/') && /\\[\w.*$ -]/.test(glob) ? glob.replaceAll('\\', '/') : glob;
}
