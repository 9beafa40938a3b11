import { scanTokens, termsOf } from '../../base/code/tokens.ts';
import type { Vocabulary } from './vocabulary.ts';
import { sectionsOf, type Section } from './outline.ts';
import type { WeighedTerm } from './weighed-terms.ts';

/** How well a file's sections answer. */
export interface SectionScore {
  readonly best: number;
  /** Of the two best after it, together. */
  readonly next: number;
  /** Of the symbol whose name answers best. */
  readonly symbol: number;
  /** The line that answers best, and the symbol that it belongs to. */
  readonly line: number;
  readonly name: string | null;
  /** Whether it is that line that defines it, or one below. */
  readonly isDefinition: boolean;
  /** Terms in that section. */
  readonly matched: readonly WeighedTerm[];
}

/** BM25 over sections, whose length matters little. */
const K1 = 1;
const B = 0.35;
const USUAL_TOKENS = 80;
const NAME_IN_SECTION = 0.5;
/** What is longer is no source that a person wrote. */
const MAX_LINES = 60_000;
const MAX_LINE_CHARS = 1000;

/** Null when no section holds any of the terms. Pure. */
export function scoreSections(
  text: string,
  terms: readonly WeighedTerm[],
  vocabulary: Vocabulary,
): SectionScore | null {
  const lines = text
    .split('\n', MAX_LINES)
    .map((line) => (line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line));
  const wanted = wantedNumbers(terms);
  let best: ScoredSection | null = null;
  const scores: number[] = [];
  let symbol = 0;
  for (const section of sectionsOf(lines)) {
    const scored = scoreSection(section, lines, { terms, wanted, vocabulary });
    if (scored === null) continue;
    symbol = Math.max(symbol, scored.symbol);
    scores.push(scored.score);
    if (best === null || scored.score > best.score) best = scored;
  }
  if (best === null) return null;
  const { section, matched, score } = best;
  const [, second = 0, third = 0] = scores.toSorted((a, b) => b - a);
  return {
    best: score,
    next: second + third,
    symbol,
    line: section.line ?? best.line,
    name: section.name,
    isDefinition: section.line !== null,
    matched,
  };
}

interface ScoredSection {
  readonly section: Section;
  readonly score: number;
  readonly symbol: number;
  readonly matched: readonly WeighedTerm[];
  /** The line of it with the worthiest terms. */
  readonly line: number;
}

interface Wanted {
  readonly terms: readonly WeighedTerm[];
  readonly wanted: ReadonlyMap<number, readonly number[]>;
  readonly vocabulary: Vocabulary;
}

function scoreSection(
  section: Section,
  lines: readonly string[],
  { terms, wanted, vocabulary }: Wanted,
): ScoredSection | null {
  const counts = terms.map(() => 0);
  let length = 0;
  let bestLine = { number: section.line ?? section.first, worth: 0 };
  for (let number = section.first; number <= section.last; number += 1) {
    const here = new Set<number>();
    scanTokens(lines[number - 1] ?? '', (token) => {
      length += 1;
      for (const found of vocabulary.numbersOf(token)) {
        for (const index of wanted.get(found) ?? []) {
          counts[index] = (counts[index] ?? 0) + 1;
          here.add(index);
        }
      }
    });
    let worth = 0;
    for (const index of here) worth += terms[index]?.worth ?? 0;
    if (worth > bestLine.worth) bestLine = { number, worth };
  }
  const named = section.name === null ? [] : termsOf(section.name);
  const norm = K1 * (1 - B + (B * length) / USUAL_TOKENS);
  let body = 0;
  let symbol = 0;
  const matched: WeighedTerm[] = [];
  for (const [index, term] of terms.entries()) {
    const count = counts[index] ?? 0;
    const inName = term.stems.some((stem) => named.includes(stem));
    if (count > 0) body += (term.worth * count * (K1 + 1)) / (count + norm);
    if (inName) symbol += term.worth * (0.4 + 0.6 / named.length);
    if (count > 0 || inName) matched.push(term);
  }
  if (matched.length === 0) return null;
  const score = body + NAME_IN_SECTION * symbol;
  return { section, score, symbol, matched, line: bestLine.number };
}

/** Which terms a number of the vocabulary stands for, by their places. */
function wantedNumbers(terms: readonly WeighedTerm[]): ReadonlyMap<number, readonly number[]> {
  const wanted = new Map<number, number[]>();
  for (const [index, { numbers }] of terms.entries()) {
    for (const number of numbers) wanted.set(number, [...(wanted.get(number) ?? []), index]);
  }
  return wanted;
}
