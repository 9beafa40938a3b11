import { MusterError } from '../../base/errors.ts';
import type { SearchQuery } from './search-types.ts';

const MAX_PATTERN_BYTES = 32_768;
/** A longer pattern is not written out a second time. */
const MAX_SHOWN = 200;

/** Throws INVALID_PARAM for a pattern that no engine can be given. */
export function requireUsablePattern(pattern: string): void {
  const problem = patternProblem(pattern);
  if (problem !== undefined) throw new MusterError('INVALID_PARAM', `pattern: ${problem}`);
}

function patternProblem(pattern: string): string | undefined {
  if (pattern.includes('\0')) return 'contains a NUL character; write \\x00 for one';
  if (!pattern.isWellFormed()) return 'contains half a character (a lone surrogate)';
  const bytes = Buffer.byteLength(pattern);
  return bytes > MAX_PATTERN_BYTES
    ? `is ${bytes} bytes long; valid: at most ${MAX_PATTERN_BYTES}`
    : undefined;
}

/** What is wrong with a regular expression, in an engine's own words but for its flags, and what to do. */
export function patternError(said: string, query: SearchQuery): MusterError {
  const advice = said.includes('"\\n" is not allowed')
    ? ['It holds a line end: set multiline.']
    : said.includes('"\\0"')
      ? [NUL_ADVICE]
      : literalAdvice(query.pattern);
  const reason = withoutFlags(said, query.pattern);
  const lines = ['pattern: cannot be used as a regular expression.', reason, ...advice];
  return new MusterError('INVALID_PARAM', lines.join('\n'));
}

const NUL_ADVICE =
  'Only binary files hold NUL characters, and they are left out of a directory: name one as path.';

function withoutFlags(said: string, pattern: string): string {
  const lines = said
    .replace(/^rg: /, '')
    .split('\n\n')
    .filter((paragraph) => !/--[a-z]/.test(paragraph))
    .join('\n')
    .trim()
    .split('\n');
  // ripgrep shows the pattern in a group of its own.
  const shown = lines.findIndex((line) => line.trim() === `(?:${pattern})`);
  return lines
    .map((line, index) => {
      if (shown === -1 || index < shown || index > shown + 1) return line;
      return index === shown ? `    ${pattern}` : line.replace('       ', '    ');
    })
    .join('\n');
}

function literalAdvice(pattern: string): readonly string[] {
  const escaped = pattern.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  if (escaped === pattern || pattern.includes('\n') || pattern.length > MAX_SHOWN) return [];
  return [`To search for this text as it stands: ${escaped}`];
}
