import { closeSync, fstatSync, lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { errorMessage, MusterError, systemErrorCode } from '../../base/errors.ts';
import { holdDirectory, type HeldDirectory } from './held-directory.ts';
import { openHeldFile } from './open-in-roots.ts';
import { readWithLimit } from './read-at-most.ts';
import { hashContent } from './read-file.ts';
import { resolveInRoots } from './real-path.ts';

/**
 * The purpose for which a file of a project is read. A user trusts a file for one purpose only. `memory` means the
 * notes of an agent. They change while the agent works, so they are trusted by path and not by content, and they
 * remain data.
 */
export type ProjectFileKind =
  | 'config'
  | 'permissions'
  | 'agent'
  | 'skill'
  | 'template'
  | 'command'
  | 'memory'
  /** MCP servers. */
  | 'mcp'
  | 'hooks';

/** The identity of a file of a project. */
export interface ProjectFileName {
  /** The purpose for which the file is read. */
  readonly kind: ProjectFileKind;
  /**
   * Absolute: the project's root without links, followed by the names by which the file was found. The names
   * determine the effect of a file, so another path to the same file counts as another file.
   */
  readonly path: string;
}

/** The decision about a file. `trustedOn` is the time (ISO 8601) at which the previous content was trusted. */
export type TrustVerdict =
  | { readonly state: 'trusted' }
  | { readonly state: 'new' }
  | { readonly state: 'changed'; readonly trustedOn: string };

/** Decides whether a file of a project may take effect (docs/trust.md). */
export interface ProjectTrust {
  /**
   * Judges a file. `hash` reads the file and returns its hash; it is called only if the verdict depends on the content.
   */
  judge(file: ProjectFileName, hash: () => string): TrustVerdict;
  /** True if the verdicts hold for this run only, so that nothing may be recorded because of them. Default: false. */
  readonly isForRun?: boolean;
}

/** A request to read a file of a project. */
export interface ProjectFileRequest extends ProjectFileName {
  /** The real path of the directory in which the file must lie after all links are followed. */
  readonly boundary: string;
  readonly maxBytes: number;
}

/** A verdict on a file that may not take effect. */
export type UntrustedVerdict = Exclude<TrustVerdict, { state: 'trusted' }>;

/** A file that may not take effect. */
interface UntrustedFile {
  readonly kind: 'untrusted';
  readonly verdict: UntrustedVerdict;
  /** A sentence that says that nobody could trust the file, because it is too large. Default: it is not. */
  readonly sizeProblem?: string;
}

/**
 * The result of reading a file of a project. `refused` means that the file cannot or must not be read; `reason` is a
 * sentence.
 */
export type ProjectFileReading =
  | { readonly kind: 'absent' }
  | UntrustedFile
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string }
  | { readonly kind: 'read'; readonly bytes: Buffer };

/**
 * Reads a file of a project if the user has trusted exactly this content. Only a regular file of limited size
 * is read, and only if no link leads out of the project. A file that was never trusted is not even opened. The
 * returned bytes are the bytes for which the verdict was given.
 */
export function readProjectFile(
  request: ProjectFileRequest,
  trust: ProjectTrust,
): ProjectFileReading {
  using files = openProjectFiles(trust);
  return files.read(request);
}

/** Reads several files of a project. */
export interface ProjectFiles extends Disposable {
  read(request: ProjectFileRequest): ProjectFileReading;
}

/**
 * Opens a reader for many files. The reader holds the directory of the last file, so that the next file in that
 * directory is found quickly.
 */
export function openProjectFiles(trust: ProjectTrust): ProjectFiles {
  let held: HeldLocation | undefined;
  const release = (): void => {
    held?.directory.close();
    held = undefined;
  };
  return {
    read(request) {
      try {
        const known = held === undefined ? undefined : findHeldEntry(held, request);
        if (held !== undefined && known !== undefined) return judge(request, trust, known);
        const resolved = resolve(request);
        if (resolved.kind !== 'resolved') return resolved;
        release();
        held = hold(request, resolved.real);
        return judge(request, trust, { real: resolved.real, directory: held.directory });
      } catch (thrown) {
        return toRefusal(thrown);
      }
    },
    [Symbol.dispose]: release,
  };
}

interface HeldLocation {
  readonly boundary: string;
  /** The path as requested; null if the file itself was a link. */
  readonly path: string | null;
  readonly real: string;
  readonly directory: HeldDirectory;
}

interface Entry {
  /** Absolute, without links. */
  readonly real: string;
  /** The directory of `real`. */
  readonly directory: HeldDirectory;
}

