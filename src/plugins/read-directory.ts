import { closeSync, constants, fstatSync, openSync, readdirSync, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { errorMessage, MusterError, systemErrorCode } from '../base/errors.ts';
import { readWithLimit } from '../sys/files/read-at-most.ts';
import { PLUGIN_LIMITS, type PluginFile, type PluginFileCollector } from './plugin-files.ts';

const ANY_EXECUTE_BIT = 0o111;
const MAX_DIRECTORIES = 5_000;

/**
 * Reads all files in a directory (absolute), except `.git`. Links are left out. Throws MusterError for anything else that
 * no plugin may have, and for a limit that is reached.
 */
export function collectDirectory(root: string, files: PluginFileCollector): void {
  const directories = [''];
  for (let index = 0; index < directories.length; index += 1) {
    const below = directories[index] ?? '';
    if (directories.length > MAX_DIRECTORIES) {
      throw files.refuse(`it has more than ${MAX_DIRECTORIES} directories`);
    }
    for (const entry of listEntries(root, below, files)) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.name === '.git') continue;
      if (entry.isDirectory()) {
        files.check(path, 0);
        directories.push(path);
      } else if (entry.isFile()) files.add(readFile(root, path, files));
      else if (entry.isSymbolicLink()) files.leaveOut(path);
      else throw files.refuse(`${path} is not a file`);
    }
  }
}

function listEntries(root: string, path: string, files: PluginFileCollector): readonly Dirent[] {
  try {
    return readdirSync(join(root, path), { withFileTypes: true });
  } catch (thrown) {
    if (systemErrorCode(thrown) === undefined) throw thrown;
    throw files.refuse(`${path === '' ? 'it' : path} cannot be read: ${errorMessage(thrown)}`);
  }
}

function readFile(root: string, path: string, files: PluginFileCollector): PluginFile {
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const descriptor = openSync(join(root, path), flags);
    try {
      const { size, mode } = fstatSync(descriptor);
      files.check(path, size);
      const bytes = readWithLimit(descriptor, PLUGIN_LIMITS.fileBytes);
      if (bytes === undefined) throw files.refuse(`${path} grows while it is read`);
      return { path, bytes, isExecutable: (mode & ANY_EXECUTE_BIT) !== 0 };
    } finally {
      closeSync(descriptor);
    }
  } catch (thrown) {
    if (thrown instanceof MusterError || systemErrorCode(thrown) === undefined) throw thrown;
    throw files.refuse(`${path} cannot be read: ${errorMessage(thrown)}`);
  }
}
