import { joinShellPath } from './read-only/proof.ts';
import type { ParsedShellLine } from './parsed-line.ts';

/** Commands that change the working directory. */
const DIRECTORY_COMMANDS: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd']);

/**
 * Finds the files that the redirections of a line certainly open for writing. The paths are relative to the working
 * directory, absolute, or begin with `~/`. Files whose names are known only when the shell runs are left out, and also
 * relative paths if the shell may have changed its directory.
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
