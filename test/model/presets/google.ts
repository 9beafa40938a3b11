import type { JsonObject } from '../../../src/base/json.ts';
import {
  data,
  efforts,
  OUTPUT_LIMIT,
  PARAMETERS,
  PATHS,
  QUESTION,
  RESULTS,
  thought,
  turnAnswers,
  usage,
  type ProviderWire,
} from './wire.ts';

// Sources: https://ai.google.dev/api/generate-content, …/gemini-api/docs/thought-signatures,
// …/gemini-api/docs/troubleshooting, https://google.aip.dev/193

const MODEL = 'gemini-3.8-flash';
const IDS = ['call_0', 'call_1'] as const;
const SIGNATURE = 'CiQBVKhc7vB8';
const USED = {
  promptTokenCount: 1200,
  candidatesTokenCount: 30,
  thoughtsTokenCount: 25,
  cachedContentTokenCount: 1000,
  totalTokenCount: 1255,
  promptTokensDetails: [{ modality: 'TEXT', tokenCount: 1200 }],
};
const READ = usage(200, 55, { cacheRead: 1000, reasoning: 25 });
const chunk = (parts: readonly JsonObject[], more: JsonObject = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
  usageMetadata: USED,
  modelVersion: MODEL,
  responseId: 'hHhsaeC5DtDjz7IP6e2a4Aw',
});
const error = (
  code: number,
  message: string,
  status: string,
  details: readonly JsonObject[] = [],
) => ({
  error: { code, message, status, ...(details.length === 0 ? {} : { details }) },
});

const toCall = (path: string, index: number) => ({
  functionCall: { id: IDS[index] ?? '', name: 'Read', args: { path } },
  ...(index === 0 ? { thoughtSignature: SIGNATURE } : {}),
});
const first = [{ role: 'user', parts: [{ text: QUESTION }] }];
const second = [
  ...first,
  {
    role: 'model',
    // A summary of thoughts is not sent back, but only their signature.
    parts: PATHS.map(toCall),
  },
  {
    role: 'user',
    parts: RESULTS.map((content, index) => ({
      functionResponse: { id: IDS[index] ?? '', name: 'Read', response: { name: 'Read', content } },
    })),
  },
];
const body = (contents: readonly JsonObject[]): JsonObject => ({
  generationConfig: {
    maxOutputTokens: OUTPUT_LIMIT,
    thinkingConfig: { thinkingLevel: 'high' },
  },
  contents,
  systemInstruction: { parts: [{ text: 'You are Muster.' }, { text: 'Task: look around' }] },
  tools: [
    {
      functionDeclarations: [
        { name: 'Read', description: 'Reads.', parametersJsonSchema: PARAMETERS },
        {
          name: 'Glob',
          description: 'Finds.',
          parametersJsonSchema: { type: 'object', properties: {} },
        },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
});
const answers = turnAnswers({
  ids: IDS,
  thoughts: [thought('Both files.')],
  callMeta: [{ google: { thoughtSignature: SIGNATURE } }, {}],
  bodies: [
    data(
      [
        chunk([{ text: 'Both files.', thought: true }]),
        chunk([
          { functionCall: { name: 'Read', args: { path: 'a.ts' } }, thoughtSignature: SIGNATURE },
          { functionCall: { name: 'Read', args: { path: 'b.ts' } } },
        ]),
        chunk([{ text: '' }], { finishReason: 'STOP' }),
      ],
      { isDone: false },
    ),
    data(
      [chunk([{ text: 'One constant' }]), chunk([{ text: ' each.' }], { finishReason: 'STOP' })],
      { isDone: false },
    ),
  ],
  usages: [READ, READ],
  servedBy: MODEL,
});

export const wire: ProviderWire = {
  key: { variable: 'GEMINI_API_KEY', prefix: 'AIzaSy' },
  model: MODEL,
  url: `https://generativelanguage.googleapis.com/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`,
  headers: { 'x-goog-api-key': 'KEY' },
  turns: [
    { body: body(first), answer: answers[0] },
    { body: body(second), answer: answers[1] },
  ],
  recordings: {},
  efforts: {
    [MODEL]: efforts('low low low medium high high high', (thinkingLevel) => ({
      generationConfig: { maxOutputTokens: OUTPUT_LIMIT, thinkingConfig: { thinkingLevel } },
    })),
  },
  errors: [
    {
      name: 'a wrong key, with HTTP 400',
      status: 400,
      body: error(400, 'API key not valid. Please pass a valid API key.', 'INVALID_ARGUMENT', [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'API_KEY_INVALID',
          domain: 'googleapis.com',
          metadata: { service: 'generativelanguage.googleapis.com' },
        },
      ]),
      kind: 'auth',
    },
    {
      name: 'an unknown model',
      status: 404,
      body: error(
        404,
        'models/gemini-nope is not found for API version v1beta, or is not supported for generateContent.',
        'NOT_FOUND',
      ),
      kind: 'not_found',
    },
    {
      name: 'a rate limit, with the wait in the body',
      status: 429,
      body: error(
        429,
        'You exceeded your current quota, please check your plan and billing details. Please retry in 36.6s.',
        'RESOURCE_EXHAUSTED',
        [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '36s' }],
      ),
      kind: 'rate_limit',
      isTransient: true,
      retryAfterMs: 36_000,
    },
    {
      name: 'a conversation that is too long',
      status: 400,
      body: error(
        400,
        'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).',
        'INVALID_ARGUMENT',
      ),
      kind: 'context_overflow',
    },
    {
      name: 'an overload',
      status: 503,
      body: error(503, 'The model is overloaded. Please try again later.', 'UNAVAILABLE'),
      kind: 'overloaded',
      isTransient: true,
    },
    {
      name: 'an overload inside the answer',
      body: data([error(503, 'The model is overloaded.', 'UNAVAILABLE')], { isDone: false }),
      kind: 'overloaded',
      isTransient: true,
      statusInside: 503,
      says: 'The model is overloaded.',
    },
  ],
  refusals: [],
};
