import { MusterError } from '../../base/errors.ts';
import { foldedName } from '../../sys/folded-name.ts';
import { INDEX_NAME } from './index-file.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}\.md$/;
const SHOWN = 100;

/** Whether a file of this name is a note, also one that a person has made. */
export function isNoteName(name: string): boolean {
  return NAME.test(name);
}

/** The file that is meant; `.md` may be left out. Throws INVALID_PARAM. */
export function noteName(word: string): string {
  const name = word.toLowerCase().endsWith('.md') ? `${word.slice(0, -3)}.md` : `${word}.md`;
  if (name.toLowerCase() === INDEX_NAME.toLowerCase()) return INDEX_NAME;
  if (isNoteName(name)) return name;
  throw new MusterError(
    'INVALID_PARAM',
    `file: ${JSON.stringify(word.slice(0, SHOWN))} is no name of a note; valid: letters, digits, -, _ and . (no directory), at most 99 characters, as in build.md`,
  );
}

/** Throws INVALID_PARAM where something else is there that has this name, on some file systems at least. */
export function requireFree(
  name: string,
  there: {
    readonly notes: readonly { readonly name: string }[];
    readonly others: readonly string[];
  },
): void {
  if (there.others.includes(name)) {
    throw new MusterError(
      'INVALID_PARAM',
      `file: ${name} is a link, or no regular file: choose another name`,
    );
  }
  const names = [...there.notes.map((note) => note.name), ...there.others];
  const other = names.find((each) => each !== name && foldedName(each) === foldedName(name));
  if (other === undefined) return;
  throw new MusterError(
    'INVALID_PARAM',
    `file: there is ${JSON.stringify(other)}, which differs from ${name} by case alone: use that name, or another one`,
  );
}
