import type { JsonObject } from '../../base/json.ts';
import type { Usage } from '../../protocol/model.ts';
import type { ParsedBody } from '../wire-request.ts';
import { formatServerEvent, type Frame, type PreparedAnswer } from './codec.ts';
import { parseOrKeep } from './read-json.ts';

/**
 * Writes a stream of https://ai.google.dev/api/generate-content. Each event is a complete response with the
 * next parts, and a call is one part. A cut or broken call is never sent; the finish reason reports it.
 */
export function* writeGoogleFrames(answer: PreparedAnswer, request: ParsedBody): Generator<Frame> {
  const chunk = (part: JsonObject): Frame => {
    const candidate = { content: { parts: [part], role: 'model' }, index: 0 };
    const response = createResponse(answer, request, candidate, createPromptUsage(answer.usage));
    return { stage: 'content', piece: true, text: formatServerEvent(response) };
  };
  for (const text of answer.thinking ?? []) yield chunk({ text, thought: true });
  for (const text of answer.text ?? []) yield chunk({ text });
  for (const part of createCallParts(answer)) yield chunk(part);
  const lastParts = hasContent(answer) ? [{ text: '' }] : undefined;
  yield {
    stage: 'close',
    text: formatServerEvent(createLastResponse(answer, request, lastParts)),
    usage: true,
  };
}

export function writeGoogleBody(answer: PreparedAnswer, request: ParsedBody): JsonObject {
  const parts: JsonObject[] = [];
  if (answer.thinking !== null) parts.push({ text: [...answer.thinking].join(''), thought: true });
  if (answer.text !== null) parts.push({ text: [...answer.text].join('') });
  parts.push(...createCallParts(answer));
  return createLastResponse(answer, request, parts);
}

/** Creates the parts for the calls. The first part has a signature, which must be sent back with it. */
function createCallParts(answer: PreparedAnswer): readonly JsonObject[] {
  const calls = answer.calls.filter((call) => call.state === 'complete');
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

function createLastResponse(
  answer: PreparedAnswer,
  request: ParsedBody,
  parts: readonly JsonObject[] | undefined,
): JsonObject {
  const content = parts === undefined ? { role: 'model' } : { parts, role: 'model' };
  const broken = answer.calls.find((call) => call.state === 'broken');
  const ending =
    broken === undefined
      ? { finishReason: FINISH_REASONS[answer.stop] }
      : {
          finishReason: 'MALFORMED_FUNCTION_CALL',
          finishMessage: `Malformed function call: ${broken.name}(${broken.args}`,
        };
  return createResponse(
    answer,
    request,
    { content, ...ending, ...createGrounding(answer), index: 0 },
    createGoogleUsage(answer.usage),
  );
}

/** Creates the metadata of https://ai.google.dev/gemini-api/docs/google-search. */
function createGrounding({ search }: PreparedAnswer): JsonObject {
  if (search === null) return {};
  const groundingChunks = search.pages.map(({ url, title }) => ({ web: { uri: url, title } }));
  return { groundingMetadata: { webSearchQueries: [search.query], groundingChunks } };
}

function createResponse(
  answer: PreparedAnswer,
  request: ParsedBody,
  candidate: JsonObject,
  usageMetadata: JsonObject,
): JsonObject {
  const { model: modelVersion } = request;
  return { candidates: [candidate], usageMetadata, modelVersion, responseId: answer.id };
}

function countPromptTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite;
}

function createPromptUsage(usage: Usage): JsonObject {
  return { promptTokenCount: countPromptTokens(usage), totalTokenCount: countPromptTokens(usage) };
}

function createGoogleUsage(usage: Usage): JsonObject {
  return {
    promptTokenCount: countPromptTokens(usage),
    candidatesTokenCount: usage.output - usage.reasoning,
    totalTokenCount: countPromptTokens(usage) + usage.output,
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

export function createGoogleError(status: number, message: string): JsonObject {
  return { error: { code: status, message, status: STATUSES[status] ?? 'INTERNAL' } };
}
