import { splitIdentifier, stem } from '../base/word-stems.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import { lazy } from '../base/lazy.ts';

/** The usual value of BM25's constant k1 (Robertson and Walker), which limits the effect of repeated words. */
const K1 = 1.2;
/** The usual value of BM25's constant b, which reduces the weight of words in long texts. */
const B = 0.75;
/** The number of words in the description that have the same weight as one word in the name. */
const NAME_WEIGHT = 3;
/** The maximum number of UTF-16 code units of a request that are used. People write the purpose first. */
const MAX_QUERY_LENGTH = 20_000;
/** The maximum number of UTF-16 code units of a description that are used. */
const MAX_DESCRIPTION_LENGTH = 1_000;

/** Matches scripts without spaces between words. For these, pairs of adjacent characters are used as words. */
const UNSPACED = lazy(
  () => /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u,
);
/**
 * Matches a run of letters and digits. The limit is necessary, because splitting a very long word takes quadratic time.
 */
const RUN = lazy(() => /[\p{L}\p{N}\p{M}]{1,64}/gu);

/**
 * Scores how well each agent fits a text, by the words that the agent's name and description share with the text. Rare
 * words have more weight. A score of 0 means that there are no shared words. The scores are in the order of `agents`.
 */
export function scoreRelevance(
  query: string,
  agents: readonly AgentDefinition[],
): readonly number[] {
  const words = new Words();
  const wanted = new Set(words.of(query.slice(0, MAX_QUERY_LENGTH)));
  const documents = agents.map((agent) => countWords(agent, words));
  const agentCounts = new Map<string, number>();
  for (const { counts } of documents) {
    for (const word of counts.keys()) agentCounts.set(word, (agentCounts.get(word) ?? 0) + 1);
  }
  const lengths = documents.reduce((sum, { length }) => sum + length, 0);
  const averageLength = Math.max(1, lengths / Math.max(1, documents.length));
  return documents.map(({ counts, length }) => {
    let score = 0;
    for (const word of wanted) {
      const count = counts.get(word);
      if (count === undefined) continue;
      const agentCount = agentCounts.get(word) ?? 0;
      const rarity = Math.log(1 + (documents.length - agentCount + 0.5) / (agentCount + 0.5));
      score += (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / averageLength));
    }
    return score;
  });
}

interface WordCounts {
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

function countWords({ name, description }: AgentDefinition, words: Words): WordCounts {
  const counts = new Map<string, number>();
  const add = (word: string, count: number) => counts.set(word, (counts.get(word) ?? 0) + count);
  for (const word of words.of(name)) add(word, NAME_WEIGHT);
  const described = words.of(description.slice(0, MAX_DESCRIPTION_LENGTH));
  for (const word of described) add(word, 1);
  return { counts, length: described.length };
}

/** Splits texts into words, and caches the words of repeated parts. */
class Words {
  private readonly known = new Map<string, readonly string[]>();

  of(text: string): readonly string[] {
    const words: string[] = [];
    for (const run of text.normalize('NFC').match(RUN()) ?? []) {
      let parts = this.known.get(run);
      if (parts === undefined) {
        parts = UNSPACED().test(run) ? splitIntoPairs(run) : splitIntoStems(run);
        this.known.set(run, parts);
      }
      for (const part of parts) words.push(part);
    }
    return words;
  }
}

function splitIntoStems(run: string): readonly string[] {
  return splitIdentifier(run).flatMap((word) => (word.length > 1 ? [stem(word)] : []));
}

function splitIntoPairs(run: string): readonly string[] {
  const letters = [...run];
  if (letters.length === 1) return letters;
  return letters.slice(1).map((letter, index) => `${letters[index] ?? ''}${letter}`);
}
