import { enclosingName } from '../../base/code/enclosing.ts';
import { scanTokens, termsOf } from '../../base/code/tokens.ts';
import type { Vocabulary } from './vocabulary.ts';
import { sectionsOf, type Section } from './outline.ts';
import type { WeighedTerm } from './weighed-terms.ts';

/** How well a file's sections answer. */
export interface SectionScore {
  readonly scores: {
    /** Of the best section. */
    readonly best: number;
    /** Of the symbol whose name answers best, here or in another section. */
    readonly symbol: number;
    /** What the terms of one line are worth at most, each once. */
    readonly line: number;
    /** The same of what stands between quotes: a report quotes messages. */
    readonly quoted: number;
  };
  /** The line that answers best, and the symbol that it defines or stands in. */
  readonly line: number;
  readonly name: string | null;
  /** Whether it is that line that defines it. */
  readonly isDefinition: boolean;
  /** Terms in that section. */
  readonly matched: readonly WeighedTerm[];
}

/** BM25 over sections, whose length matters little. */
const K1 = 1;
const B = 0.35;
const USUAL_TOKENS = 80;
const NAME_IN_SECTION = 0.5;
/** Texts in code, not names of one letter or two. */
const QUOTED = /"(?:[^"\\]|\\.){3,}"|'(?:[^'\\]|\\.){3,}'|`(?:[^`\\]|\\.){3,}`/g;
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
  let symbol = 0;
  let line = 0;
  let quoted = 0;
  for (const section of sectionsOf(lines)) {
    const scored = scoreSection(section, lines, { terms, wanted, vocabulary });
    if (scored === null) continue;
    symbol = Math.max(symbol, scored.symbol);
    line = Math.max(line, scored.line.worth);
    quoted = Math.max(quoted, scored.quoted);
    if (best === null || scored.score > best.score) best = scored;
  }
  if (best === null) return null;
  const { section, matched, score } = best;
  const place = section.line ?? best.line.number;
  const textAt = (number: number) => lines[number - 1] ?? '';
  return {
    scores: { best: score, symbol, line, quoted },
    line: place,
    name: section.line === null ? enclosingName(textAt, place) : section.name,
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
  readonly line: { readonly number: number; readonly worth: number };
  /** Worth of the terms between the quotes of one line, at most. */
  readonly quoted: number;
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
  let quoted = 0;
  for (let number = section.first; number <= section.last; number += 1) {
    const text = lines[number - 1] ?? '';
    const here = new Set<number>();
    scanTokens(text, (token) => {
      length += 1;
      for (const found of vocabulary.numbersOf(token)) {
        for (const index of wanted.get(found) ?? []) {
          counts[index] = (counts[index] ?? 0) + 1;
          here.add(index);
        }
      }
    });
    if (here.size === 0) continue;
    const worth = worthOf(here, terms);
    if (worth > bestLine.worth) bestLine = { number, worth };
    if (worth > quoted) quoted = Math.max(quoted, quotedWorth(text, { terms, wanted, vocabulary }));
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
  return { section, score, symbol, matched, line: bestLine, quoted };
}

function quotedWorth(line: string, { terms, wanted, vocabulary }: Wanted): number {
  const found = new Set<number>();
  for (const [text] of line.matchAll(QUOTED)) {
    scanTokens(text, (token) => {
      for (const number of vocabulary.numbersOf(token)) {
        for (const index of wanted.get(number) ?? []) found.add(index);
      }
    });
  }
  return worthOf(found, terms);
}

function worthOf(places: ReadonlySet<number>, terms: readonly WeighedTerm[]): number {
  let worth = 0;
  for (const place of places) worth += terms[place]?.worth ?? 0;
  return worth;
}

/** Which terms a number of the vocabulary stands for, by their places. */
function wantedNumbers(terms: readonly WeighedTerm[]): ReadonlyMap<number, readonly number[]> {
  const wanted = new Map<number, number[]>();
  for (const [index, { numbers }] of terms.entries()) {
    for (const number of numbers) wanted.set(number, [...(wanted.get(number) ?? []), index]);
  }
  return wanted;
}
