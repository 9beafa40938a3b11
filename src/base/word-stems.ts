/** Matches a name of lower-case ASCII letters, which has only one part. Most names and words are of this form. */
const PLAIN_WORD = /^[a-z]+$/;

/**
 * Splits an identifier into lower-case words: `parseHTTPHeader_v2` → parse, http, header, v2. All characters except
 * letters and digits are separators.
 */
export function splitIdentifier(name: string): readonly string[] {
  if (PLAIN_WORD.test(name)) return [name];
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '')
    .map((part) => part.toLowerCase());
}

/** Words that end like derived words, but are not derived. */
const NOT_DERIVED = new Set(
  `number header folder buffer pointer filter render letter layer helper user order error string
  during nothing something process address access progress class status alias canvas bias this analysis
  always series timeout cluster register character parameter computer router server cursor vector author
  color colour floor anchor editor speed embed feed seed need index`.split(/\s+/),
);

/** Suffixes with their replacements and the minimum number of letters before them. The first match applies. */
const SUFFIXES: readonly (readonly [string, string, number])[] = [
  ['izations', 'iz', 3],
  ['ization', 'iz', 3],
  ['ations', 'at', 3],
  ['ation', 'at', 3],
  ['ments', '', 4],
  ['ment', '', 4],
  ['ingly', '', 4],
  ['ions', '', 4],
  ['ion', '', 4],
  ['ings', '', 4],
  ['ing', '', 4],
  ['able', '', 4],
  ['ible', '', 4],
  ['ers', '', 4],
  ['er', '', 4],
  ['ors', '', 4],
  ['or', '', 4],
  ['ied', 'i', 3],
  ['ed', '', 4],
  ['ly', '', 4],
  ['y', 'i', 4],
];

/** Returns a light stem: a prefix that the common inflections of an English word share. */
export function stem(word: string): string {
  if (word.length <= 3 || NOT_DERIVED.has(word) || !/^[a-z]+$/.test(word)) return word;
  const singular = withoutPlural(word);
  if (NOT_DERIVED.has(singular)) return singular;
  for (const [suffix, replacement, before] of SUFFIXES) {
    if (!singular.endsWith(suffix) || singular.length - suffix.length < before) continue;
    // The `y` of `delay` stays, but that of `query` is replaced.
    if (suffix === 'y' && /[aeiou]y$/.test(singular)) continue;
    return tidy(singular.slice(0, -suffix.length) + replacement);
  }
  return tidy(singular);
}

function withoutPlural(word: string): string {
  if (/(?:s|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  return /[^sui]s$/.test(word) ? word.slice(0, -1) : word;
}

/**
 * Removes the remaining differences between the stems of one word, such as `cache` and `cach`, `entri` and `entry`,
 * `stopp` and `stop`.
 */
function tidy(word: string): string {
  if (word.length >= 5 && /[ei]$/.test(word)) return word.replace(/(?:ie|e|i)$/, '');
  if (word.length >= 4 && /([bdgmnprt])\1$/.test(word)) return word.slice(0, -1);
  return word;
}
