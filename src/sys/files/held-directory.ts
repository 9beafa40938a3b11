import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  type BigIntStats,
} from 'node:fs';
import { join, relative, sep } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';

const { O_DIRECTORY, O_NOFOLLOW } = constants;
/** Linux: opens a descriptor that only refers to a location, which requires no right to read the directory. */
const O_PATH = 0o10000000;

/** A reference to a directory that stays valid even if a directory above it is renamed or replaced. */
export interface HeldDirectory extends Disposable {
  /** Returns a path by which the entry of this name can be opened. */
  at(name: string): string;
  /**
   * Checks that the path has not changed. Call this method after opening an entry, with the result of `fstat`. Throws
   * `ELOOP` if the path has changed.
   */
  verify(opened?: OpenedEntry): void;
  /** Releases the directory. `using` does the same at the end of its block. */
  close(): void;
}

/** An opened entry of the directory. */
export interface OpenedEntry {
  readonly name: string;
  readonly stats: BigIntStats;
}

/** Options for holding a directory. */
export interface HoldOptions {
  /** True to create missing directories on the way. Default: false. */
  readonly create?: boolean;
  /** Permission bits of created directories. Default: set by the umask. */
  readonly mode?: number;
}

/**
 * Holds `directory` (absolute, without links), which must be `root` or lie below `root`. Throws the system's error;
 * `ELOOP` or `ENOTDIR` if the path contains a link.
 */
export function holdDirectory(
  root: string,
  directory: string,
  options: HoldOptions = {},
): HeldDirectory {
  const hold = hasDescriptorPaths() ? holdByDescriptor : holdByIdentity;
  return hold(root, directory, options);
}

let descriptorPaths: boolean | undefined;
function hasDescriptorPaths(): boolean {
  descriptorPaths ??= process.platform === 'linux' && existsSync('/proc/self/fd');
  return descriptorPaths;
}

/**
 * Holds a directory by its descriptor (Linux). A link anywhere in the path is an error, even above the root, because
 * the root may lie inside another root.
 */
export function holdByDescriptor(
  root: string,
  directory: string,
  options: HoldOptions = {},
): HeldDirectory {
  const fd = openAsNamed(directory) ?? openStepByStep(root, directory, options);
  const close = () => closeSync(fd);
  return {
    at: (name) => `/proc/self/fd/${fd}/${name}`,
    verify: () => undefined,
    close,
    [Symbol.dispose]: close,
  };
}

const HOLD = O_PATH | O_DIRECTORY | O_NOFOLLOW;

/**
 * Opens a directory by its full path. If the kernel reports the same path for the descriptor (proc(5),
 * /proc/pid/fd), no link was followed. Otherwise returns undefined.
 */
function openAsNamed(directory: string): number | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(directory, HOLD);
    if (readlinkSync(`/proc/self/fd/${fd}`) === directory) return fd;
  } catch (thrown) {
    // `openStepByStep` will find the component that is missing, not accessible or a link.
    if (systemErrorCode(thrown) === undefined) throw thrown;
  }
  if (fd !== undefined) closeSync(fd);
  return undefined;
}

/** Opens each component relative to its parent's descriptor, from the root of the file system on. */
function openStepByStep(root: string, directory: string, options: HoldOptions): number {
  let fd = openSync('/', HOLD);
  const enter = (name: string, entryOptions: HoldOptions): void => {
    const next = openBelow(`/proc/self/fd/${fd}/${name}`, entryOptions);
    closeSync(fd);
    fd = next;
  };
  try {
    for (const name of componentsBelow('/', root)) enter(name, {});
    for (const name of componentsBelow(root, directory)) enter(name, options);
  } catch (thrown) {
    closeSync(fd);
    throw thrown;
  }
  return fd;
}

function openBelow(path: string, { create = false, mode }: HoldOptions): number {
  try {
    return openSync(path, HOLD);
  } catch (thrown) {
    if (!create || systemErrorCode(thrown) !== 'ENOENT') throw thrown;
  }
  makeDirectory(path, mode);
  return openSync(path, HOLD);
}

/**
 * Holds a directory by its path (systems other than Linux). `verify` checks that the path still leads to the same
 * directory.
 */
export function holdByIdentity(
  root: string,
  directory: string,
  options: HoldOptions = {},
): HeldDirectory {
  let path = root;
  for (const name of componentsBelow(root, directory)) {
    path = join(path, name);
    if (options.create === true) makeDirectory(path, options.mode);
  }
  const before = identity(directory);
  return {
    at: (name) => join(directory, name),
    verify: (opened) => {
      if (identity(directory) !== before) throw linkError(directory);
      if (opened === undefined) return;
      // If the directory was replaced for a moment, the opened entry differs from the entry that now has this name.
      const now = lstatSync(join(directory, opened.name), { bigint: true });
      const { dev, ino } = opened.stats;
      if (now.dev !== dev || now.ino !== ino) throw linkError(directory);
    },
    close: () => undefined,
    [Symbol.dispose]: () => undefined,
  };
}

function identity(directory: string): string {
  if (realpathSync(directory) !== directory) throw linkError(directory);
  const { dev, ino } = lstatSync(directory, { bigint: true });
  return `${dev}:${ino}`;
}

function linkError(path: string): Error {
  return Object.assign(new Error(`${path}: a link on the way`), { code: 'ELOOP' });
}

function componentsBelow(root: string, directory: string): string[] {
  const rest = relative(root, directory);
  return rest === '' ? [] : rest.split(sep);
}

function makeDirectory(path: string, mode?: number): void {
  try {
    mkdirSync(path, mode);
  } catch (thrown) {
    if (systemErrorCode(thrown) !== 'EEXIST') throw thrown;
  }
}
