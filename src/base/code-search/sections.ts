import { findDefinedName, findEnclosingName } from '../code/definitions.ts';
import type { QueryTerm } from './query.ts';
import { listStems, type TermFinder } from './term-finder.ts';

/** A term with the value of one match in the searched files. */
export interface WeighedTerm extends QueryTerm {
  /** The index of the term in the query. */
  readonly index: number;
  /** The weight of the term, multiplied by a measure of its rarity. */
  readonly worth: number;
}

/** Scores of the sections of a file for a query. */
export interface SectionScores {
  /** BM25 of the best section. */
  readonly section: number;
  /** The score of the best name that the file defines. */
  readonly symbol: number;
  /** The score of the best line: the sum of the worths of its terms, each counted once. */
  readonly line: number;
  /** The score of the best text between quotes on a line, because a report quotes messages. */
  readonly quoted: number;
}

/** The section of a file that answers best. */
export interface BestSection {
  readonly scores: SectionScores;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
  /** The symbol that the line defines, or whose definition contains the line. */
  readonly name: string | null;
  readonly isDefinition: boolean;
  /** The terms in that section. */
  readonly matched: readonly WeighedTerm[];
}

/** A definition and the lines up to the next one. Lines are counted from 1. */
interface Section {
  /** The name of the definition, or null for the lines before the first one. */
  readonly name: string | null;
  /** The line with the definition; null if a long definition was cut and this piece does not contain that line. */
  readonly line: number | null;
  /** The first line of the section. The comment above a definition is part of the section. */
  readonly first: number;
  readonly last: number;
}

const COMMENT = /^\s*(?:\/\/|\/\*|\*|#(?!\s*(?:define|include|if|endif|else))|--|;;|"""|'''|@|\[)/;
/** The maximum length of a section. A longer section is cut into several with the same name. */
const MAX_SECTION_LINES = 80;
/** The constants of BM25 for sections, whose length matters little. */
const K1 = 1;
const B = 0.2;
const USUAL_CHARS = 400;
const NAME_IN_SECTION = 0.5;
/** String literals, but not names of one or two letters. */
const QUOTED = /"(?:[^"\\]|\\.){3,}"|'(?:[^'\\]|\\.){3,}'|`(?:[^`\\]|\\.){3,}`/g;
/** The number of lines that are searched. Longer sources are generated. */
const MAX_LINES = 60_000;
const MAX_LINE_CHARS = 1000;

/** Scores the sections of a text. Returns null when no section contains a term. */
export function scoreSections(
  text: string,
  terms: readonly WeighedTerm[],
  finder: TermFinder,
): BestSection | null {
  const lines = text
    .split('\n', MAX_LINES)
    .map((line) => (line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line));
  const worths = new Map(terms.map(({ index, worth }) => [index, worth]));
  const found = lines.map((line) => findLineTerms(line, finder));
  let best: ScoredSection | null = null;
  let [symbol, line, quoted] = [0, 0, 0];
  for (const section of splitSections(lines)) {
    const scored = scoreSection(section, { lines, found, terms, worths, finder });
    if (scored === null) continue;
    symbol = Math.max(symbol, scored.symbol);
    line = Math.max(line, scored.line.worth);
    quoted = Math.max(quoted, scored.quoted);
    if (best === null || scored.score > best.score) best = scored;
  }
  if (best === null) return null;
  const { section, matched, score } = best;
  const number = section.line ?? best.line.number;
  const textAt = (at: number) => lines[at - 1] ?? '';
  return {
    scores: { section: score, symbol, line, quoted },
    line: number,
    text: textAt(number),
    name: section.line === null ? findEnclosingName(textAt, number) : section.name,
    isDefinition: section.line !== null,
    matched,
  };
}

/** Splits a file at its definitions. */
function splitSections(lines: readonly string[]): readonly Section[] {
  const starts: { readonly name: string | null; readonly line: number; readonly first: number }[] =
    [];
  for (const [index, text] of lines.entries()) {
    const name = findDefinedName(text);
    if (name === null) continue;
    const above = starts.at(-1)?.line ?? 0;
    let first = index;
    while (first > above && COMMENT.test(lines[first - 1] ?? '')) first -= 1;
    starts.push({ name, line: index + 1, first: first + 1 });
  }
  if (starts[0]?.first !== 1) starts.unshift({ name: null, line: 1, first: 1 });
  return starts.flatMap(({ name, line, first }, index) => {
    const end = Math.max(line, (starts[index + 1]?.first ?? lines.length + 1) - 1);
    const pieces: Section[] = [];
    for (let from = first; from <= end; from += MAX_SECTION_LINES) {
      const last = Math.min(end, from + MAX_SECTION_LINES - 1);
      const hasDefinition = name !== null && from <= line && line <= last;
      pieces.push({ name, line: hasDefinition ? line : null, first: from, last });
    }
    return pieces;
  });
}

interface ScoredSection {
  readonly section: Section;
  readonly score: number;
  readonly symbol: number;
  readonly matched: readonly WeighedTerm[];
  readonly line: { readonly number: number; readonly worth: number };
  readonly quoted: number;
}

interface SearchedLines {
  readonly lines: readonly string[];
  /** The terms of each line, once for each match. */
  readonly found: readonly (readonly number[])[];
  readonly terms: readonly WeighedTerm[];
  readonly worths: ReadonlyMap<number, number>;
  readonly finder: TermFinder;
}

function scoreSection(
  section: Section,
  { lines, found, terms, worths, finder }: SearchedLines,
): ScoredSection | null {
  const counts = new Map<number, number>();
  let chars = 0;
  let best = { number: section.line ?? section.first, worth: 0 };
  let quoted = 0;
  for (let number = section.first; number <= section.last; number += 1) {
    const text = lines[number - 1] ?? '';
    chars += text.length;
    const lineTerms = found[number - 1] ?? [];
    if (lineTerms.length === 0) continue;
    for (const term of lineTerms) counts.set(term, (counts.get(term) ?? 0) + 1);
    const worth = sumWorths(lineTerms, worths);
    if (worth > best.worth) best = { number, worth };
    if (worth > quoted) {
      const inQuotes = [...text.matchAll(QUOTED)].flatMap(([each]) => findLineTerms(each, finder));
      quoted = Math.max(quoted, sumWorths(inQuotes, worths));
    }
  }
  const named = section.name === null ? [] : listStems(section.name);
  const norm = K1 * (1 - B + (B * chars) / USUAL_CHARS);
  let body = 0;
  let symbol = 0;
  const matched: WeighedTerm[] = [];
  for (const term of terms) {
    const count = counts.get(term.index) ?? 0;
    const isInName = term.stems.some((stem) => named.includes(stem));
    if (count > 0) body += (term.worth * count * (K1 + 1)) / (count + norm);
    if (isInName) symbol += term.worth * (0.4 + 0.6 / named.length);
    if (count > 0 || isInName) matched.push(term);
  }
  if (matched.length === 0) return null;
  return { section, score: body + NAME_IN_SECTION * symbol, symbol, matched, line: best, quoted };
}

function findLineTerms(line: string, finder: TermFinder): readonly number[] {
  const found: number[] = [];
  finder.visit(line, (terms) => found.push(...terms));
  return found;
}

function sumWorths(found: readonly number[], worths: ReadonlyMap<number, number>): number {
  let worth = 0;
  for (const term of new Set(found)) worth += worths.get(term) ?? 0;
  return worth;
}
