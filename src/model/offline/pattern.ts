/**
 * Regular expressions that ripgrep and JavaScript read alike: no flags, no look-around, no
 * back-references. They are built from escaped text only, so nothing in a question can make one
 * expensive or wrong.
 */

const ENDINGS = 'e|s|es|ed|d|er|ers|r|rs|ing|ings|or|ors|ion|ions|able|ment';
/** What stands behind the stem of a word in -y; `ready` is none of `read`. */
const Y_ENDINGS = '|y|ies|ied';
const NO_Y = /[aeiou][bdgkmnpt]$/;

export function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, (char) => (char === '/' ? '/' : `\\${char}`));
}

/**
 * A stem where it begins a word of prose or of an identifier (`cache`, `useCache`, `lru_cache`,
 * `CACHE_DIR`). Short stems must also end there but for an inflection: `read` is not in `ready`.
 */
export function stemPattern(stem: string): string {
  const lower = escapePattern(stem);
  const title = escapePattern(capitalise(stem));
  const upper = escapePattern(stem.toUpperCase());
  if (stem.length >= 6) return `${lower}|${title}|${upper}`;
  if (stem.length === 5) return `(?:^|[^A-Za-z])${lower}|${title}|(?:^|[^A-Z])${upper}`;
  const double = escapePattern(stem.slice(-1));
  const endings = NO_Y.test(stem) ? ENDINGS : ENDINGS + Y_ENDINGS;
  const end = `${double}?(?:${endings})?(?:[^a-z]|$)`;
  return [
    `(?:^|[^A-Za-z])${lower}${end}`,
    `${title}${end}`,
    `(?:^|[^A-Z])${upper}(?:${endings.toUpperCase()})?(?:[^A-Z]|[A-Z][a-z]|$)`,
  ].join('|');
}

/** Quoted words as they stand, but for the case of each first letter and the space between them. */
export function phrasePattern(phrase: string): string {
  return phrase
    .split(/\s+/)
    .map((word) => `${eitherFirst(word)}${escapePattern(word.slice(1))}`)
    .join('\\s+');
}

function eitherFirst(word: string): string {
  const first = word.slice(0, 1);
  const other = first === first.toLowerCase() ? first.toUpperCase() : first.toLowerCase();
  return other === first ? escapePattern(first) : `[${first}${other}]`;
}

export function anyOf(patterns: readonly string[]): string {
  return `(?:${patterns.join('|')})`;
}

/** Two neighbouring words as code joins them: `rateLimit`, `rate_limit`, `rate-limit`, `rate limit`. */
export function compoundPattern(first: string, second: string): string {
  return `${eitherCase(first)}[a-z]{0,4}[ _.-]?${eitherCase(second)}`;
}

function eitherCase(stem: string): string {
  const head = stem.slice(0, 1);
  const tail = stem.slice(1);
  const upper = escapePattern(stem.toUpperCase());
  const heads = [head, head.toUpperCase()].map(escapePattern).join('|');
  return `(?:(?:${heads})${escapePattern(tail)}|${upper})`;
}

function capitalise(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
