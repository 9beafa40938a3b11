import { delimiter, join } from 'node:path';
import { listNames } from '../../../base/text.ts';
import { readGitConfiguration } from '../../git/configuration.ts';
import { findUnsafeSetting } from '../../git/config-check.ts';
import { findLocalRepository, readRemoteUrls } from '../../git/remotes.ts';
import { readGitFile } from '../../git/read-git-file.ts';
import { findRepository, type Repository } from '../../git/repository.ts';
import { isInside } from '../../../base/path-inside.ts';
import { isProtectedName } from '../../files/protected-names.ts';
import { listSubmoduleRepositories, listWorktrees } from '../git-rules.ts';
import { lstatIfPresent, directoryNames, realPathIfPresent } from '../../files/path-lookup.ts';
import type { GitWritablePaths } from './file-backup.ts';
import { isWritable, type PathRule } from '../plan.ts';

/** Settings that name no program and are common in repositories with submodules. */
const SUBMODULE_SETTINGS = new Set(
  listNames(`
    submodule.url submodule.active submodule.alternatelocation submodule.alternateerrorstrategy
    core.worktree core.sparsecheckout core.sparsecheckoutcone extensions.partialclone
    remote.promisor remote.partialclonefilter
  `),
);
/** Matches settings with programs that git runs for files with certain attributes. */
const ATTRIBUTE_PROGRAM =
  /^(?:filter|diff|merge)\..+\.(?:clean|smudge|process|textconv|command|driver)$/;
const HARMLESS_FILTER = /^git-lfs [\w %-]+$/;
const MAX_STEPS_BYTES = 1024 * 1024;
const EXECUTABLE = 0o111;

/**
 * Finds the protected files that a command which runs only git may change: files of the working tree at the top
 * of a root, and the settings of its repository. Returns null if the repository, one of its submodules or a
 * local repository that it pushes to makes git run other programs such as hooks, or if PATH contains a
 * directory in a root. `defaultRules` are the rules for commands that run other programs.
 */
export function findGitWritablePaths(
  roots: readonly string[],
  { homes, path }: { readonly homes: readonly string[]; readonly path?: string },
  defaultRules: readonly PathRule[],
): GitWritablePaths | null {
  const programDirectories = (path ?? '')
    .split(delimiter)
    .map((entry) => realPathIfPresent(entry) ?? entry);
  if (programDirectories.some((entry) => roots.some((root) => isInside(root, entry)))) return null;
  const repositories = roots.flatMap((root) => findRepository(root) ?? []);
  if (repositories.length === 0 || doUserSettingsRunPrograms(homes)) return null;
  const directories = [...new Set(repositories.map(({ commonDirectory }) => commonDirectory))];
  const modules = directories.flatMap(listSubmoduleRepositories);
  const all: readonly Repository[] = [
    ...repositories,
    ...modules.map((path) => ({ top: path, gitDirectory: path, commonDirectory: path })),
  ];
  if (!all.every(runsNoPrograms) || !findLocalRemotes(repositories, homes).every(runsNoPrograms))
    return null;
  const protectedNow = new Set(
    defaultRules.filter(({ kind }) => kind === 'protected').map(({ path }) => path),
  );
  const existing = (paths: readonly string[]): readonly string[] =>
    paths.flatMap((path) => realPathIfPresent(path) ?? []).filter((path) => protectedNow.has(path));
  return {
    trees: existing(
      roots.flatMap((root) =>
        directoryNames(root)
          .filter((name) => name !== '.git' && isProtectedName(name))
          .map((name) => join(root, name)),
      ),
    ).filter((path) =>
      roots.some((root) => isWritable(root, defaultRules) && path.startsWith(`${root}/`)),
    ),
    configurations: existing([...directories, ...modules].map((path) => join(path, 'config'))),
    links: existing(
      directories.flatMap((directory) =>
        listWorktrees(directory).flatMap((name) =>
          ['gitdir', 'commondir'].map((file) => join(directory, name, file)),
        ),
      ),
    ),
  };
}

/**
 * Tells whether the user's own git settings run programs. Hooks of the user run in every repository, and a
 * repository chooses by attributes which of the user's filters run.
 */
function doUserSettingsRunPrograms(homes: readonly string[]): boolean {
  const files = [
    '/etc/gitconfig',
    ...homes.flatMap((home) => [join(home, '.gitconfig'), join(home, '.config/git/config')]),
  ];
  const { settings, isComplete } = readGitConfiguration(files, homes);
  return (
    !isComplete ||
    settings.some(
      ({ name, value }) =>
        name === 'core.hookspath' ||
        (ATTRIBUTE_PROGRAM.test(name) && !HARMLESS_FILTER.test(value ?? '')),
    )
  );
}

/**
 * Tells whether a repository makes git run no other program: no program in its settings, no hooks, and no
 * commands in an interrupted rebase.
 */
export function runsNoPrograms(repository: Repository): boolean {
  if (
    findUnsafeSetting(repository, SUBMODULE_SETTINGS) !== undefined ||
    hasStepsToRun(repository)
  ) {
    return false;
  }
  const hooks = join(repository.commonDirectory, 'hooks');
  return !directoryNames(hooks).some((name) => {
    if (name.endsWith('.sample')) return false;
    const stats = lstatIfPresent(join(hooks, name));
    return stats !== undefined && (stats.isSymbolicLink() || (stats.mode & EXECUTABLE) !== 0);
  });
}

/** Tells whether an interrupted rebase contains commands that git would run. A command may have written them. */
function hasStepsToRun({ gitDirectory }: Repository): boolean {
  const steps = readGitFile(join(gitDirectory, 'rebase-merge/git-rebase-todo'), MAX_STEPS_BYTES);
  if (steps === 'missing') return false;
  return steps === null || /^\s*(?:x|exec)\s/m.test(steps.toString('latin1'));
}

/** Finds the remotes on this machine. They matter because a repository that receives a push runs its own hooks. */
function findLocalRemotes(
  repositories: readonly Repository[],
  homes: readonly string[],
): readonly Repository[] {
  return repositories.flatMap((repository) =>
    readRemoteUrls(repository, homes).flatMap(
      ({ url }) => findLocalRepository(url, repository.top) ?? [],
    ),
  );
}
