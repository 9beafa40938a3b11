/** The token counts in a refusal. A field is absent if the refusal does not name it. */
interface StatedSizes {
  /** The size of the context window, including the answer. */
  readonly window?: number;
  /** The tokens of the refused request. */
  readonly input?: number;
}

/** The source of a pattern with a group for a number as servers write it. */
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

/** OpenRouter counts the definitions of tools separately. */
const TOOL_INPUT = ignoreCase(`${NUMBER} of tool input`);

/** Finds the token counts in the text of a refusal. */
function findStatedSizes(text: string): StatedSizes {
  const window = firstNumber(WINDOW_PATTERNS, text);
  const input = firstNumber(INPUT_PATTERNS, text);
  return {
    ...(window === undefined ? {} : { window }),
    ...(input === undefined ? {} : { input: input + (firstNumber([TOOL_INPUT], text) ?? 0) }),
  };
}

function ignoreCase(source: string): RegExp {
  return new RegExp(source, 'i');
}

/** Parses a match of `NUMBER`. */
function parseNumber(found: string): number {
  return Number(found.replace(/[,_]/g, ''));
}

function firstNumber(patterns: readonly RegExp[], text: string): number | undefined {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return parseNumber(found);
  }
  return undefined;
}

const FIELD = 'max_?(?:completion_|output_?|new_)?tokens';

/** A form of refusal that names the highest limit on an answer that the model accepts. */
interface Wording {
  readonly pattern: RegExp;
  /** True if the named number itself is too high. */
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
    pattern: ignoreCase(`${FIELD}\\W.{0,80}range.{0,40}to ${NUMBER} \\(exclusive\\)`),
    isExclusive: true,
  },
];

/** Returns true if a refusal is only about the limit on the answer. */
export function isOutputLimitError(text: string): boolean {
  return WORDINGS.some(({ pattern }) => pattern.test(text)) || limitForWindow(text) !== null;
}

/** Finds the limit on an answer that a refusal allows; null: the refusal is about something else. */
export function findAllowedOutput(text: string): number | null {
  for (const { pattern, isExclusive } of WORDINGS) {
    const stated = pattern.exec(text)?.[1];
    if (stated === undefined) continue;
    const limit = parseNumber(stated) - (isExclusive === true ? 1 : 0);
    return limit > 0 ? limit : null;
  }
  return limitForWindow(text);
}

/**
 * Chooses a limit on the answer for a server that refuses requests whose input and output limit together exceed
 * the window. If the input takes at most half of the window, the limit is a quarter of it, so that the
 * conversation can grow. Returns null if the input takes more, since the conversation is too long then.
 */
function limitForWindow(text: string): number | null {
  const { window, input } = findStatedSizes(text);
  if (window === undefined || input === undefined || input > window / 2) return null;
  return Math.floor(window / 4);
}

function wording(source: string): Wording {
  return { pattern: ignoreCase(source) };
}
