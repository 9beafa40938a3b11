import { basename, dirname, join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { firstDirectoryNames } from '../../sys/files/directory-names.ts';
import { withHeldDirectory } from '../../sys/files/open-in-roots.ts';
import { toAbsolutePath, displayPath } from '../../sys/files/paths.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';

/** Adds similar names to a NOT_FOUND error. Returns any other error unchanged. */
export function addPathSuggestion(thrown: unknown, path: string, at: ToolContext): unknown {
  if (!(thrown instanceof MusterError) || thrown.code !== 'NOT_FOUND') return thrown;
  const hint = describeSuggestion(toAbsolutePath(path, at.cwd), at);
  return new MusterError('NOT_FOUND', `${thrown.message}.${hint}`, { cause: thrown });
}

function describeSuggestion(path: string, at: ToolContext): string {
  const parent = dirname(path);
  const resolved = resolveInRoots(parent, at.roots);
  if (!resolved.inside) return '';
  if (!resolved.exists)
    return ` Its directory ${displayPath(parent, at.cwd)} does not exist either.`;
  const near = suggestNames(basename(path), readableNames(parent, resolved.real, at));
  const shown = near.map((name) => displayPath(join(parent, name), at.cwd));
  return shown.length === 0 ? '' : ` Near it: ${shown.join(', ')}.`;
}

/** The names in a directory that no rule withholds; none when it cannot be opened. */
function readableNames(asked: string, real: string, at: ToolContext): readonly string[] {
  const withheld = at.excludedPathsBelow({ asked, real });
  try {
    const names = withHeldDirectory(asked, at, (directory) =>
      firstDirectoryNames(directory.at('.')),
    );
    return withheld === null ? names : names.filter((name) => withheld(name) === undefined);
  } catch (thrown) {
    // Without a readable directory there is nothing to suggest.
    if (thrown instanceof MusterError) return [];
    throw thrown;
  }
}
