import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { errorMessage, MusterError, systemErrorCode } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { readDirectoryEntries } from '../sys/files/path-lookup.ts';
import { PLUGINS_DIRECTORY } from '../trust/state-directory.ts';
import { hashPluginFiles, PluginFileCollector, type PluginFile } from './plugin-files.ts';
import { pluginId, type PluginRecord } from './plugin-records.ts';
import { collectDirectory } from './read-directory.ts';

type CopyName = Pick<PluginRecord, 'name' | 'marketplace' | 'hash'>;

/** The beginning of the name of a copy that is being written. The id of the writing process follows. */
const DRAFT_PREFIX = '.new-';
const OWNER_ONLY_DIRECTORY = 0o700;
const READ_ONLY_FILE = 0o400;
const READ_ONLY_PROGRAM = 0o500;

/** The installed copies of plugins in the data directory. */
export class PluginCopies {
  /** The directory of all copies. */
  readonly directory: string;

  /** @param dataDirectory absolute and without links */
  constructor(dataDirectory: string) {
    this.directory = join(dataDirectory, PLUGINS_DIRECTORY);
  }

  /** Returns the directory with the files of a copy. Its name is that of the plugin, because the names of skills may follow from it. */
  rootOf(record: CopyName): string {
    return join(this.#directoryOf(record), record.name);
  }

  /**
   * Reads the files of a copy. Returns the reason, as the rest of a sentence, if they are not the approved ones.
   */
  read(record: CopyName): readonly PluginFile[] | string {
    const root = this.rootOf(record);
    if (!existsSync(root)) return 'its files are missing';
    try {
      const files = new PluginFileCollector(root);
      collectDirectory(root, files);
      const isApproved =
        files.leftOut.length === 0 && hashPluginFiles(files.list()) === record.hash;
      return isApproved ? files.list() : 'its files have changed since then';
    } catch (thrown) {
      if (!(thrown instanceof MusterError)) throw thrown;
      return `its files have changed since then (${thrown.message})`;
    }
  }

  /**
   * Writes a copy under another name and then renames it, so that it is either complete or not there. A copy that is
   * there already stays if it has the same files. Throws MusterError if the files cannot be written.
   */
  write(record: CopyName, files: readonly PluginFile[]): void {
    const target = this.#directoryOf(record);
    const parent = dirname(target);
    const draft = join(parent, `${DRAFT_PREFIX}${process.pid}-${newId()}`);
    try {
      this.removeDrafts(pluginId(record));
      if (typeof this.read(record) !== 'string') return;
      mkdirSync(parent, { recursive: true, mode: OWNER_ONLY_DIRECTORY });
      const root = join(draft, record.name);
      mkdirSync(root, { recursive: true, mode: OWNER_ONLY_DIRECTORY });
      for (const file of files) writeFile(root, file);
      this.#rename(draft, target, record);
    } catch (thrown) {
      removeDirectory(draft);
      if (thrown instanceof MusterError || systemErrorCode(thrown) === undefined) throw thrown;
      throw new MusterError(
        'INTERNAL_ERROR',
        `the plugin could not be written to ${target}: ${errorMessage(thrown)}. Nothing was installed`,
      );
    }
  }

  /** Removes the copies of a plugin except those with these hashes. */
  removeOthers(record: Omit<CopyName, 'hash'>, keptHashes: readonly string[]): void {
    const directory = join(this.directory, pluginId(record));
    const kept = new Set(keptHashes.map(toDirectoryName));
    for (const { name } of readDirectoryEntries(directory)) {
      if (!kept.has(name) && !name.startsWith(DRAFT_PREFIX)) {
        removeDirectory(join(directory, name));
      }
    }
    if (keptHashes.length === 0) removeDirectory(directory);
  }

  /** Removes what killed processes have left of the copies of a plugin. */
  removeDrafts(id: string): void {
    const directory = join(this.directory, id);
    for (const { name } of readDirectoryEntries(directory)) {
      const owner = /^\.new-(\d+)-/.exec(name)?.[1];
      if (owner !== undefined && !isRunning(Number(owner))) removeDirectory(join(directory, name));
    }
  }

  #directoryOf(record: CopyName): string {
    return join(this.directory, pluginId(record), toDirectoryName(record.hash));
  }

  #rename(draft: string, target: string, record: CopyName): void {
    try {
      renameSync(draft, target);
    } catch (thrown) {
      const code = systemErrorCode(thrown);
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw thrown;
      // Another process has installed the same files meanwhile, or a copy was damaged.
      if (typeof this.read(record) !== 'string') return removeDirectory(draft);
      removeDirectory(target);
      renameSync(draft, target);
    }
    syncDirectory(dirname(target));
  }
}

/** Returns the name of the directory of a copy. It is short, because the paths of skills stand in prompts. */
function toDirectoryName(hash: string): string {
  return hash.slice(0, 16);
}

function writeFile(root: string, { path, bytes, isExecutable }: PluginFile): void {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true, mode: OWNER_ONLY_DIRECTORY });
  const descriptor = openSync(full, 'wx', isExecutable ? READ_ONLY_PROGRAM : READ_ONLY_FILE);
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function removeDirectory(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } catch (thrown) {
    // Some file systems cannot sync a directory. The files are synced in any case.
    if (systemErrorCode(thrown) !== 'EINVAL') throw thrown;
  } finally {
    closeSync(descriptor);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // Another user's process has the id.
    return systemErrorCode(thrown) === 'EPERM';
  }
}
