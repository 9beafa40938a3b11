import { MusterError } from '../../base/errors.ts';
import { foldFileName } from '../../sys/files/folded-name.ts';
import { INDEX_NAME } from './index-file.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.md$/;
const SHOWN = 100;

/** Whether a file of this name is a note, whoever made it. */
export function isNoteName(name: string): boolean {
  return NAME.test(name);
}

/** Returns the file name of a note; `.md` may be left out. Throws INVALID_PARAM for a name that no note can have. */
export function parseNoteName(text: string): string {
  const name = text.toLowerCase().endsWith('.md') ? `${text.slice(0, -3)}.md` : `${text}.md`;
  if (name.toLowerCase() === INDEX_NAME.toLowerCase()) return INDEX_NAME;
  if (isNoteName(name)) return name;
  throw new MusterError(
    'INVALID_PARAM',
    `file: ${JSON.stringify(text.slice(0, SHOWN))} is not the name of a note; valid: letters, digits, -, _ and . (no directory), at most 99 characters, as in build.md`,
  );
}

/**
 * Throws INVALID_PARAM where the name belongs to something that is not a note, or differs only by case from
 * another name, which some file systems take for the same.
 */
export function requireFreeName(
  name: string,
  there: {
    readonly notes: readonly { readonly name: string }[];
    readonly others: readonly string[];
  },
): void {
  if (there.others.includes(name)) {
    throw new MusterError(
      'INVALID_PARAM',
      `file: ${name} is a link, or not a regular file: choose another name`,
    );
  }
  const names = [...there.notes.map((note) => note.name), ...there.others];
  const other = names.find((each) => each !== name && foldFileName(each) === foldFileName(name));
  if (other === undefined) return;
  throw new MusterError(
    'INVALID_PARAM',
    `file: there is ${JSON.stringify(other)}, which differs from ${name} by case alone: use that name, or another one`,
  );
}
