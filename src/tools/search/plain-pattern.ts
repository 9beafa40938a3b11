import { errorMessage } from '../../base/errors.ts';
import { patternError } from './pattern-error.ts';
import type { SearchQuery } from './search-types.ts';

export interface PlainPattern {
  readonly source: string;
  readonly flags: string;
}

/**
 * The pattern for JavaScript's own engine, where ripgrep would take it too. Throws INVALID_PARAM for
 * what ripgrep refuses, so that the same call means the same everywhere.
 */
export function plainPattern(query: SearchQuery): PlainPattern {
  const { source, inline } = inlineFlags(query.pattern);
  if (/\(\?<?[=!]/.test(source) || /(?<!\\)(\\\\)*\\[1-9]/.test(source)) {
    throw patternError('look-around and backreferences are not supported', query);
  }
  if (!query.multiline && /(?<!\\)(\\\\)*\\n|\n/.test(source)) {
    throw patternError('the literal "\\n" is not allowed in a regex', query);
  }
  const flags = new Set(query.multiline ? 'gms' : '');
  if (query.ignoreCase || inline.includes('i')) flags.add('i');
  if (inline.includes('s')) flags.add('s');
  if (inline.includes('m')) flags.add('m');
  return compiled(source, [...flags].join(''), query);
}

/** `(?i)` in front: JavaScript has no such thing, but flags. */
function inlineFlags(pattern: string): { readonly source: string; readonly inline: string } {
  const match = /^\(\?([ims]+)\)/.exec(pattern);
  return { source: pattern.slice(match?.[0].length ?? 0), inline: match?.[1] ?? '' };
}

/** With Unicode where the pattern allows it; without, JavaScript also takes `\-` and the like. */
function compiled(source: string, flags: string, query: SearchQuery): PlainPattern {
  try {
    return { source, flags: new RegExp(source, `${flags}u`).flags };
  } catch {
    // Tried again below, where the reason is told.
  }
  try {
    return { source, flags: new RegExp(source, flags).flags };
  } catch (thrown) {
    throw patternError(errorMessage(thrown), query);
  }
}
