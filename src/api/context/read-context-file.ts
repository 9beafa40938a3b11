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

/** The maximum number of bytes of one file. A larger file was not written to be sent with every conversation. */
const MAX_FILE_BYTES = 256 * 1024;

export type ContextReading =
  | { readonly kind: 'absent' }
  /** `reason` is the end of a sentence that begins with the name of the file. */
  | { readonly kind: 'refused'; readonly reason: string }
  | {
      readonly kind: 'read';
      /** Absolute, without links. */
      readonly real: string;
      readonly text: string;
      /** A notice for the user, as the end of a sentence that begins with the name of the file. */
      readonly note?: string;
    };

export interface ContextFileRequest {
  /** Absolute. */
  readonly path: string;
  /** The directory that no link may leave; absolute and real. */
  readonly boundary: string;
  /**
   * Checks whether a rule may forbid reading the file. `asked` is the path as requested, `real` the path without links.
   */
  readonly isExcluded: (asked: string, real: string) => boolean;
}

/**
 * Reads a context file as text. The path must lead, possibly through links, to a regular file inside the boundary.
 * Refuses a file that usually contains secrets, that a rule excludes, or that belongs to git. Never blocks on a pipe,
 * and never throws because of the state of the file system.
 */
export function readContextFile({
  path,
  boundary,
  isExcluded,
}: ContextFileRequest): ContextReading {
  const { real, inside, exists, problem } = resolveInRoots(path, [boundary]);
  if (!exists) {
    const isBroken = problem !== undefined && problem !== 'not_a_directory';
    return isBroken ? refused(`can't be read: ${problem}`) : { kind: 'absent' };
  }
  if (!inside) return refused(`leads out of ${boundary}`);
  if (isSecretPath(path) || isSecretPath(real)) return refused('usually holds secrets');
  if (real.split('/').includes('.git')) return refused('belongs to git');
  if (isExcluded(path, real)) return refused('must not be read because of a permission rule');
  try {
    return readRegularFile(real, boundary);
  } catch (thrown) {
    return refused(`can't be read: ${errorMessage(thrown)}`);
  }
}

function readRegularFile(real: string, boundary: string): ContextReading {
  // Other hard links to this file are harmless, because they have the same content.
  const judged = new Map([[real, { real, mayHaveOtherNames: true }]]);
  const { fd } = openFileInRoots(real, { roots: [boundary], judged });
  try {
    const bytes = readWithLimit(fd, MAX_FILE_BYTES);
    if (bytes === undefined) return refused(`is larger than the limit of ${MAX_FILE_BYTES} bytes`);
    const read = decodeUtf8(bytes);
    if (!read.ok) return refused(`is not a text: ${read.reason}`);
    const { text, hidden } = removeHiddenCharacters(read.text);
    const note = `contains ${plural(hidden, 'invisible character')}, which ${hidden === 1 ? 'is' : 'are'} left out`;
    return { kind: 'read', real, text: text.trim(), ...(hidden === 0 ? {} : { note }) };
  } finally {
    closeSync(fd);
  }
}

function refused(reason: string): ContextReading {
  return { kind: 'refused', reason };
}

/**
 * Creates a function that checks whether a rule forbids reading a path or requires a question. Such a file is excluded,
 * because nobody can be asked before the first prompt.
 */
export function createReadFilter(
  rules: RuleSet,
  directories: { readonly roots: readonly string[]; readonly home: string },
): (asked: string, real: string) => boolean {
  const restrictions = listReadRestrictions(rules);
  return (asked, real) => {
    const insideRoots = directories.roots.some((root) => isInside(root, real));
    return couldRestrictRead(restrictions, { asked, real, insideRoots }, directories);
  };
}
