import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { PathRule } from './plan.ts';

/** What of a repository says which programs git runs. */
const PROTECTED = ['hooks', 'config', 'config.worktree'];
/**
 * The repositories of submodules and worktrees, each with a configuration of its own, and a file that an
 * empty directory can't stand for: git does not work with one.
 */
const PROTECTED_WHERE_THERE = ['modules', 'worktrees', 'info/attributes'];
/** Leads to another configuration and other hooks (gitrepository-layout(5)), with a file of one line. */
const LEADS_AWAY = 'commondir';

/**
 * The rules for a repository by its `.git`: a directory, or the file that leads to one. Commits can be
 * made, and what git would run can't be changed. The directory is held in its place, since moved away
 * it would take its hooks along.
 */
export function gitRules(
  path: string,
  isPlaceholder: (path: string) => boolean,
): readonly PathRule[] {
  const real = realPath(path);
  if (real === undefined) return [];
  if (lstatSync(real).isDirectory()) return repositoryRules(real, isPlaceholder);
  const target = targetOf(real);
  const common = target === undefined ? undefined : commonOf(target);
  return [
    { kind: 'protected', path: real },
    ...[target, common].flatMap((directory) =>
      directory === undefined ? [] : repositoryRules(directory, isPlaceholder),
    ),
  ];
}

function repositoryRules(
  directory: string,
  isPlaceholder: (path: string) => boolean,
): readonly PathRule[] {
  const protectedOr = (kind: 'absent' | 'settled', name: string): PathRule => {
    const path = join(directory, name);
    const real = isPlaceholder(path) ? undefined : realPath(path);
    return real === undefined ? { kind, path } : { kind: 'protected', path: real };
  };
  return [
    { kind: 'held', path: directory },
    ...PROTECTED.map((name) => protectedOr('absent', name)),
    protectedOr('settled', LEADS_AWAY),
    ...PROTECTED_WHERE_THERE.flatMap((name): readonly PathRule[] => {
      const real = realPath(join(directory, name));
      return real === undefined ? [] : [{ kind: 'protected', path: real }];
    }),
  ];
}

/** Where a `.git` file leads (gitrepository-layout(5)). */
function targetOf(file: string): string | undefined {
  const [, target] = /^gitdir: (.+)$/m.exec(readText(file)) ?? [];
  return target === undefined ? undefined : realPath(resolve(dirname(file), target));
}

/** The repository that a worktree is of. */
function commonOf(directory: string): string | undefined {
  const common = readText(join(directory, 'commondir')).trim();
  return common === '' ? undefined : realPath(resolve(directory, common));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').slice(0, 4096);
  } catch {
    // Not a repository that git would take for one either.
    return '';
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // Missing, or a link that leads nowhere.
    return undefined;
  }
}
