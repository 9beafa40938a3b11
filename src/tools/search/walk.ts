import { readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { MusterError } from '../../base/errors.ts';
import { inDirectory } from '../../sys/open-in-roots.ts';
import { IgnoreRules } from './ignore-rules.ts';
import { NEVER_SEARCHED, placeFound, type SearchScope } from './search-types.ts';

/** Is told of each path, relative to the scope's directory, that may not be looked into. */
export type OnUnreadable = (path: string) => void;

/**
 * The files of a scope in path order, as ripgrep would list them: links and special files left out,
 * ignore files honoured unless the scope says otherwise, hidden files in. Paths are relative to the scope's directory.
 */
export async function* walkFiles(
  scope: SearchScope,
  onUnreadable: OnUnreadable,
): AsyncGenerator<string> {
  if (scope.file !== undefined) {
    if (scope.accepts(scope.file)) yield scope.file;
    return;
  }
  const rules = scope.includesIgnored === true ? null : IgnoreRules.at(scope.directory);
  yield* walk({ scope, onUnreadable }, '', rules);
}

interface Walk {
  readonly scope: SearchScope;
  readonly onUnreadable: OnUnreadable;
}

/** `rules` null: nothing is ignored. */
async function* walk(at: Walk, below: string, rules: IgnoreRules | null): AsyncGenerator<string> {
  const { scope } = at;
  // Each directory is a moment for whoever waits, and for a signal to be seen.
  await setImmediate();
  for (const entry of entriesOf(at, below)) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    const real = join(scope.directory, path);
    const isDirectory = entry.isDirectory();
    if (entry.name === NEVER_SEARCHED || rules?.ignores(real, { isDirectory }) === true) continue;
    if (isDirectory) yield* walk(at, path, rules?.enter(real) ?? null);
    else if (entry.isFile() && scope.accepts(path)) yield path;
  }
}

/** What is in a directory, held while it is read: a link that took its place leads nowhere. */
function entriesOf({ scope, onUnreadable }: Walk, below: string): readonly Dirent[] {
  const path = join(scope.directory, below);
  try {
    const entries = inDirectory(path, placeFound(scope, path), (directory) =>
      readdirSync(directory.at('.'), { withFileTypes: true }),
    );
    return entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    // Gone meanwhile: there is nothing to find in it.
    if (thrown.code === 'PERMISSION_DENIED') onUnreadable(below === '' ? '.' : below);
    return [];
  }
}
