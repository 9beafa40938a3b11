import { isJsonObject } from '../../../base/json.ts';
import { readString } from '../../wire/read-json.ts';
import type { Breach, StrictRule } from '../rule.ts';
import { FUNCTION_NAME_PATTERN, INVALID_NAME_MESSAGE } from './contents.ts';
import { readFunction, type Content, type GoogleRequest } from './request.ts';

/** Matches the models that check the signatures of their calls: Gemini 3 and later. */
const SIGNATURE_MODELS = /^gemini-(?:[3-9]|[1-9]\d)/;

/** Matches base64 in both alphabets, with or without padding, as protocol buffers accept it. */
const BASE64 = /^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2,3}={0,2})?$/;

/** The rules for calls of functions and for their responses. */
export const GOOGLE_FUNCTION_RULES: readonly StrictRule<GoogleRequest>[] = [
  {
    id: 'google/call-after-user',
    requirement: 'Calls come directly after a content of the user.',
    source: 'https://github.com/google-gemini/gemini-cli/issues/26486',
    *find({ contents }) {
      for (const { path, index, calls } of contents) {
        // For the first content, the rule `google/first-content-of-user` applies.
        if (calls.length === 0 || index === 0 || contents[index - 1]?.role === 'user') continue;
        const message =
          'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
        yield { path, message };
      }
    },
  },
  {
    id: 'google/response-after-call',
    requirement: 'Responses come directly after the content with their calls.',
    source: 'https://github.com/langchain-ai/langchain/issues/27799',
    *find({ contents }) {
      for (const { path, index, responses } of contents) {
        if (responses.length === 0 || (contents[index - 1]?.calls.length ?? 0) > 0) continue;
        const message =
          'Please ensure that function response turn comes immediately after a function call turn.';
        yield { path, message };
      }
    },
  },
  {
    id: 'google/as-many-responses-as-calls',
    requirement: 'The content after calls contains exactly one response for each of them.',
    source: 'https://github.com/google-gemini/gemini-cli/issues/16415',
    *find({ contents }) {
      for (const { index, calls } of contents) {
        const next = contents[index + 1];
        if (calls.length === 0 || next?.responses.length === calls.length) continue;
        const message =
          'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
        yield { path: next?.path ?? `contents[${index}]`, message };
      }
    },
  },
  {
    id: 'google/function-name-form',
    requirement:
      'The name of a called function begins with a letter or _, and has at most 64 letters, digits and . : _ -.',
    source: 'https://github.com/langflow-ai/langflow/issues/9437',
    *find({ contents }) {
      for (const { calls, responses } of contents) {
        for (const [field, parts] of [
          ['function_call', calls],
          ['function_response', responses],
        ] as const) {
          for (const part of parts) {
            const name = readString(readFunction(part)['name']);
            if (FUNCTION_NAME_PATTERN.test(name)) continue;
            const path = `${part.path}.${field}.name`;
            const wrong = name === '' ? 'Name cannot be empty.' : INVALID_NAME_MESSAGE;
            yield { path, message: `* GenerateContentRequest.${path}: ${wrong}\n` };
          }
        }
      }
    },
  },
  {
    id: 'google/function-data-objects',
    requirement: 'Arguments and responses are objects.',
    source: 'https://ai.google.dev/api/caching#FunctionResponse',
    *find({ contents }) {
      for (const { calls, responses } of contents) {
        for (const part of calls) {
          const { args } = readFunction(part);
          if (args !== undefined && !isJsonObject(args)) {
            yield createStructBreach(`${part.path}.function_call.args`);
          }
        }
        for (const part of responses) {
          if (isJsonObject(readFunction(part)['response'])) continue;
          yield createStructBreach(`${part.path}.function_response.response`);
        }
      }
    },
  },
  {
    id: 'google/signature-base64',
    requirement: 'A signature is in base64.',
    source: 'https://github.com/MayDay-wpf/snow-cli/issues/84',
    *find({ contents }) {
      for (const { path, value } of contents.flatMap(({ parts }) => parts)) {
        const signature = value['thoughtSignature'];
        if (signature === undefined) continue;
        if (typeof signature === 'string' && BASE64.test(signature)) continue;
        const signaturePath = `${path}.thought_signature`;
        const message = `Invalid value at '${signaturePath}' (TYPE_BYTES), Base64 decoding failed for "${readString(signature).slice(0, 100)}"`;
        yield { path: signaturePath, message };
      }
    },
  },
  {
    id: 'google/signature-present',
    requirement:
      'After the last user message, the first call of each answer of Gemini 3 and later has its signature.',
    source: 'https://ai.google.dev/gemini-api/docs/thought-signatures',
    *find({ model, contents }) {
      if (!SIGNATURE_MODELS.test(model)) return;
      const turn = contents.findLastIndex(isMessageOfPerson);
      for (const { calls, index } of contents.slice(turn + 1)) {
        const [first] = calls;
        if (first === undefined || first.value['thoughtSignature'] !== undefined) continue;
        const name = readString(readFunction(first)['name']);
        const message = `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
        yield { path: first.path, message };
      }
    },
  },
];

/** Returns true if a user content contains more than responses of functions: a person wrote it, and a new turn begins. */
function isMessageOfPerson({ role, parts, responses }: Content): boolean {
  return role === 'user' && parts.length > responses.length;
}

function createStructBreach(path: string): Breach {
  const message = `Invalid value at '${path}' (type.googleapis.com/google.protobuf.Struct)`;
  return { path, message };
}
