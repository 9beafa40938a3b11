import { collapseWhitespace, truncate } from '../../base/text.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import { lazy } from '../../base/lazy.ts';

/** The most UTF-16 units of a description that are processed: some contain long dialogues. */
const MAX_READ = 4_000;

/** Dialogues that show when to choose an agent; one that is not closed goes on to the end. */
const EXAMPLES = /<(examples?|commentary)\b[^>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi;
/** An announcement of examples, with everything after it. */
const ANNOUNCED =
  /(?:^|[\n.;:!?])\s*(?:\W{0,3})(?:usage )?examples?(?: usage| uses?)?\W{0,3}:[\s\S]*$/i;

const OPENINGS: readonly (readonly [RegExp, string])[] = [
  // "Use this security agent proactively when …"; the condition stays.
  [
    /^(?:use|invoke|call|launch|choose) (?:this|the)(?: [\w./-]{1,40}){0,4}? (?:sub-?)?agents?,?(?: proactively| immediately)? (?=(?:when|whenever|if|for|to|after|before)\b)/i,
    '',
  ],
  // "This agent should be used when …"
  [
    /^(?:this|the)(?: [\w./-]{1,40}){0,4}? (?:sub-?)?agent (?:should|must|can|is to|needs to) be (?:used|invoked|called)(?: proactively)? (?=(?:when|whenever|if|for|to|after|before)\b)/i,
    '',
  ],
  [/^when(?:ever)? (?:you|the user|users?) (?:needs?|wants?|has|have) to /i, 'To '],
  [/^when(?:ever)? (?:you|the user|users?) (?:needs? (?:help|assistance) (?:with|in) )/i, 'For '],
  [/^when(?:ever)? (?:you|the user|users?) (?:needs?|wants?) /i, 'For '],
  [/^use when (?:a|the|some) (?:task|job) (?:needs|requires|calls for) /i, 'For '],
];

/** A full stop that ends no sentence. */
const ABBREVIATION = lazy(() => /(?:\b(?:e\.g|i\.e|etc|vs|incl|approx)|\b\p{L})$/iu);
const SENTENCE_END = /[.!?](?=\s)|[。！？]/g;
/** The smallest share of the available length that a cut at a sentence or a word must keep. */
const LEAST_SHARE = 0.5;

const cache = new WeakMap<AgentDefinition, string>();

/**
 * Extracts from a description when to use the agent, on one line: without examples, and without the opening words
 * that many descriptions share. Some generators write `\n` for a line end.
 */
export function usageDescription(agent: AgentDefinition): string {
  const known = cache.get(agent);
  if (known !== undefined) return known;
  // Built-in descriptions are shown as written, which saves this work at each start.
  const isBuiltin = agent.origin.scope === 'builtin';
  const use = isBuiltin ? collapseWhitespace(agent.description) : useOf(agent.description);
  cache.set(agent, use);
  return use;
}

function useOf(description: string): string {
  const read = truncate(description, MAX_READ).replaceAll('\\n', '\n');
  const plain = collapseWhitespace(read.replaceAll(EXAMPLES, '\n').replace(ANNOUNCED, '.'));
  const bare = plain.replace(/^\.$/, '').replace(/([.!?])\.$/, '$1');
  const opened = OPENINGS.reduce((text, [opening, by]) => text.replace(opening, by), bare);
  // A description of nothing but examples is kept, since they are better than nothing.
  const use = opened === '' ? collapseWhitespace(read) : opened;
  return use.charAt(0).toUpperCase() + use.slice(1);
}

/** Shortens a text to at most `most` code points, at the end of a sentence if enough remains, else of a word. */
export function shortenDescription(text: string, most: number): string {
  const fitting = truncate(text, most);
  if (fitting.length === text.length) return text;
  const least = fitting.length * LEAST_SHARE;
  const sentence = lastSentenceEnd(fitting);
  if (sentence > least) return fitting.slice(0, sentence);
  const blank = fitting.lastIndexOf(' ');
  const cut = blank > least ? fitting.slice(0, blank) : truncate(text, most - 1);
  return `${cut.trimEnd()}…`;
}

/** Returns the position after the last complete sentence; 0 when there is none. */
function lastSentenceEnd(text: string): number {
  let end = 0;
  for (const match of text.matchAll(SENTENCE_END)) {
    if (
      match[0] !== '.' ||
      !ABBREVIATION().test(text.slice(Math.max(0, match.index - 8), match.index))
    ) {
      end = match.index + match[0].length;
    }
  }
  return end;
}
