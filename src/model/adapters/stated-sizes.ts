/** Token counts that a refusal names. Absent: it does not name this one. */
export interface StatedSizes {
  /** Tokens that the model takes, its answer included. */
  readonly window?: number;
  /** Tokens of the refused request. */
  readonly input?: number;
}

/** The source of a pattern for a number as servers write it, as a group. */
export const NUMBER = '(\\d[\\d,_]*)';

const WINDOWS = [
  `context (?:length|window|size|limit) (?:is |of )?(?:only )?\\(?${NUMBER}`,
  `exceed context limit: \\d+ \\+ \\d+ > ${NUMBER}`,
  '`max_new_tokens` must be <= ' + NUMBER,
  // SambaNova
  `maximum supported sequence length is (?:just )?${NUMBER}`,
].map(caseless);

const INPUTS = [
  `prompt contains (?:at least )?${NUMBER} input tokens`,
  `request has ${NUMBER} input tokens`,
  `passed ${NUMBER} input tokens`,
  `${NUMBER} tokens from the input messages`,
  `\\(${NUMBER} (?:in the messages|in your prompt|of text input)`,
  `exceed context limit: ${NUMBER} \\+`,
  `given: ${NUMBER} \`inputs\` tokens`,
  `provided prompt is ${NUMBER} tokens`,
].map(caseless);

/** OpenRouter counts the definitions of tools by themselves. */
const TOOL_INPUT = caseless(`${NUMBER} of tool input`);

/** Reads the token counts from the words of a refusal. */
export function statedSizes(words: string): StatedSizes {
  const window = firstNumber(WINDOWS, words);
  const input = firstNumber(INPUTS, words);
  return {
    ...(window === undefined ? {} : { window }),
    ...(input === undefined ? {} : { input: input + (firstNumber([TOOL_INPUT], words) ?? 0) }),
  };
}

export function caseless(source: string): RegExp {
  return new RegExp(source, 'i');
}

/** Returns the value of what `NUMBER` has matched. */
export function parseNumber(found: string): number {
  return Number(found.replace(/[,_]/g, ''));
}

function firstNumber(patterns: readonly RegExp[], words: string): number | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(words)?.[1];
    if (found !== undefined) return parseNumber(found);
  }
  return undefined;
}
