import { join } from 'node:path';
import { directoryNames, lstatIfPresent } from '../files/path-lookup.ts';
import { findUnsafeSetting } from './config-check.ts';

/** Files that redirect git or name filters. A new repository has none of them. */
const REDIRECTING_FILES = ['commondir', 'config.worktree', 'info/attributes'];

/**
 * Tells whether a directory looks like a git directory that `git init` or `git clone` has just created: its settings
 * name no program and no other location, and it has no hooks except samples.
 */
export function isPlainRepository(directory: string): boolean {
  const isPlainEntry = (name: string): boolean => {
    const stats = lstatIfPresent(join(directory, name));
    return stats !== undefined && (stats.isDirectory() || stats.isFile());
  };
  const names = directoryNames(directory);
  return (
    lstatIfPresent(directory)?.isDirectory() === true &&
    ['HEAD', 'config', 'objects', 'refs'].every((name) => names.includes(name)) &&
    names.every(isPlainEntry) &&
    !names.includes('modules') &&
    REDIRECTING_FILES.every((name) => lstatIfPresent(join(directory, name)) === undefined) &&
    findUnsafeSetting({ top: directory, gitDirectory: directory, commonDirectory: directory }) ===
      undefined &&
    directoryNames(join(directory, 'hooks')).every((name) => name.endsWith('.sample'))
  );
}
