/** Token counts that a refusal names. Absent: it does not name this one. */
interface StatedSizes {
  /** Tokens that the model takes, its answer included. */
  readonly window?: number;
  /** Tokens of the refused request. */
  readonly input?: number;
}

/** The source of a pattern for a number as servers write it, as a group. */
const NUMBER = '(\\d[\\d,_]*)';

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
function statedSizes(words: string): StatedSizes {
  const window = firstNumber(WINDOWS, words);
  const input = firstNumber(INPUTS, words);
  return {
    ...(window === undefined ? {} : { window }),
    ...(input === undefined ? {} : { input: input + (firstNumber([TOOL_INPUT], words) ?? 0) }),
  };
}

function caseless(source: string): RegExp {
  return new RegExp(source, 'i');
}

/** Returns the value of what `NUMBER` has matched. */
function parseNumber(found: string): number {
  return Number(found.replace(/[,_]/g, ''));
}

function firstNumber(patterns: readonly RegExp[], words: string): number | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(words)?.[1];
    if (found !== undefined) return parseNumber(found);
  }
  return undefined;
}

const FIELD = 'max_?(?:completion_|output_?|new_)?tokens';

/** A refusal of the limit on an answer that names the highest limit the model takes. */
interface Wording {
  readonly pattern: RegExp;
  /** The number named is the first one that is too high. */
  readonly isExclusive?: true;
}

const WORDINGS: readonly Wording[] = [
  // Anthropic: "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for …"
  wording(`${FIELD}: \\d+ > ${NUMBER}`),
  // OpenAI: "max_tokens is too large: 50000. This model supports at most 16384 completion tokens, …"
  wording(`supports at most ${NUMBER} completion tokens`),
  // OpenAI, Responses: "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 32768, …"
  wording(`${FIELD}\\W.{0,80}expected a value <= ${NUMBER}`),
  // Groq: "`max_tokens` must be less than or equal to `16384`, …"
  // https://github.com/anomalyco/opencode/issues/1000
  wording(`${FIELD}\\W.{0,40}must be less than or equal to \\W?${NUMBER}`),
  // Cohere: "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model …"
  wording(`max tokens must be less than or equal to ${NUMBER}`),
  // DeepSeek: "Invalid max_tokens value, the valid range of max_tokens is [1, 393216]"
  // https://github.com/MoonshotAI/kimi-code/issues/1055
  // DashScope: "Range of max_tokens should be [1, 8192]"
  wording(`range of ${FIELD} (?:is|should be) \\[\\d+, ?${NUMBER}\\]`),
  // Bedrock: "The maximum tokens you requested exceeds the model limit of 4096. …"
  // https://github.com/google-deepmind/concordia/pull/73
  wording(`maximum tokens you requested exceeds the model limit of ${NUMBER}`),
  // Bedrock: "Malformed input request: #/max_tokens: 100000 is not less or equal to 4096, …"
  wording(`${FIELD}: \\d+ is not less or equal to ${NUMBER}`),
  // Vertex: "… a maxOutputTokens value of 65536 but the supported range is from 1 (inclusive) to 65536 (exclusive)."
  // https://github.com/BerriAI/litellm/pull/10548
  {
    pattern: caseless(`${FIELD}\\W.{0,80}range.{0,40}to ${NUMBER} \\(exclusive\\)`),
    isExclusive: true,
  },
];

/** A refusal that is about the limit on an answer and about nothing else. */
export function isOutputLimitError(words: string): boolean {
  return WORDINGS.some(({ pattern }) => pattern.test(words)) || limitForWindow(words) !== null;
}

/** Returns the limit that a refusal allows for an answer; null: it is not about that. */
export function findAllowedOutput(words: string): number | null {
  for (const { pattern, isExclusive } of WORDINGS) {
    const named = pattern.exec(words)?.[1];
    if (named === undefined) continue;
    const limit = parseNumber(named) - (isExclusive === true ? 1 : 0);
    return limit > 0 ? limit : null;
  }
  return limitForWindow(words);
}

/**
 * Some servers refuse a request whose input and output limit are together larger than the window. Where the
 * input takes no more than half of it, the limit is too high; a quarter leaves room for the conversation to
 * grow. Where it takes more, the conversation is too long.
 */
function limitForWindow(words: string): number | null {
  const { window, input } = statedSizes(words);
  if (window === undefined || input === undefined || input > window / 2) return null;
  return Math.floor(window / 4);
}

function wording(source: string): Wording {
  return { pattern: caseless(source) };
}
