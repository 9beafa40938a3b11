import type { RemovedEntry } from '../../../base/settlement.ts';
import type { Repository } from '../../git/repository.ts';
import { modulesIn } from '../git-rules.ts';
import { runsNothing } from './git-writable-paths.ts';
import { putAside } from './quarantine.ts';

/**
 * The repositories of submodules that a command makes in the git directories of a workspace. git obeys them once a
 * submodule of that name is set up, so one with hooks or programs is put aside.
 */
export class NewModules {
  private readonly repositories: readonly string[];
  private readonly before: ReadonlySet<string>;
  private readonly directory: string | null;

  /** `directory`: where they are put. */
  constructor(repositories: readonly Repository[], directory: string | null) {
    this.repositories = [...new Set(repositories.map(({ commonDirectory }) => commonDirectory))];
    this.before = new Set(this.repositories.flatMap(modulesIn));
    this.directory = directory;
  }

  settle(): readonly RemovedEntry[] {
    return this.repositories
      .flatMap(modulesIn)
      .filter((path) => !this.before.has(path))
      .filter((path) => !runsNothing({ top: path, gitDirectory: path, commonDirectory: path }))
      .flatMap((path) => putAside(path, this.directory) ?? []);
  }
}
