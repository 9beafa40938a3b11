import { unsafeSetting } from '../sys/git/config-check.ts';
import { trackedFiles } from '../sys/git/index-names.ts';
import { findRepository } from '../sys/git/repository.ts';

/**
 * Why git may do more in this directory (absolute, real) than its words say; undefined: nothing does. The
 * environment of commands switches off what it can. The rest, filters and drivers that the repository's own
 * configuration names, is harmless in the sandbox alone.
 */
export function repositoryProblem(
  directory: string,
  { sandboxed }: { readonly sandboxed: boolean },
): string | undefined {
  if (sandboxed) return undefined;
  const repository = findRepository(directory);
  if (repository === undefined) return undefined;
  const setting = unsafeSetting(repository);
  if (setting !== undefined) {
    return `the repository sets ${JSON.stringify(setting)}, which may run a program, and there is no sandbox`;
  }
  if (trackedFiles(repository)?.hasSubmodules !== false) {
    return 'the repository may have submodules, whose settings git follows, and there is no sandbox';
  }
  return undefined;
}
