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
/** Linux: opens a descriptor that only refers to a location. It needs no right to read the directory. */
const O_PATH = 0o10000000;

/** A directory that stays the same even if a directory above it is renamed or replaced. */
export interface HeldDirectory extends Disposable {
  /** Returns the path by which to reach an entry. */
  at(name: string): string;
  /**
   * Must be called after an entry was opened, with the result of `fstat`. Throws `ELOOP` if the path to it has
   * changed.
   */
  verify(opened?: OpenedEntry): void;
  /** Releases the directory, as `using` does at the end of its block. */
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
  /** Permission bits of created directories. Default: as the umask says. */
  readonly mode?: number;
}

/**
 * Holds `directory` (absolute, without links), which is `root` or lies below it. Throws the system's error;
 * `ELOOP` or `ENOTDIR` if there is a link on the way.
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
 * Holds a directory by its descriptor (Linux). A link on the way is an error, even above the root, which
 * another root may contain.
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
 * Opens a directory by its full path. It is the directory of that name, and no link was followed, if the kernel
 * reports the same path (proc(5), /proc/pid/fd). Returns undefined otherwise.
 */
function openAsNamed(directory: string): number | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(directory, HOLD);
    if (readlinkSync(`/proc/self/fd/${fd}`) === directory) return fd;
  } catch (thrown) {
    // Opening it step by step will show which component is missing, closed or a link.
    if (systemErrorCode(thrown) === undefined) throw thrown;
  }
  if (fd !== undefined) closeSync(fd);
  return undefined;
}

/** Opens each component relative to its parent's descriptor, from the root of the file system on. */
function openStepByStep(root: string, directory: string, options: HoldOptions): number {
  let fd = openSync('/', HOLD);
  const enter = (name: string, how: HoldOptions): void => {
    const next = openBelow(`/proc/self/fd/${fd}/${name}`, how);
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
 * Holds a directory by its path (systems other than Linux), and checks afterwards that the name still means the
 * same directory.
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
      // If the directory was swapped and swapped back meanwhile, the opened entry is not the one of this name.
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
