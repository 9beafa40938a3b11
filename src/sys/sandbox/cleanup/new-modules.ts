import type { QuarantinedEntry } from '../../../base/cleanup-result.ts';
import type { Repository } from '../../git/repository.ts';
import { listSubmoduleRepositories } from '../git-rules.ts';
import { runsNoPrograms } from './git-writable-paths.ts';
import { quarantineEntry } from './quarantine.ts';

/**
 * Repositories of submodules that a command creates in the git directories of a workspace. Git obeys such a
 * repository once a submodule of its name is set up, so one with hooks or programs is quarantined.
 */
export class NewSubmodules {
  private readonly repositories: readonly string[];
  private readonly before: ReadonlySet<string>;
  private readonly directory: string | null;

  /** `directory`: the directory for quarantined repositories. */
  constructor(repositories: readonly Repository[], directory: string | null) {
    this.repositories = [...new Set(repositories.map(({ commonDirectory }) => commonDirectory))];
    this.before = new Set(this.repositories.flatMap(listSubmoduleRepositories));
    this.directory = directory;
  }

  settle(): readonly QuarantinedEntry[] {
    return this.repositories
      .flatMap(listSubmoduleRepositories)
      .filter((path) => !this.before.has(path))
      .filter((path) => !runsNoPrograms({ top: path, gitDirectory: path, commonDirectory: path }))
      .flatMap((path) => quarantineEntry(path, this.directory) ?? []);
  }
}
