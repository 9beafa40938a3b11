import { definedName } from '../../base/code/definition.ts';
import type { Evidence } from './evidence.ts';
import { matchesAny, nameScore, nameWords } from './rank.ts';
import type { Query, Term } from './terms.ts';

/** The line of a file that answers best. */
export interface Place {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** The symbol that the line defines. */
  readonly name: string | null;
  /** Terms in the line or right around it. */
  readonly matched: readonly Term[];
  readonly score: number;
}

/** Lines above a definition (its comment) and below it (its beginning) that count towards it. */
const ABOVE = 6;
const BELOW = 14;
const NEAR = 3;
const ABOVE_FACTOR = 0.8;
const BELOW_FACTOR = 0.4;
const NAME_WEIGHT = 0.6;
const NEAR_FACTOR = 0.3;
const IMPORT_FACTOR = 0.3;
const COMMENT_FACTOR = 0.7;

const IMPORT =
  /^\s*(?:import\b|from\s+\S+\s+import\b|use\s+[\w:]+|#include\b|require\b|(?:const|let|var)\s.*=\s*require\(|export\s+(?:\*|\{[^}]*\})\s+from\b|\}\s+from\b|package\s)/;
const COMMENT = /^\s*(?:\/\/|\/\*|\*|#(?!define|include)|--|;;|"""|''')/;

/**
 * Where no line matches (a file found by its path), the first that defines something; null when
 * nothing is known of the file's lines. Pure.
 */
export function bestPlace(
  path: string,
  query: Query,
  evidence: Evidence,
  rarities: ReadonlyMap<string, number>,
): Place | null {
  const seen = [...(evidence.lines.get(path) ?? [])].toSorted(([a], [b]) => a - b);
  const tests = query.terms.map((term) => ({ term, test: new RegExp(term.pattern) }));
  const marks = new Map(
    seen.map(([line, text]) => [
      line,
      new Set(tests.filter(({ test }) => test.test(text)).map(({ term }) => term)),
    ]),
  );
  let best: Place | null = null;
  for (const [line, text] of seen) {
    const place = scorePlace({ path, line, text }, { query, marks, rarities });
    if (place.score > (best?.score ?? 0)) best = place;
  }
  return best ?? firstDefinition(path, seen);
}

function firstDefinition(path: string, seen: readonly (readonly [number, string])[]): Place | null {
  const first = seen.find(([, text]) => definedName(text) !== null) ?? seen[0];
  if (first === undefined) return null;
  const [line, text] = first;
  return { path, line, text, name: definedName(text), matched: [], score: 0 };
}

interface PlaceContext {
  readonly query: Query;
  readonly marks: ReadonlyMap<number, ReadonlySet<Term>>;
  readonly rarities: ReadonlyMap<string, number>;
}

/** Each term counts once, where it stands closest. */
function scorePlace(
  at: { readonly path: string; readonly line: number; readonly text: string },
  { query, marks, rarities }: PlaceContext,
): Place {
  const isImport = IMPORT.test(at.text);
  const name = isImport ? null : definedName(at.text);
  const factors = new Map<Term, number>();
  const mark = (from: number, to: number, factor: number) => {
    for (let line = from; line <= to; line += 1) {
      for (const term of marks.get(line) ?? []) {
        factors.set(term, Math.max(factors.get(term) ?? 0, factor));
      }
    }
  };
  mark(at.line, at.line, 1);
  if (factors.size === 0 && name === null) return { ...at, name, matched: [], score: 0 };
  if (name === null) {
    mark(at.line - NEAR, at.line + NEAR, NEAR_FACTOR);
  } else {
    mark(at.line - ABOVE, at.line - 1, ABOVE_FACTOR);
    mark(at.line + 1, at.line + BELOW, BELOW_FACTOR);
    const words = nameWords(name);
    for (const term of query.terms) if (matchesAny(term, words)) factors.set(term, 1);
  }
  let score = name === null ? 0 : NAME_WEIGHT * nameScore(query, name, rarities);
  for (const [term, factor] of factors) {
    score += factor * term.weight * (rarities.get(term.pattern) ?? 0);
  }
  if (isImport) score *= IMPORT_FACTOR;
  else if (name === null && COMMENT.test(at.text)) score *= COMMENT_FACTOR;
  return { ...at, name, matched: query.terms.filter((term) => factors.has(term)), score };
}
