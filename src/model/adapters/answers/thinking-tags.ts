/** The tags that begin and end a thought, in lower case. Models write them in any case. */
export interface TagPair {
  readonly opens: readonly string[];
  readonly closes: readonly string[];
}

/**
 * The tags that enclose the thoughts of models. A server with a parser for the model converts such
 * thoughts to reasoning; other servers leave them in the text. Sources: the chat templates of DeepSeek, Qwen, MiniMax, Seed, Magistral, Kimi,
 * Command, Gemma and gpt-oss.
 */
export const TAG_PAIRS: readonly TagPair[] = [
  { opens: ['<think>'], closes: ['</think>'] },
  { opens: ['<thinking>'], closes: ['</thinking>'] },
  { opens: ['<thought>'], closes: ['</thought>'] },
  { opens: ['<seed:think>'], closes: ['</seed:think>'] },
  { opens: ['[think]'], closes: ['[/think]'] },
  { opens: ['◁think▷'], closes: ['◁/think▷'] },
  {
    opens: ['<|start_thinking|>'],
    closes: ['<|end_thinking|><|start_response|>', '<|end_thinking|>'],
  },
  { opens: ['<|channel>thought\n'], closes: ['<channel|>'] },
  {
    opens: ['<|channel|>analysis<|message|>', '<|start|>assistant<|channel|>analysis<|message|>'],
    closes: [
      '<|end|><|start|>assistant<|channel|>final<|message|>',
      '<|start|>assistant<|channel|>final<|message|>',
      '<|channel|>final<|message|>',
      '<|end|>',
    ],
  },
];
/** The opening tags, each with its pair. */
export const OPENING_TAGS = TAG_PAIRS.flatMap((pair) => pair.opens.map((open) => ({ open, pair })));

/** The tags around a thought, exactly as they were in the text, including the blank space next to them. */
export interface ThoughtTags {
  readonly before: string;
  readonly after: string;
}

/** Creates the source of a pattern for any of the tags in any case. The pattern matches the longest tag at a position. */
export function createTagsPattern(tags: readonly string[]): string {
  const longestFirst = tags.toSorted((a, b) => b.length - a.length);
  const patterns = longestFirst.map((tag) =>
    tag
      .replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
      .replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`),
  );
  return `(?:${patterns.join('|')})`;
}
