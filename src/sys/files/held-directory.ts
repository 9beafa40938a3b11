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
/** Linux: a descriptor that names a place only; needs no right to read the directory. */
const O_PATH = 0o10000000;

/** A directory that stays the same one, whatever happens to the names above it. */
export interface HeldDirectory {
  /** The path by which an entry of it is reached. */
  at(name: string): string;
  /**
   * To be called after an entry was opened, with what `fstat` says of it: throws `ELOOP` when the way to
   * it has changed.
   */
  verify(opened?: OpenedEntry): void;
  close(): void;
}

export interface OpenedEntry {
  readonly name: string;
  readonly stats: BigIntStats;
}

export interface HoldOptions {
  /** Make what is missing on the way. Default false. */
  readonly create?: boolean;
  /** Permission bits of what is made. Default: as the umask has it. */
  readonly mode?: number;
}

/**
 * Hold `directory` (absolute, no links expected in it), which is `root` or lies below it. Throws the
 * system's error; `ELOOP` or `ENOTDIR` where a link turned up on the way.
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
 * Linux: hold its descriptor. A link on the way is an error, above the root, too, where another root may
 * hold it.
 */
export function holdByDescriptor(
  root: string,
  directory: string,
  options: HoldOptions = {},
): HeldDirectory {
  const fd = openAsNamed(directory) ?? openStepByStep(root, directory, options);
  return {
    at: (name) => `/proc/self/fd/${fd}/${name}`,
    verify: () => undefined,
    close: () => closeSync(fd),
  };
}

const HOLD = O_PATH | O_DIRECTORY | O_NOFOLLOW;

/**
 * By its whole path at once: what was opened is the directory of that name, and no link was followed,
 * when the kernel calls it so (proc(5), /proc/pid/fd). Undefined where that does not show.
 */
function openAsNamed(directory: string): number | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(directory, HOLD);
    if (readlinkSync(`/proc/self/fd/${fd}`) === directory) return fd;
  } catch (thrown) {
    // Step by step it shows which component is missing, closed or a link.
    if (systemErrorCode(thrown) === undefined) throw thrown;
  }
  if (fd !== undefined) closeSync(fd);
  return undefined;
}

/** Each component below its parent's descriptor, from the root of the file system on. */
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

/** Elsewhere: go by name, and afterwards look whether the name still means the same directory. */
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
      // Swapped and swapped back while it was opened: then it is not what the name means now.
      const now = lstatSync(join(directory, opened.name), { bigint: true });
      const { dev, ino } = opened.stats;
      if (now.dev !== dev || now.ino !== ino) throw linkError(directory);
    },
    close: () => undefined,
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
