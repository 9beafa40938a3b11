import { closeSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorMessage, MusterError, systemErrorCode } from '../base/errors.ts';
import { holdDirectory } from './held-directory.ts';
import { openHeldFile, type OpenFile, type OpenPlace } from './open-in-roots.ts';
import { readAtMost } from './read-at-most.ts';
import { sha256 } from './read-file.ts';
import { resolveInRoots } from './real-path.ts';

/** What a file of a project is read as: trust is given for this alone, and not for what it also holds. */
export type ProjectFileKind = 'config' | 'permissions' | 'agent';

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

/** Who says whether a file of a project may act (SECURITY "Trust of project files"). */
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
  const { kind, path, boundary } = request;
  const place = resolveInRoots(path, [boundary]);
  if (!place.inside) {
    return refused('link-outside', `A link out of ${boundary}. Copy the file there instead.`);
  }
  if (!place.exists) {
    return place.problem === undefined || place.problem === 'not_a_directory'
      ? { kind: 'absent' }
      : refused('unreadable', `Cannot be read: ${path}: ${place.problem}`);
  }
  let content: Buffer | undefined;
  const read = (): Buffer => (content ??= readRegular(place.real, request));
  try {
    const verdict = trust.judge({ kind, path }, () => sha256(read()));
    return verdict.state === 'trusted'
      ? { kind: 'read', bytes: read() }
      : { kind: 'untrusted', verdict };
  } catch (thrown) {
    return refusal(thrown);
  }
}

class Refusal extends Error {
  readonly code: string;

  constructor(code: string, reason: string) {
    super(reason);
    this.code = code;
  }
}

function readRegular(path: string, { boundary, maxBytes }: ProjectFileRequest): Buffer {
  // What it holds is what is trusted: other names of it (hard links) do no harm.
  const judged = new Map([[path, { real: path, mayHaveOtherNames: true }]]);
  const { fd } = openResolved(path, { roots: [boundary], judged });
  try {
    const bytes = readAtMost(fd, maxBytes);
    if (bytes !== undefined) return bytes;
    throw new Refusal('too-large', `Larger than the limit of ${maxBytes} bytes.`);
  } finally {
    closeSync(fd);
  }
}

/** `path` has just been resolved: one that has become a link since is refused. */
function openResolved(path: string, place: OpenPlace): OpenFile {
  const directory = holdDirectory('/', dirname(path));
  try {
    return openHeldFile(directory, path, place);
  } finally {
    directory.close();
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
export function untrustedReason(verdict: UntrustedVerdict): string {
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
