import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

export function isRepositoryTop(directory: string): boolean {
  return existsSync(join(directory, '.git'));
}

/** The nearest directory, from this one up, that is the top of a git repository. */
export function repositoryTop(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (isRepositoryTop(at)) return at;
    if (at === dirname(at)) return undefined;
  }
}
