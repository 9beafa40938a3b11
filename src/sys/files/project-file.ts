import { closeSync, lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorMessage, MusterError, systemErrorCode } from '../../base/errors.ts';
import { holdDirectory, type HeldDirectory } from './held-directory.ts';
import { openHeldFile } from './open-in-roots.ts';
import { readWithLimit } from './read-at-most.ts';
import { hashContent } from './read-file.ts';
import { resolveInRoots } from './real-path.ts';

/**
 * What a file of a project is read as: trust is given for this alone, and not for what it also holds.
 * `memory`: the notes of an agent, which change as it works; they are trusted by path, and stay data.
 */
export type ProjectFileKind = 'config' | 'permissions' | 'agent' | 'skill' | 'template' | 'memory';

export interface ProjectFileName {
  readonly kind: ProjectFileKind;
  /**
   * Absolute: the project's root without links, and below it the names by which the file was found. They
   * say what it acts as: a second way to the same file is another one.
   */
  readonly path: string;
}

export type TrustVerdict =
  | { readonly state: 'trusted' }
  | { readonly state: 'new' }
  /** `trustedOn`: when its former content was trusted, ISO 8601. */
  | { readonly state: 'changed'; readonly trustedOn: string };

/** Who says whether a file of a project may act (docs/trust.md). */
export interface ProjectTrust {
  /** `hash` reads the file, and is called only where the verdict hangs on what it holds. Never throws. */
  judge(file: ProjectFileName, hash: () => string): TrustVerdict;
}

export interface ProjectFileRequest extends ProjectFileName {
  /** Real path of the directory that no link may lead out of. */
  readonly boundary: string;
  readonly maxBytes: number;
}

export type UntrustedVerdict = Exclude<TrustVerdict, { state: 'trusted' }>;

export type ProjectFileReading =
  | { readonly kind: 'absent' }
  | { readonly kind: 'untrusted'; readonly verdict: UntrustedVerdict }
  /** It cannot be read, or must not be. `reason` is a sentence. */
  | { readonly kind: 'refused'; readonly code: string; readonly reason: string }
  | { readonly kind: 'read'; readonly bytes: Buffer };

/**
 * A file of a project, when the user has trusted just this content of it. Only a regular file is read,
 * no larger than said, that no link leads to from outside; one that nobody has trusted is not even
 * opened. What was judged and what is given back are the same bytes.
 */
export function readProjectFile(
  request: ProjectFileRequest,
  trust: ProjectTrust,
): ProjectFileReading {
  using files = openProjectFiles(trust);
  return files.read(request);
}

/** Reads as `readProjectFile` does. */
export interface ProjectFiles extends Disposable {
  read(request: ProjectFileRequest): ProjectFileReading;
}

/** For many files: the directory of the last one is held, so that the next one in it is found at once. */
export function openProjectFiles(trust: ProjectTrust): ProjectFiles {
  let held: HeldPlace | undefined;
  const release = (): void => {
    held?.directory.close();
    held = undefined;
  };
  return {
    read(request) {
      try {
        const known = held === undefined ? undefined : entryOf(held, request);
        if (held !== undefined && known !== undefined) return judge(request, trust, known);
        const resolved = resolve(request);
        if (resolved.kind !== 'resolved') return resolved;
        release();
        held = hold(request, resolved.real);
        return judge(request, trust, { real: resolved.real, directory: held.directory });
      } catch (thrown) {
        return refusal(thrown);
      }
    },
    [Symbol.dispose]: release,
  };
}

interface HeldPlace {
  readonly boundary: string;
  /** As it is asked for; null when only a file in it was, by a link. */
  readonly path: string | null;
  readonly real: string;
  readonly directory: HeldDirectory;
}

interface Entry {
  /** Absolute, without links. */
  readonly real: string;
  /** That of `real`. */
  readonly directory: HeldDirectory;
}

/** A file in the directory that is held; undefined for a link, which may lead anywhere. */
function entryOf(held: HeldPlace, { path, boundary }: ProjectFileRequest): Entry | undefined {
  if (dirname(path) !== held.path || boundary !== held.boundary) return undefined;
  const name = basename(path);
  const stats = lstatSync(held.directory.at(name), { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return undefined;
  return { real: join(held.real, name), directory: held.directory };
}

function hold({ path, boundary }: ProjectFileRequest, real: string): HeldPlace {
  const parent = dirname(real);
  const isLink = lstatSync(path).isSymbolicLink();
  const directory = holdDirectory('/', parent);
  return { boundary, path: isLink ? null : dirname(path), real: parent, directory };
}

type Resolution = { readonly kind: 'resolved'; readonly real: string } | ProjectFileReading;

function resolve({ path, boundary }: ProjectFileRequest): Resolution {
  const place = resolveInRoots(path, [boundary]);
  if (!place.inside) {
    return refused('link-outside', `A link out of ${boundary}. Copy the file there instead.`);
  }
  if (place.exists) return { kind: 'resolved', real: place.real };
  return place.problem === undefined || place.problem === 'not_a_directory'
    ? { kind: 'absent' }
    : refused('unreadable', `Cannot be read: ${path}: ${place.problem}`);
}

function judge(request: ProjectFileRequest, trust: ProjectTrust, entry: Entry): ProjectFileReading {
  const { kind, path } = request;
  let content: Buffer | undefined;
  const read = (): Buffer => (content ??= readRegular(entry, request));
  const verdict = trust.judge({ kind, path }, () => hashContent(read()));
  return verdict.state === 'trusted'
    ? { kind: 'read', bytes: read() }
    : { kind: 'untrusted', verdict };
}

class Refusal extends Error {
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
  // What it holds is what is trusted: other names of it (hard links) do no harm.
  const judged = new Map([[real, { real, mayHaveOtherNames: true }]]);
  const { fd } = openHeldFile(directory, real, { roots: [boundary], judged });
  try {
    const bytes = readWithLimit(fd, maxBytes);
    if (bytes !== undefined) return bytes;
    throw new Refusal('too-large', `Larger than the limit of ${maxBytes} bytes.`);
  } finally {
    closeSync(fd);
  }
}

function refusal(thrown: unknown): ProjectFileReading {
  if (thrown instanceof Refusal) return refused(thrown.code, thrown.message);
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

/** Why an untrusted file is not used, and what to do, as sentences. */
export function explainUntrusted(verdict: UntrustedVerdict): string {
  const what =
    verdict.state === 'new'
      ? 'Not trusted yet.'
      : `Changed since you trusted it on ${verdict.trustedOn.slice(0, 10)}.`;
  return `${what} Look at it, then run \`muster trust add\`.`;
}

/** Everything acts, whatever it holds. */
export const TRUST_ALL: ProjectTrust = { judge: () => ({ state: 'trusted' }) };

/** Nothing acts. */
export const TRUST_NOTHING: ProjectTrust = { judge: () => ({ state: 'new' }) };
