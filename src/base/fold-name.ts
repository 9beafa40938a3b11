import { lazy } from './lazy.ts';

/**
 * The characters that separate the words of a name: white space, hyphens and dashes of all scripts,
 * underscores, and the characters that separate the parts of package names, paths and plugin names.
 */
const SEPARATORS = lazy(() => /[\s_.:/\\·\p{Z}\p{Pd}]+/gu);

/** Matches the boundary between two words that have no separator between them: `code|Reviewer`, `SQL|Expert`. */
const WORD_ENDS = lazy(() => /(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu);

/**
 * Removes the differences between names that people and models do not intend: letter case, Unicode
 * normalization form, and the separators of words. `code reviewer`, `code_reviewer`, `code.reviewer` and
 * `codeReviewer` give the same text. Returns an empty text for a name that consists only of separators.
 */
export function foldName(name: string): string {
  return foldCase(name).replaceAll(SEPARATORS(), '');
}

/**
 * Folds the words of a name like `foldName`, but puts `-` between the words. Patterns need this form, because
 * `code-*` must not match `codec`.
 */
export function foldNameWords(name: string): string {
  const words = name.normalize('NFKC').replaceAll(WORD_ENDS(), '-');
  return foldCase(words).replaceAll(SEPARATORS(), '-');
}

/**
 * Removes differences of case. Letters with the same capital form become equal: ß and SS, or the two forms of the
 * small sigma. A change of case may undo the normalization, so the text is normalized before and after it.
 */
function foldCase(text: string): string {
  return text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}
