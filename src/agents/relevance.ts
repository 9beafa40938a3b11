import { splitIdentifier, stem } from '../base/word-stems.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import { lazy } from '../base/lazy.ts';

/** The usual constants of BM25 (Robertson and Walker). */
const K1 = 1.2;
const B = 0.75;
/** A word in the name counts as much as this many in the description. */
const NAME_WEIGHT = 3;
/**
 * The maximum number of UTF-16 units that are searched: people write the purpose of an agent, and of a request,
 * first.
 */
const MAX_QUERY = 20_000;
const MAX_DESCRIPTION = 1_000;

/** Scripts without spaces between words, for which pairs of adjacent characters are used. */
const UNSPACED = lazy(
  () => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u,
);
/** The limit is necessary because splitting a very long word takes quadratic time. */
const RUN = lazy(() => /[\p{L}\p{N}\p{M}]{1,64}/gu);

/**
 * Scores how well each agent fits a text, from the words that its name and description share with the text. Rare words
 * count more, and 0 means that there are none. The scores are in the order of `agents`.
 */
export function scoreRelevance(
  query: string,
  agents: readonly AgentDefinition[],
): readonly number[] {
  const words = new Words();
  const wanted = new Set(words.of(query.slice(0, MAX_QUERY)));
  const documents = agents.map((agent) => wordCounts(agent, words));
  const holders = new Map<string, number>();
  for (const { counts } of documents) {
    for (const word of counts.keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
  }
  const lengths = documents.reduce((sum, { length }) => sum + length, 0);
  const usual = Math.max(1, lengths / Math.max(1, documents.length));
  return documents.map(({ counts, length }) => {
    let score = 0;
    for (const word of wanted) {
      const count = counts.get(word);
      if (count === undefined) continue;
      const among = holders.get(word) ?? 0;
      const rarity = Math.log(1 + (documents.length - among + 0.5) / (among + 0.5));
      score += (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / usual));
    }
    return score;
  });
}

interface WordCounts {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

function wordCounts({ name, description }: AgentDefinition, words: Words): WordCounts {
  const counts = new Map<string, number>();
  const add = (word: string, count: number) => counts.set(word, (counts.get(word) ?? 0) + count);
  for (const word of words.of(name)) add(word, NAME_WEIGHT);
  const described = words.of(description.slice(0, MAX_DESCRIPTION));
  for (const word of described) add(word, 1);
  return { counts, length: described.length };
}

/** Splits texts into words, and keeps the result for repeated parts. */
class Words {
  private readonly known = new Map<string, readonly string[]>();

  of(text: string): readonly string[] {
    const words: string[] = [];
    for (const run of text.normalize('NFC').match(RUN()) ?? []) {
      let parts = this.known.get(run);
      if (parts === undefined) {
        parts = UNSPACED().test(run) ? pairs(run) : stems(run);
        this.known.set(run, parts);
      }
      for (const part of parts) words.push(part);
    }
    return words;
  }
}

function stems(run: string): readonly string[] {
  return splitIdentifier(run).flatMap((word) => (word.length > 1 ? [stem(word)] : []));
}

function pairs(run: string): readonly string[] {
  const letters = [...run];
  if (letters.length === 1) return letters;
  return letters.slice(1).map((letter, index) => `${letters[index] ?? ''}${letter}`);
}
