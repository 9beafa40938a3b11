/** The maximum number of characters of an entry. No person writes a longer command. */
const MAX_LENGTH = 500;
/**
 * Matches parts of regular expressions that are not translated: flags, and escapes for characters by number or class.
 */
const UNSUPPORTED = /\(\?[A-Za-z-]+[:)]|\\[QUukpPx]/;
/** The maximum number of patterns for one regular expression. If there are more, they are replaced by `*`. */
const MAX_PATTERNS = 32;

/**
 * Translates an anchored regular expression into specifiers of `Bash(…)` rules that match at least the same commands.
 * Parts without an equivalent become `*`, so that the rules never deny less. Returns undefined if the expression is
 * unsupported or matches any command.
 */
export function patternsOfRegex(regex: string): readonly string[] | undefined {
  if (regex.length > MAX_LENGTH || UNSUPPORTED.test(regex)) return undefined;
  const patterns = splitAlternatives(regex).flatMap((each) => translateSequence(each));
  return cleanPatterns(patterns);
}

/**
 * Translates a glob into specifiers that match at least the same commands. `?` and `[…]`, which match one character,
 * become `*`.
 */
export function patternsOfGlob(glob: string): readonly string[] | undefined {
  if (glob.length > MAX_LENGTH) return undefined;
  return cleanPatterns([glob.replaceAll(/\[[^\]]*\]|\?/g, '*')]);
}

function cleanPatterns(patterns: readonly string[]): readonly string[] | undefined {
  const clean = patterns.map((pattern) =>
    // A rule cannot contain parentheses, backslashes and control characters.
    pattern
      .replaceAll(/[()\\]|\p{Cc}/gu, '*')
      .replaceAll(/\*+/g, '*')
      .replaceAll(/ +/g, ' ')
      .trim(),
  );
  return clean.every((pattern) => /[^\s:*]/.test(pattern)) ? [...new Set(clean)] : undefined;
}

/** Splits a regular expression at each `|` outside brackets. */
function splitAlternatives(regex: string): readonly string[] {
  const found: string[] = [];
  let from = 0;
  for (let at = 0; at < regex.length; at = findTokenEnd(regex, at)) {
    if (regex[at] !== '|') continue;
    found.push(regex.slice(from, at));
    from = at + 1;
  }
  return [...found, regex.slice(from)];
}

function translateSequence(regex: string): readonly string[] {
  let patterns: readonly string[] = [''];
  let at = 0;
  while (at < regex.length) {
    const end = findTokenEnd(regex, at);
    const token = regex.slice(at, end);
    const quantifier = /^(?:[*+?]|\{[\d,]*\})[?+]?/.exec(regex.slice(end, end + 16))?.[0] ?? '';
    const translated = applyQuantifier(translateToken(token), quantifier);
    patterns = patterns.flatMap((before) => translated.map((after) => before + after));
    if (patterns.length > MAX_PATTERNS) return ['*'];
    at = end + quantifier.length;
  }
  return patterns;
}

/** Returns the end of the character, escape sequence, class or group that begins at `start`. */
function findTokenEnd(regex: string, start: number): number {
  switch (regex[start]) {
    case '\\':
      return start + 2;
    case '[':
      return findClassEnd(regex, start);
    case '(': {
      let at = start + 1;
      while (at < regex.length && regex[at] !== ')') at = findTokenEnd(regex, at);
      return at + 1;
    }
    default:
      return start + 1;
  }
}

/** Returns the end of a character class. A closing bracket at the start of the class is a character of the class. */
function findClassEnd(regex: string, start: number): number {
  let at = start + (regex[start + 1] === '^' ? 2 : 1);
  if (regex[at] === ']') at += 1;
  while (at < regex.length && regex[at] !== ']') {
    at = regex[at] === '[' ? findClassEnd(regex, at) : at + (regex[at] === '\\' ? 2 : 1);
  }
  return at + 1;
}

const PLAIN_GROUP = /^\((?:\?:)?([\w .,:=@~%/|-]*)\)$/;

function translateToken(token: string): readonly string[] {
  if (/^(?:\^|\$|\\[AbBzZ]|\(\?<?[=!].*)$/s.test(token)) return [''];
  if (token === '\\s') return [' '];
  const escaped = /^\\([^\w\s])$/.exec(token)?.[1];
  if (escaped !== undefined) return [escaped];
  const group = PLAIN_GROUP.exec(token)?.[1];
  if (group !== undefined) return group.replaceAll('.', '*').split('|');
  return token.length === 1 && token !== '.' ? [token] : ['*'];
}

/**
 * Applies a quantifier to patterns. A repeated or optional part becomes any text. Repeated spaces count as one space.
 */
function applyQuantifier(patterns: readonly string[], quantifier: string): readonly string[] {
  if (quantifier === '' || patterns.every((pattern) => pattern === '')) return patterns;
  const isBlank = patterns.length === 1 && patterns[0] === ' ';
  if (quantifier.startsWith('+')) return isBlank ? patterns : patterns.map((each) => `${each}*`);
  return ['*'];
}
