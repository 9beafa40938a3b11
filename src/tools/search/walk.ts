import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { IgnoreRules } from './ignore-rules.ts';
import { NEVER_SEARCHED, type SearchScope } from './search-types.ts';

/**
 * The files of a scope in path order, as ripgrep would list them: links and special files left out,
 * ignore files honoured, hidden files in. Paths are relative to the scope's directory.
 */
export async function* walkFiles(scope: SearchScope): AsyncGenerator<string> {
  if (scope.file !== undefined) {
    if (scope.accepts(scope.file)) yield scope.file;
    return;
  }
  yield* walk(scope, '', IgnoreRules.at(scope.directory));
}

async function* walk(
  scope: SearchScope,
  below: string,
  rules: IgnoreRules,
): AsyncGenerator<string> {
  for (const entry of await entriesOf(join(scope.directory, below))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    const real = join(scope.directory, path);
    const isDirectory = entry.isDirectory();
    if (entry.name === NEVER_SEARCHED || rules.ignores(real, { isDirectory })) continue;
    if (isDirectory) yield* walk(scope, path, rules.enter(real));
    else if (entry.isFile() && scope.accepts(path)) yield path;
  }
}

async function entriesOf(directory: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    return entries.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  } catch (thrown) {
    // Not readable, or gone: there is nothing to find in it.
    if (systemErrorCode(thrown) !== undefined) return [];
    throw thrown;
  }
}
