import {
  chmodSync,
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import ignore from 'ignore';
import { errorMessage, systemErrorCode } from '../src/base/errors.ts';
import { isMachineError } from './machine-errors.ts';

/** A tree that cannot be judged because of what the agent left in it. */
export class UnusableTreeError extends Error {}

const MAX_FILES = 5_000;
const MAX_BYTES = 200_000_000;

/**
 * Copies the regular files that an agent left. `.git`, links, and files that the task's own `.gitignore` names are left
 * out, so neither build products nor anything that git would run reaches the copy. No program runs for that.
 *
 * Throws UnusableTreeError if the tree is too large, or contains something that cannot be copied, such as a directory
 * without rights or a path that is too long.
 *
 * @param original the repository as given, whose `.gitignore` decides
 * @param maxFiles the maximum number of files and directories
 */
export function copyAgentTree(
  from: string,
  to: string,
  { original, maxFiles = MAX_FILES }: { readonly original: string; readonly maxFiles?: number },
): void {
  try {
    copyRegularFiles(from, to, { original, maxFiles });
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined || isMachineError(thrown)) throw thrown;
    throw new UnusableTreeError(`what the agent left cannot be copied: ${errorMessage(thrown)}`);
  }
}

function copyRegularFiles(
  from: string,
  to: string,
  { original, maxFiles }: { readonly original: string; readonly maxFiles: number },
): void {
  const ignoreFile = join(original, '.gitignore');
  const rules = ignore().add(['.git', '.git/']);
  if (existsSync(ignoreFile)) rules.add(readFileSync(ignoreFile, 'utf8'));
  const total = { files: 0, bytes: 0 };
  const copy = (relative: string): void => {
    count(0);
    mkdirSync(join(to, relative), { recursive: true });
    for (const entry of readdirSync(join(from, relative), { withFileTypes: true })) {
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`;
      if (rules.ignores(entry.isDirectory() ? `${path}/` : path)) continue;
      if (entry.isDirectory()) copy(path);
      else if (entry.isFile()) copyFile(path);
    }
  };
  const count = (bytes: number): void => {
    total.files += 1;
    total.bytes += bytes;
    if (total.files > maxFiles || total.bytes > MAX_BYTES) {
      throw new UnusableTreeError(
        `the agent left more than ${maxFiles} files and directories or ${MAX_BYTES} bytes`,
      );
    }
  };
  const copyFile = (path: string): void => {
    const { size, mode } = lstatSync(join(from, path));
    count(size);
    copyFileSync(join(from, path), join(to, path), constants.COPYFILE_EXCL);
    chmodSync(join(to, path), (mode & 0o111) === 0 ? 0o644 : 0o755);
  };
  copy('');
}

/** Removes a directory with all that is in it, also directories whose rights an agent has taken away. */
export function removeTree(directory: string): void {
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  try {
    remove();
  } catch (thrown) {
    const code = systemErrorCode(thrown);
    if (code !== 'EACCES' && code !== 'EPERM') throw thrown;
    openDirectories(directory);
    remove();
  }
}

/** Gives this user all rights to a directory and those in it. Does not follow links. */
function openDirectories(directory: string): void {
  chmodSync(directory, 0o700);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) openDirectories(join(directory, entry.name));
  }
}

/** Puts the protected files of a task back to their original content, and removes what was added to them. */
export function restoreProtected(tree: string, original: string, paths: readonly string[]): void {
  for (const path of paths) {
    const [source, target] = [join(original, path), join(tree, path)];
    removeFilesAbove(tree, path);
    rmSync(target, { recursive: true, force: true });
    if (!existsSync(source)) continue;
    mkdirSync(dirname(target), { recursive: true });
    cpSync(source, target, { recursive: true });
  }
}

/** Removes a file that has the name of one of the directories of a path. */
function removeFilesAbove(tree: string, path: string): void {
  const parent = dirname(path);
  if (parent === '.') return;
  removeFilesAbove(tree, parent);
  const found = lstatSync(join(tree, parent), { throwIfNoEntry: false });
  if (found?.isDirectory() === false) rmSync(join(tree, parent));
}

/** Lays files over a tree. What stands in their way is removed. */
export function overlay(tree: string, files: string): void {
  mkdirSync(tree, { recursive: true });
  for (const entry of readdirSync(files, { withFileTypes: true })) {
    const [source, target] = [join(files, entry.name), join(tree, entry.name)];
    const present = lstatSync(target, { throwIfNoEntry: false });
    if (present !== undefined && !(entry.isDirectory() && present.isDirectory())) {
      rmSync(target, { recursive: true, force: true });
    }
    if (entry.isDirectory()) overlay(target, source);
    else cpSync(source, target);
  }
}