/** Returns the requested file if it lies in the held directory; undefined if not, or if it is a link. */
function findHeldEntry(
  held: HeldLocation,
  { path, boundary }: ProjectFileRequest,
): Entry | undefined {
  if (dirname(path) !== held.path || boundary !== held.boundary) return undefined;
  const name = basename(path);
  const stats = lstatSync(held.directory.at(name), { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return undefined;
  return { real: join(held.real, name), directory: held.directory };
}

function hold({ path, boundary }: ProjectFileRequest, real: string): HeldLocation {
  const parent = dirname(real);
  const isLink = lstatSync(path).isSymbolicLink();
  const directory = holdDirectory('/', parent);
  return { boundary, path: isLink ? null : dirname(path), real: parent, directory };
}

type Resolution = { readonly kind: 'resolved'; readonly real: string } | ProjectFileReading;

function resolve({ path, boundary }: ProjectFileRequest): Resolution {
  const resolved = resolveInRoots(path, [boundary]);
  if (!resolved.inside) {
    return refused('link-outside', `A link out of ${boundary}. Copy the file there instead.`);
  }
  if (resolved.exists) return { kind: 'resolved', real: resolved.real };
  return resolved.problem === undefined || resolved.problem === 'not_a_directory'
    ? { kind: 'absent' }
    : refused('unreadable', `Cannot be read: ${path}: ${resolved.problem}`);
}

function judge(request: ProjectFileRequest, trust: ProjectTrust, entry: Entry): ProjectFileReading {
  const { kind, path } = request;
  let content: Buffer | undefined;
  const read = (): Buffer => (content ??= readRegular(entry, request));
  const verdict = trust.judge({ kind, path }, () => hashContent(read()));
  if (verdict.state === 'trusted') return { kind: 'read', bytes: read() };
  const stats = lstatSync(entry.directory.at(basename(entry.real)), { throwIfNoEntry: false });
  const isTooLarge = stats?.isFile() === true && stats.size > request.maxBytes;
  return {
    kind: 'untrusted',
    verdict,
    ...(isTooLarge ? { sizeProblem: describeExcessSize(stats.size, request.maxBytes) } : {}),
  };
}

/** Says that a file is too large. Both sizes are in bytes. */
export function describeExcessSize(size: number, limit: number): string {
  const shown = size > limit ? `It has ${size} bytes, and` : 'It is too large:';
  return `${shown} the limit is ${limit} bytes.`;
}

class RefusalError extends Error {
  readonly code: string;

  constructor(code: string, reason: string) {
    super(reason);
    this.code = code;
  }
}

function readRegular(
  { real, directory }: Entry,
  { boundary, maxBytes }: ProjectFileRequest,
): Buffer {
  // Trust depends on the content, so other names of the file (hard links) do no harm.
  const judged = new Map([[real, { real, mayHaveOtherNames: true }]]);
  const { fd } = openHeldFile(directory, real, { roots: [boundary], judged });
  using _close = atScopeEnd(() => closeSync(fd));
  const bytes = readWithLimit(fd, maxBytes);
  if (bytes !== undefined) return bytes;
  throw new RefusalError('too-large', describeExcessSize(fstatSync(fd).size, maxBytes));
}

function toRefusal(thrown: unknown): ProjectFileReading {
  if (thrown instanceof RefusalError) return refused(thrown.code, thrown.message);
  if (thrown instanceof MusterError && thrown.code === 'INVALID_PARAM') {
    return refused('not-a-file', `Not a regular file: ${thrown.message}.`);
  }
  if (thrown instanceof MusterError || systemErrorCode(thrown) !== undefined) {
    return refused('unreadable', `Cannot be read: ${errorMessage(thrown)}.`);
  }
  throw thrown;
}

function refused(code: string, reason: string): ProjectFileReading {
  return { kind: 'refused', code, reason };
}

/** Explains why an untrusted file is not used, and what to do. */
export function explainUntrusted(verdict: UntrustedVerdict): string {
  const what =
    verdict.state === 'new'
      ? 'Not trusted yet.'
      : `Changed since you trusted it on ${verdict.trustedOn.slice(0, 10)}.`;
  return `${what} Look at it, then run \`muster trust add\`.`;
}

/** Trusts every file, whatever it contains, for this run. */
export const TRUST_ALL: ProjectTrust = { judge: () => ({ state: 'trusted' }), isForRun: true };

/** Trusts no file. */
export const TRUST_NOTHING: ProjectTrust = { judge: () => ({ state: 'new' }) };
