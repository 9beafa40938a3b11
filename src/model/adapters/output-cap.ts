import type { ModelRequest } from '../../protocol/model.ts';
import type { Refusal } from './answer-errors.ts';
import { errorWords } from './error-words.ts';
import { caseless, NUMBER, parseNumber, statedSizes } from './stated-sizes.ts';

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
export function isAboutOutputLimit(words: string): boolean {
  return WORDINGS.some(({ pattern }) => pattern.test(words)) || limitForWindow(words) !== null;
}

/** Returns the limit that a refusal allows for an answer; null: it is not about that. */
export function allowedOutput(words: string): number | null {
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

/** How often a lower limit is believed, so that a server that always names another one is not asked for ever. */
const MOST_LESSONS = 4;

/** Remembers the limits on answers that one server takes, for each model that has refused a higher one. */
export class OutputCaps {
  private readonly caps = new Map<string, number>();
  private readonly lessons = new Map<string, number>();

  /** Returns the request with a limit that its model takes. */
  bounded(request: ModelRequest, usual: number | undefined): ModelRequest {
    const cap = this.caps.get(request.model.id);
    if (cap === undefined) return request;
    return { ...request, maxOutputTokens: Math.min(request.maxOutputTokens ?? usual ?? cap, cap) };
  }

  /** Whether the refusal names a limit that the same request can be sent with once more. */
  learn(model: string, { status, body, sent }: Refusal): boolean {
    if (status !== 400 && status !== 422) return false;
    const allowed = allowedOutput(errorWords(body));
    const refused = sentLimit(sent);
    const lessons = this.lessons.get(model) ?? 0;
    if (allowed === null || refused === null || refused <= allowed) return false;
    if (lessons >= MOST_LESSONS) return false;
    this.lessons.set(model, lessons + 1);
    this.caps.set(model, allowed);
    return true;
  }
}

/** The fields of all four protocols; they stand before any text of the conversation, or are escaped in it. */
const SENT_LIMIT = /"(?:max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)":(\d+)/;

function sentLimit(sent: string): number | null {
  const found = SENT_LIMIT.exec(sent)?.[1];
  return found === undefined ? null : Number(found);
}

function wording(source: string): Wording {
  return { pattern: caseless(source) };
}
