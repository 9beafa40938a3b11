/** The token counts in a refusal. A field is absent if the refusal does not state the count. */
interface StatedSizes {
  /** The size of the context window, including the answer. */
  readonly window?: number;
  /** The tokens of the refused request, without the answer. */
  readonly input?: number;
}

/** The source of a pattern with a group for a number, which may contain commas or underscores. */
const NUMBER = '(\\d[\\d,_]*)';

const WINDOW_PATTERNS = [
  `context (?:length|window|size|limit) (?:is |of )?(?:only )?\\(?${NUMBER}`,
  `exceed context limit: \\d+ \\+ \\d+ > ${NUMBER}`,
  '`max_new_tokens` must be <= ' + NUMBER,
  // SambaNova
  `maximum supported sequence length is (?:just )?${NUMBER}`,
].map(ignoreCase);

const INPUT_PATTERNS = [
  `prompt contains (?:at least )?${NUMBER} input tokens`,
  `request has ${NUMBER} input tokens`,
  `passed ${NUMBER} input tokens`,
  `${NUMBER} tokens from the input messages`,
  `\\(${NUMBER} (?:in the messages|in your prompt|of text input)`,
  `exceed context limit: ${NUMBER} \\+`,
  `given: ${NUMBER} \`inputs\` tokens`,
  `provided prompt is ${NUMBER} tokens`,
].map(ignoreCase);

/** Matches the tokens of the tool definitions, which OpenRouter counts separately from the input. */
const TOOL_INPUT = ignoreCase(`${NUMBER} of tool input`);

/** Finds the token counts in the text of a refusal. */
function findStatedSizes(text: string): StatedSizes {
  const window = findFirstNumber(WINDOW_PATTERNS, text);
  const input = findFirstNumber(INPUT_PATTERNS, text);
  return {
    ...(window === undefined ? {} : { window }),
    ...(input === undefined ? {} : { input: input + (findFirstNumber([TOOL_INPUT], text) ?? 0) }),
  };
}

function ignoreCase(source: string): RegExp {
  return new RegExp(source, 'i');
}

/** Parses a number that `NUMBER` matched. */
function parseNumber(found: string): number {
  return Number(found.replace(/[,_]/g, ''));
}

function findFirstNumber(patterns: readonly RegExp[], text: string): number | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return parseNumber(found);
  }
  return undefined;
}

/** The source of a pattern for the field names of the output limit. */
const FIELD = 'max_?(?:completion_|output_?|new_)?tokens';

/** A form of refusal that states the highest output limit that the model accepts. */
interface Wording {
  readonly pattern: RegExp;
  /** True if the stated number itself is too high. */
  readonly isExclusive?: true;
}

const WORDINGS: readonly Wording[] = [
  // Anthropic: "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for …"
  createWording(`${FIELD}: \\d+ > ${NUMBER}`),
  // OpenAI: "max_tokens is too large: 50000. This model supports at most 16384 completion tokens, …"
  createWording(`supports at most ${NUMBER} completion tokens`),
  // OpenAI, Responses: "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 32768, …"
  createWording(`${FIELD}\\W.{0,80}expected a value <= ${NUMBER}`),
  // Groq: "`max_tokens` must be less than or equal to `16384`, …"
  // https://github.com/anomalyco/opencode/issues/1000
  createWording(`${FIELD}\\W.{0,40}must be less than or equal to \\W?${NUMBER}`),
  // Cohere: "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model …"
  createWording(`max tokens must be less than or equal to ${NUMBER}`),
  // DeepSeek: "Invalid max_tokens value, the valid range of max_tokens is [1, 393216]"
  // https://github.com/MoonshotAI/kimi-code/issues/1055
  // DashScope: "Range of max_tokens should be [1, 8192]"
  createWording(`range of ${FIELD} (?:is|should be) \\[\\d+, ?${NUMBER}\\]`),
  // Bedrock: "The maximum tokens you requested exceeds the model limit of 4096. …"
  // https://github.com/google-deepmind/concordia/pull/73
  createWording(`maximum tokens you requested exceeds the model limit of ${NUMBER}`),
  // Bedrock: "Malformed input request: #/max_tokens: 100000 is not less or equal to 4096, …"
  createWording(`${FIELD}: \\d+ is not less or equal to ${NUMBER}`),
  // Vertex: "… a maxOutputTokens value of 65536 but the supported range is from 1 (inclusive) to 65536 (exclusive)."
  // https://github.com/BerriAI/litellm/pull/10548
  {
    pattern: ignoreCase(`${FIELD}\\W.{0,80}range.{0,40}to ${NUMBER} \\(exclusive\\)`),
    isExclusive: true,
  },
];

/** Returns true if a refusal is only about the output limit. */
export function isOutputLimitError(text: string): boolean {
  return WORDINGS.some(({ pattern }) => pattern.test(text)) || chooseLimitForWindow(text) !== null;
}

/** Finds the output limit that a refusal allows; null: the refusal is about something else. */
export function findAllowedOutput(text: string): number | null {
  for (const { pattern, isExclusive } of WORDINGS) {
    const stated = pattern.exec(text)?.[1];
    if (stated === undefined) continue;
    const limit = parseNumber(stated) - (isExclusive === true ? 1 : 0);
    return limit > 0 ? limit : null;
  }
  return chooseLimitForWindow(text);
}

/**
 * Chooses an output limit for a server that refuses requests whose input and output limit together exceed the context
 * window. If the input takes at most half of the window, the limit is a quarter of the window, so that the conversation
 * can still grow. Returns null if the input takes more, because the conversation itself is then too long.
 */
function chooseLimitForWindow(text: string): number | null {
  const { window, input } = findStatedSizes(text);
  if (window === undefined || input === undefined || input > window / 2) return null;
  return Math.floor(window / 4);
}

function createWording(source: string): Wording {
  return { pattern: ignoreCase(source) };
}
