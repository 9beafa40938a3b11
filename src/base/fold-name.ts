import { lazy } from './lazy.ts';

/**
 * The characters that separate the words of a name: white space, hyphens and dashes of all scripts,
 * underscores, and what names of packages, paths and plugins are separated by.
 */
const SEPARATORS = lazy(() => /[\s_.:/\\·\p{Z}\p{Pd}]+/gu);

/** Matches the end of a word that no separator follows: `code|Reviewer`, `SQL|Expert`. */
const WORD_ENDS = lazy(() => /(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu);

/**
 * Removes the differences between names that people and models do not intend: letter case, Unicode
 * normalization form, and the separators of words. `code reviewer`, `code_reviewer`, `code.reviewer` and
 * `codeReviewer` give the same text. Returns an empty text for a name that consists of separators.
 */
export function foldName(name: string): string {
  return foldCase(name).replaceAll(SEPARATORS(), '');
}

/**
 * Returns the words of a name, each in the form of `foldName`, with `-` between them: for patterns, in which
 * `code-*` must not match `codec`.
 */
export function foldNameWords(name: string): string {
  const words = name.normalize('NFKC').replaceAll(WORD_ENDS(), '-');
  return foldCase(words).replaceAll(SEPARATORS(), '-');
}

/**
 * Takes letters to be the same that are so in capitals, as ß and SS and the two small sigmas are. A
 * letter may take another normalization form in the other case, so the form is applied twice.
 */
function foldCase(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}
