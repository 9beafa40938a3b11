import { MusterError } from '../../base/errors.ts';
import type { SearchQuery } from './search-types.ts';

const MAX_PATTERN_BYTES = 32_768;
/** The maximum length of a pattern that the advice repeats. */
const MAX_SHOWN_LENGTH = 200;

/** Throws INVALID_PARAM for a pattern that cannot be passed to ripgrep. */
export function requireUsablePattern(pattern: string): void {
  const problem = describePatternProblem(pattern);
  if (problem !== undefined) throw new MusterError('INVALID_PARAM', `pattern: ${problem}`);
}

function describePatternProblem(pattern: string): string | undefined {
  if (pattern.includes('\0')) return 'contains a NUL character; write \\x00 for one';
  if (!pattern.isWellFormed()) return 'contains half a character (a lone surrogate)';
  const bytes = Buffer.byteLength(pattern);
  return bytes > MAX_PATTERN_BYTES
    ? `is ${bytes} bytes long; valid: at most ${MAX_PATTERN_BYTES}`
    : undefined;
}

/**
 * Creates the error for an unusable regular expression from ripgrep's message, without the advice about ripgrep's flags
 * and with advice about Grep's arguments.
 */
export function patternError(stderr: string, query: SearchQuery): MusterError {
  const advice = stderr.includes('"\\n" is not allowed')
    ? ['It holds a line end: set multiline.']
    : stderr.includes('"\\0"')
      ? [NUL_ADVICE]
      : adviseEscaping(query.pattern);
  const reason = removeFlagAdvice(stderr, query.pattern);
  const lines = ['pattern: cannot be used as a regular expression.', reason, ...advice];
  return new MusterError('INVALID_PARAM', lines.join('\n'));
}

const NUL_ADVICE =
  'Only binary files hold NUL characters, and they are left out of a directory: name one as path.';

/** Removes the advice about command-line flags, which Grep does not have, from an error of ripgrep. */
function removeFlagAdvice(stderr: string, pattern: string): string {
  const lines = stderr
    .replace(/^rg: /, '')
    .split('\n\n')
    .filter((paragraph) => !/--[a-z]/.test(paragraph))
    .join('\n')
    .trim()
    .split('\n');
  // ripgrep puts the pattern into a group before showing it.
  const shown = lines.findIndex((line) => line.trim() === `(?:${pattern})`);
  return lines
    .map((line, index) => {
      if (shown === -1 || index < shown || index > shown + 1) return line;
      return index === shown ? `    ${pattern}` : line.replace('       ', '    ');
    })
    .join('\n');
}

function adviseEscaping(pattern: string): readonly string[] {
  const escaped = pattern.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  if (escaped === pattern || pattern.includes('\n') || pattern.length > MAX_SHOWN_LENGTH) return [];
  return [`To search for this text as it stands: ${escaped}`];
}
