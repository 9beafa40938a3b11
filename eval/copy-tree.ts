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

/** A tree that is too large for the result of a small task. */
export class TreeTooLargeError extends Error {}

const MAX_FILES = 5_000;
const MAX_BYTES = 200_000_000;

/**
 * Copies the regular files that an agent left. `.git`, links, and files that the task's own `.gitignore` names are left
 * out, so neither build products nor anything that git would run reaches the copy. No program runs for that.
 *
 * @param original the repository as given, whose `.gitignore` decides
 */
export function copyAgentTree(from: string, to: string, original: string): void {
  const ignoreFile = join(original, '.gitignore');
  const rules = ignore().add(['.git', '.git/']);
  if (existsSync(ignoreFile)) rules.add(readFileSync(ignoreFile, 'utf8'));
  const total = { files: 0, bytes: 0 };
  const copy = (relative: string): void => {
    mkdirSync(join(to, relative), { recursive: true });
    for (const entry of readdirSync(join(from, relative), { withFileTypes: true })) {
      const path = relative === '' ? entry.name : `${relative}/${entry.name}`;
      if (rules.ignores(entry.isDirectory() ? `${path}/` : path)) continue;
      if (entry.isDirectory()) copy(path);
      else if (entry.isFile()) copyFile(path);
    }
  };
  const copyFile = (path: string): void => {
    const { size, mode } = lstatSync(join(from, path));
    total.files += 1;
    total.bytes += size;
    if (total.files > MAX_FILES || total.bytes > MAX_BYTES) {
      throw new TreeTooLargeError(
        `the agent left more than ${MAX_FILES} files or ${MAX_BYTES} bytes`,
      );
    }
    copyFileSync(join(from, path), join(to, path), constants.COPYFILE_EXCL);
    chmodSync(join(to, path), (mode & 0o111) === 0 ? 0o644 : 0o755);
  };
  copy('');
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
