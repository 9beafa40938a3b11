import { joinShellPath } from './read-only/proof.ts';
import type { ParsedShellLine } from './parsed-line.ts';

/** Commands that change the working directory. */
const DIRECTORY_COMMANDS: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd']);

/**
 * Finds the files that a line certainly opens for writing by its redirections: relative to the working directory,
 * absolute, or with `~/`. Leaves out files that only the running shell knows, and relative ones where the shell may be
 * in another directory by then.
 */
export function findRedirectWrites({
  redirects,
  commands,
  directory,
}: ParsedShellLine): readonly string[] {
  const directoryChanges = commands.filter(({ words }) =>
    DIRECTORY_COMMANDS.has(words[0]?.value ?? ''),
  ).length;
  const isDirectoryKnown =
    directory === null ? directoryChanges === 0 : directoryChanges === 1 && directory.path !== null;
  return redirects.flatMap(({ operator, target, opensFile }) => {
    if (!opensFile || operator.startsWith('<') || target === null) return [];
    if (target.form === 'pipe' || target.path === null || target.path === '') return [];
    const isRelative = !/^(?:\/|~(?:\/|$))/.test(target.path);
    if (!isRelative) return [target.path];
    return isDirectoryKnown ? [joinShellPath(directory?.path ?? '.', target.path)] : [];
  });
}
