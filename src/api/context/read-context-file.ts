import { closeSync } from 'node:fs';
import { decodeUtf8 } from '../../agents/loader/read-text.ts';
import { errorMessage } from '../../base/errors.ts';
import { removeHiddenCharacters } from '../../base/hidden-characters.ts';
import { plural } from '../../base/text.ts';
import type { RuleSet } from '../../protocol/permission.ts';
import { isInside } from '../../base/path-inside.ts';
import { listReadRestrictions, couldRestrictRead } from '../../policy/rules/match-rules.ts';
import { openFileInRoots } from '../../sys/files/open-in-roots.ts';
import { readWithLimit } from '../../sys/files/read-at-most.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';

/** The maximum number of bytes of one file. A longer one was not written for every start. */
const MAX_FILE_BYTES = 256 * 1024;

export type ContextReading =
  | { readonly kind: 'absent' }
  /** `reason` follows the name of the file. */
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'read';
      /** Absolute, without links. */
      readonly real: string;
      readonly text: string;
      /** A notice for the user. Absent if there is none. */
      readonly note?: string;
    };

export interface ContextFileRequest {
  /** Absolute. */
  readonly path: string;
  /** Absolute and real. No link leads out of it. */
  readonly boundary: string;
  /** Returns whether a rule may refuse to read a path. */
  readonly isWithheld: (asked: string, real: string) => boolean;
}

/**
 * Reads a context file as text. It must be a regular file inside its boundary, by any links, and not a file that
 * usually holds secrets, that a rule excludes, or that belongs to git. Never waits, and never throws for what is on
 * disk.
 */
export function readContextFile({
  path,
  boundary,
  isWithheld,
}: ContextFileRequest): ContextReading {
  const { real, inside, exists, problem } = resolveInRoots(path, [boundary]);
  if (!exists) {
    const isThere = problem !== undefined && problem !== 'not_a_directory';
    return isThere ? refused(`can't be read: ${problem}`) : { kind: 'absent' };
  }
  if (!inside) return refused(`leads out of ${boundary}`);
  if (isSecretPath(path) || isSecretPath(real)) return refused('usually holds secrets');
  if (real.split('/').includes('.git')) return refused("is git's own");
  if (isWithheld(path, real)) return refused('may not be read, by a rule of the configuration');
  try {
    return readRegular(real, boundary);
  } catch (thrown) {
    return refused(`can't be read: ${errorMessage(thrown)}`);
  }
}

function readRegular(real: string, boundary: string): ContextReading {
  // Another name of it (a hard link) shows nothing that this one does not.
  const judged = new Map([[real, { real, mayHaveOtherNames: true }]]);
  const { fd } = openFileInRoots(real, { roots: [boundary], judged });
  try {
    const bytes = readWithLimit(fd, MAX_FILE_BYTES);
    if (bytes === undefined) return refused(`is larger than the limit of ${MAX_FILE_BYTES} bytes`);
    const read = decodeUtf8(bytes);
    if (!read.ok) return refused(`is no text: ${read.reason}`);
    const { text, hidden } = removeHiddenCharacters(read.text);
    const note = `holds ${plural(hidden, 'character')} that nobody sees; left out`;
    return { kind: 'read', real, text: text.trim(), ...(hidden === 0 ? {} : { note }) };
  } finally {
    closeSync(fd);
  }
}

function refused(reason: string): ContextReading {
  return { kind: 'refused', reason };
}

/**
 * Returns a function that says whether a rule refuses, or asks about, reading a path, because nobody can be asked
 * before a prompt is written.
 */
export function createReadFilter(
  rules: RuleSet,
  place: { readonly roots: readonly string[]; readonly home: string },
): (asked: string, real: string) => boolean {
  const narrowing = listReadRestrictions(rules);
  return (asked, real) => {
    const insideRoots = place.roots.some((root) => isInside(root, real));
    return couldRestrictRead(narrowing, { asked, real, insideRoots }, place);
  };
}
