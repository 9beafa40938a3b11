import { join } from 'node:path';
import { absolutePath } from '../../sys/paths.ts';

const MAGIC = /[*?[\]{}()!]/;

export interface SplitGlob {
  /** Absolute directory that holds everything the glob can match. */
  readonly base: string;
  /** The rest of the glob, relative to it. */
  readonly glob: string;
}

/**
 * Take the leading names without wildcards off a glob: `src/ui/*.ts` is `*.ts` directly in `src/ui`.
 * Absolute globs and `../` work so; what they reach is judged like any other path.
 */
export function splitGlob(glob: string, directory: string): SplitGlob {
  const names = glob.split('/');
  const magic = names.findIndex((name) => MAGIC.test(name) || name === '**');
  const fixed = names.slice(0, magic === -1 ? names.length - 1 : magic);
  if (fixed.length === 0) return { base: directory, glob };
  const prefix = glob.startsWith('/') ? `/${join(...fixed)}` : join(...fixed);
  // A leading slash: the rest is about the path from there, not about names anywhere below.
  const rest = names.slice(fixed.length).join('/');
  return { base: absolutePath(prefix, directory), glob: `/${rest}` };
}
