import { lazy } from './lazy.ts';

/** White space, hyphens and dashes of all scripts, and underscores: the characters that separate the words of a name. */
const SEPARATORS = lazy(() => /[\s_\p{Z}\p{Pd}]+/gu);

/**
 * A name without the differences that people and models do not mean: letter case, Unicode normalization
 * form, and how its words are separated. `code reviewer`, `code_reviewer`, `code-reviewer` and
 * `codeReviewer` give the same text. Empty for a name that consists of separators.
 */
export function foldName(name: string): string {
  // A letter may take another normalization form in the other case, so the form is applied twice.
  return name.normalize('NFKC').toLowerCase().normalize('NFKC').replaceAll(SEPARATORS(), '');
}
