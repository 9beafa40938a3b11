import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { PathRule } from './plan.ts';

/** A file of one line, which leads to another configuration and other hooks (gitrepository-layout(5)). */
const LEADS_AWAY = 'commondir';
/** What of a repository says which programs git runs. */
const PROTECTED = ['hooks', 'config', 'config.worktree'];
/** The repositories of submodules, each with a configuration of its own, and what names filters. */
const PROTECTED_WHERE_THERE = ['modules', 'info/attributes'];
/** Of a linked working tree, by its directory below `worktrees`: what of it git obeys. */
const PROTECTED_OF_WORKTREE = ['gitdir', LEADS_AWAY];

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
  const worktrees = worktreesOf(directory);
  return [
    { kind: 'held', path: directory },
    ...PROTECTED.map((name) => protectedOr('absent', name)),
    protectedOr('settled', LEADS_AWAY),
    ...worktrees.map((worktree) => protectedOr('absent', join(worktree, 'config.worktree'))),
    ...whereThere(
      worktrees.flatMap((worktree) =>
        PROTECTED_OF_WORKTREE.map((name) => join(directory, worktree, name)),
      ),
    ),
    ...whereThere(PROTECTED_WHERE_THERE.map((name) => join(directory, name))),
  ];
}

function whereThere(paths: readonly string[]): readonly PathRule[] {
  return paths.flatMap((path) => {
    const real = realPath(path);
    return real === undefined ? [] : [{ kind: 'protected', path: real }];
  });
}

/** The directories that git keeps for linked working trees, relative. */
function worktreesOf(directory: string): readonly string[] {
  try {
    return readdirSync(join(directory, 'worktrees'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join('worktrees', name));
  } catch {
    // It has none.
    return [];
  }
}

/** Where a `.git` file leads (gitrepository-layout(5)). */
function targetOf(file: string): string | undefined {
  const [, target] = /^gitdir: (.+)$/m.exec(readText(file)) ?? [];
  return target === undefined ? undefined : realPathFrom(dirname(file), target);
}

/** The repository that a worktree is of. */
function commonOf(directory: string): string | undefined {
  const common = readText(join(directory, 'commondir')).trim();
  return common === '' ? undefined : realPathFrom(directory, common);
}

/** As the kernel goes: it follows links before `..` takes one back. */
function realPathFrom(base: string, path: string): string | undefined {
  return realPath(isAbsolute(path) ? path : `${base}/${path}`);
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
