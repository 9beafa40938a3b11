import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { findUnsafeSetting } from './config-check.ts';

/** Files that redirect git or name filters. A new repository has none of them. */
const LEADING = ['commondir', 'config.worktree', 'info/attributes'];

/**
 * Tells whether a directory is a repository as `git init` or `git clone` creates it: its settings name no
 * program and no other location, and it has no hooks except samples.
 */
export function isPlainRepository(directory: string): boolean {
  const isPlainEntry = (name: string): boolean => {
    const stats = look(join(directory, name));
    return stats !== undefined && (stats.isDirectory() || stats.isFile());
  };
  const names = namesIn(directory);
  return (
    look(directory)?.isDirectory() === true &&
    ['HEAD', 'config', 'objects', 'refs'].every((name) => names.includes(name)) &&
    names.every(isPlainEntry) &&
    !names.includes('modules') &&
    LEADING.every((name) => look(join(directory, name)) === undefined) &&
    findUnsafeSetting({ top: directory, gitDirectory: directory, commonDirectory: directory }) ===
      undefined &&
    namesIn(join(directory, 'hooks')).every((name) => name.endsWith('.sample'))
  );
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    // On the way to it lies a file.
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return undefined;
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (thrown) {
    // There is no such directory.
    if (systemErrorCode(thrown) === undefined) throw thrown;
    return [];
  }
}
