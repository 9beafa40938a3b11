import type { JsonObject } from '../../base/json.ts';
import type { Usage } from '../../protocol/model.ts';
import type { ParsedBody } from '../wire-request.ts';
import { sse, type Frame, type PreparedAnswer } from './codec.ts';
import { parseOrKeep } from './read-json.ts';

/**
 * https://ai.google.dev/api/generate-content. Each event is a whole response with the next parts;
 * a call comes in one part. One that is cut or broken never comes: the finish reason tells of it.
 */
export function* googleFrames(answer: PreparedAnswer, request: ParsedBody): Generator<Frame> {
  const chunk = (parts: readonly JsonObject[]): Frame => ({
    stage: 'content',
    piece: true,
    text: sse(
      googleResponse(answer, request, {
        candidate: { content: { parts, role: 'model' }, index: 0 },
        usage: promptUsage(answer.usage),
      }),
    ),
  });
  for (const text of answer.thinking ?? []) yield chunk([{ text, thought: true }]);
  for (const text of answer.text ?? []) yield chunk([{ text }]);
  for (const part of callParts(answer)) yield chunk([part]);
  const lastParts = hasContent(answer) ? [{ text: '' }] : undefined;
  const last = googleResponse(answer, request, {
    candidate: lastCandidate(answer, lastParts),
    usage: googleUsage(answer.usage),
  });
  yield { stage: 'close', text: sse(last), usage: true };
}

export function googleWhole(answer: PreparedAnswer, request: ParsedBody): JsonObject {
  const parts: JsonObject[] = [];
  if (answer.thinking !== null) parts.push({ text: [...answer.thinking].join(''), thought: true });
  if (answer.text !== null) parts.push({ text: [...answer.text].join('') });
  parts.push(...callParts(answer));
  return googleResponse(answer, request, {
    candidate: lastCandidate(answer, parts),
    usage: googleUsage(answer.usage),
  });
}

/** The first call carries the signature that has to come back with it. */
function callParts(answer: PreparedAnswer): readonly JsonObject[] {
  const calls = answer.calls.filter((call) => call.state === 'whole');
  const thoughtSignature = btoa(`sig_${answer.id}`);
  return calls.map(({ name, args, id }, index) => {
    const functionCall = { name, args: parseOrKeep(args), id };
    return index === 0 ? { functionCall, thoughtSignature } : { functionCall };
  });
}

function hasContent(answer: PreparedAnswer): boolean {
  return answer.thinking !== null || answer.text !== null || answer.calls.length > 0;
}

const FINISH_REASONS = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
} as const;

function lastCandidate(
  answer: PreparedAnswer,
  parts: readonly JsonObject[] | undefined,
): JsonObject {
  const content = parts === undefined ? { role: 'model' } : { parts, role: 'model' };
  const broken = answer.calls.find((call) => call.state === 'broken');
  if (broken === undefined) {
    return { content, finishReason: FINISH_REASONS[answer.stop], index: 0 };
  }
  const finishMessage = `Malformed function call: ${broken.name}(${broken.args}`;
  return { content, finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage, index: 0 };
}

function googleResponse(
  answer: PreparedAnswer,
  request: ParsedBody,
  { candidate, usage }: { readonly candidate: JsonObject; readonly usage: JsonObject },
): JsonObject {
  return {
    candidates: [candidate],
    usageMetadata: usage,
    modelVersion: request.model,
    responseId: answer.id,
  };
}

function promptTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite;
}

function promptUsage(usage: Usage): JsonObject {
  return { promptTokenCount: promptTokens(usage), totalTokenCount: promptTokens(usage) };
}

function googleUsage(usage: Usage): JsonObject {
  return {
    promptTokenCount: promptTokens(usage),
    candidatesTokenCount: usage.output - usage.reasoning,
    totalTokenCount: promptTokens(usage) + usage.output,
    ...(usage.cacheRead > 0 ? { cachedContentTokenCount: usage.cacheRead } : {}),
    ...(usage.reasoning > 0 ? { thoughtsTokenCount: usage.reasoning } : {}),
  };
}

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

export function googleError(status: number, message: string): JsonObject {
  return { error: { code: status, message, status: STATUSES[status] ?? 'INTERNAL' } };
}

export function googleOverloaded(): string {
  return sse(googleError(503, 'The model is overloaded. Please try again later.'));
}
