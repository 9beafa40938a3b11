import { joinShellPath } from './read-only/proof.ts';
import type { ParsedShellLine } from './parsed-line.ts';

const MOVING: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd']);

/**
 * The files that a line surely opens for writing by its redirections, as the kernel gets them: relative to
 * the working directory, absolute, or `~/`. Those that only the running shell knows are not among them, nor
 * are relative ones where it may be in another directory by then.
 */
export function findRedirectWrites({
  redirects,
  commands,
  directory,
}: ParsedShellLine): readonly string[] {
  const moves = commands.filter(({ words }) => MOVING.has(words[0]?.value ?? '')).length;
  const isClear = directory === null ? moves === 0 : moves === 1 && directory.path !== null;
  return redirects.flatMap(({ operator, target, opensFile }) => {
    if (!opensFile || operator.startsWith('<') || target === null) return [];
    if (target.form === 'pipe' || target.path === null || target.path === '') return [];
    const isRelative = !/^(?:\/|~(?:\/|$))/.test(target.path);
    if (!isRelative) return [target.path];
    return isClear ? [joinShellPath(directory?.path ?? '.', target.path)] : [];
  });
}
