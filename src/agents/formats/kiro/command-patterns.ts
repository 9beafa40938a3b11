/** The most characters of an entry: no person writes a longer command. */
const MAX_LENGTH = 500;
/** Matches flags, and characters given by number or class. */
const NOT_READ = /\(\?[A-Za-z-]+[:)]|\\[QUukpPx]/;
/** The most patterns for one regular expression. More than that become `*`. */
const MAX_PATTERNS = 32;

/**
 * Translates an anchored regular expression into specifiers of `Bash(…)` rules that match at least the same
 * commands. Parts without an equivalent become `*`, so that more is denied, never less. Undefined: it matches any
 * command.
 */
export function patternsOfRegex(regex: string): readonly string[] | undefined {
  if (regex.length > MAX_LENGTH || NOT_READ.test(regex)) return undefined;
  const patterns = alternatives(regex).flatMap((each) => sequencePatterns(each));
  return checked(patterns);
}

/** Translates a glob, in which `?` and `[…]` match one character, in the same way. */
export function patternsOfGlob(glob: string): readonly string[] | undefined {
  if (glob.length > MAX_LENGTH) return undefined;
  return checked([glob.replaceAll(/\[[^\]]*\]|\?/g, '*')]);
}

function checked(patterns: readonly string[]): readonly string[] | undefined {
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
function alternatives(regex: string): readonly string[] {
  const found: string[] = [];
  let from = 0;
  for (let at = 0; at < regex.length; at = tokenEnd(regex, at)) {
    if (regex[at] !== '|') continue;
    found.push(regex.slice(from, at));
    from = at + 1;
  }
  return [...found, regex.slice(from)];
}

function sequencePatterns(regex: string): readonly string[] {
  let patterns: readonly string[] = [''];
  let at = 0;
  while (at < regex.length) {
    const end = tokenEnd(regex, at);
    const token = regex.slice(at, end);
    const quantifier = /^(?:[*+?]|\{[\d,]*\})[?+]?/.exec(regex.slice(end, end + 16))?.[0] ?? '';
    const translated = quantified(tokenPatterns(token), quantifier);
    patterns = patterns.flatMap((before) => translated.map((after) => before + after));
    if (patterns.length > MAX_PATTERNS) return ['*'];
    at = end + quantifier.length;
  }
  return patterns;
}

/** Returns the end of the character, escape sequence, class or group that begins at `start`. */
function tokenEnd(regex: string, start: number): number {
  switch (regex[start]) {
    case '\\':
      return start + 2;
    case '[':
      return classEnd(regex, start);
    case '(': {
      let at = start + 1;
      while (at < regex.length && regex[at] !== ')') at = tokenEnd(regex, at);
      return at + 1;
    }
    default:
      return start + 1;
  }
}

/** A closing bracket at the start is a character of the class. */
function classEnd(regex: string, start: number): number {
  let at = start + (regex[start + 1] === '^' ? 2 : 1);
  if (regex[at] === ']') at += 1;
  while (at < regex.length && regex[at] !== ']') {
    at = regex[at] === '[' ? classEnd(regex, at) : at + (regex[at] === '\\' ? 2 : 1);
  }
  return at + 1;
}

const PLAIN_GROUP = /^\((?:\?:)?([\w .,:=@~%/|-]*)\)$/;

function tokenPatterns(token: string): readonly string[] {
  if (/^(?:\^|\$|\\[AbBzZ]|\(\?<?[=!].*)$/s.test(token)) return [''];
  if (token === '\\s') return [' '];
  const escaped = /^\\([^\w\s])$/.exec(token)?.[1];
  if (escaped !== undefined) return [escaped];
  const group = PLAIN_GROUP.exec(token)?.[1];
  if (group !== undefined) return group.replaceAll('.', '*').split('|');
  return token.length === 1 && token !== '.' ? [token] : ['*'];
}

/** A repeated or optional part can be any text. Repeated spaces count as one. */
function quantified(patterns: readonly string[], quantifier: string): readonly string[] {
  if (quantifier === '' || patterns.every((pattern) => pattern === '')) return patterns;
  const isBlank = patterns.length === 1 && patterns[0] === ' ';
  if (quantifier.startsWith('+')) return isBlank ? patterns : patterns.map((each) => `${each}*`);
  return ['*'];
}
