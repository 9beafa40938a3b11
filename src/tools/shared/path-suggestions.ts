import { basename, dirname, join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { firstDirectoryNames } from '../../sys/files/directory-names.ts';
import { withHeldDirectory } from '../../sys/files/open-in-roots.ts';
import { toAbsolutePath, displayPath } from '../../sys/files/paths.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';

/** Adds the similar names in the directory of a path to a NOT_FOUND error. Returns any other error unchanged. */
export function addPathSuggestion(thrown: unknown, path: string, context: ToolContext): unknown {
  if (!(thrown instanceof MusterError) || thrown.code !== 'NOT_FOUND') return thrown;
  const hint = describeSuggestion(toAbsolutePath(path, context.cwd), context);
  return new MusterError('NOT_FOUND', `${thrown.message}.${hint}`, { cause: thrown });
}

function describeSuggestion(path: string, context: ToolContext): string {
  const parent = dirname(path);
  const resolved = resolveInRoots(parent, context.roots);
  if (!resolved.inside) return '';
  if (!resolved.exists)
    return ` Its directory ${displayPath(parent, context.cwd)} does not exist either.`;
  const near = suggestNames(basename(path), listReadableNames(parent, resolved.real, context));
  const shown = near.map((name) => displayPath(join(parent, name), context.cwd));
  return shown.length === 0 ? '' : ` Near it: ${shown.join(', ')}.`;
}

/** Returns the names in a directory that no rule withholds. Returns no names if the directory cannot be opened. */
function listReadableNames(asked: string, real: string, context: ToolContext): readonly string[] {
  const withheld = context.excludedPathsBelow({ asked, real });
  try {
    const names = withHeldDirectory(asked, context, (directory) =>
      firstDirectoryNames(directory.at('.')),
    );
    return withheld === null ? names : names.filter((name) => withheld(name) === undefined);
  } catch (thrown) {
    // Without a readable directory there is nothing to suggest.
    if (thrown instanceof MusterError) return [];
    throw thrown;
  }
}
