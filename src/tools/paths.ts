import { basename, dirname, join } from 'node:path';
import { MusterError } from '../base/errors.ts';
import { nearNames } from '../base/near-names.ts';
import { namesIn } from '../sys/directory-names.ts';
import { absolutePath, displayPath } from '../sys/paths.ts';
import { resolveInRoots } from '../sys/real-path.ts';

interface Place {
  readonly cwd: string;
  readonly roots: readonly string[];
}

/** A NOT_FOUND error with the names that may have been meant; any other error as it is. */
export function withSuggestion(thrown: unknown, path: string, at: Place): unknown {
  if (!(thrown instanceof MusterError) || thrown.code !== 'NOT_FOUND') return thrown;
  const hint = suggestion(absolutePath(path, at.cwd), at);
  return new MusterError('NOT_FOUND', `${thrown.message}.${hint}`, { cause: thrown });
}

function suggestion(path: string, at: Place): string {
  const parent = dirname(path);
  const resolved = resolveInRoots(parent, at.roots);
  if (!resolved.inside) return '';
  if (!resolved.exists)
    return ` Its directory ${displayPath(parent, at.cwd)} does not exist either.`;
  const near = nearNames(basename(path), namesIn(resolved.real));
  const shown = near.map((name) => displayPath(join(parent, name), at.cwd));
  return shown.length === 0 ? '' : ` Near it: ${shown.join(', ')}.`;
}
