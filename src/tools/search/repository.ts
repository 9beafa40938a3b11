import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The nearest directory, from this one up, that is the top of a git repository. */
export function repositoryTop(directory: string): string | undefined {
  for (let at = directory; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return undefined;
  }
}
