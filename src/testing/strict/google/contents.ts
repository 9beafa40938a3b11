import { createWellFormedTextRule, type StrictRule } from '../rule.ts';
import { listNames } from '../../../base/text.ts';
import { isJsonObject } from '../../../base/json.ts';
import { readObject, readString } from '../../wire/read-json.ts';
import { locateObjects } from '../read.ts';
import { readFunction, type GoogleRequest } from './request.ts';

/** The fields of a part that contain data. The other fields only describe the data. */
const DATA_FIELDS = listNames(`
  text inlineData fileData functionCall functionResponse executableCode codeExecutionResult
`);

export const FUNCTION_NAME_PATTERN = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
export const INVALID_NAME_MESSAGE =
  'Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.';

/** Matches the accepted media types: https://ai.google.dev/gemini-api/docs/image-understanding#supported-formats. */
const MEDIA_TYPES =
  /^(image\/(png|jpeg|webp|heic|heif)|application\/pdf|text\/.+|audio\/.+|video\/.+)$/;

/** The rules for contents and their parts. */
export const GOOGLE_CONTENT_RULES: readonly StrictRule<GoogleRequest>[] = [
  {
    id: 'google/contents-present',
    requirement: 'There is at least one content.',
    source: 'https://ai.google.dev/api/generate-content',
    *find({ contents }) {
      if (contents.length > 0) return;
      const message = '* GenerateContentRequest.contents: contents is not specified\n';
      yield { path: 'contents', message };
    },
  },
  {
    id: 'google/known-role',
    requirement: 'The role of a content is user or model.',
    source: 'https://ai.google.dev/api/caching#Content',
    *find({ contents }) {
      for (const { path, role } of contents) {
        if (role === 'user' || role === 'model') continue;
        yield { path: `${path}.role`, message: 'Please use a valid role: user, model.' };
      }
    },
  },
  {
    id: 'google/first-content-of-user',
    requirement: 'The first content is a user content.',
    source: 'https://github.com/google-gemini/gemini-cli/issues/11814',
    *find({ contents }) {
      if (contents[0]?.role !== 'model') return;
      const message = "First content should be with role 'user', got model";
      yield { path: 'contents[0].role', message };
    },
  },
  {
    id: 'google/last-content-of-user',
    requirement: 'The last content is a user content.',
    source: 'https://github.com/crewAIInc/crewAI/pull/6973',
    *find({ contents }) {
      const last = contents.at(-1);
      if (last?.role !== 'model') return;
      const message =
        'Please ensure that multiturn requests end with a user role or a function response.';
      yield { path: `${last.path}.role`, message };
    },
  },
  {
    id: 'google/parts-present',
    requirement: 'A content has at least one part.',
    source: 'https://github.com/egoist/chatwise-releases/issues/250',
    *find({ contents }) {
      for (const { path, parts } of contents) {
        if (parts.length > 0) continue;
        const message = `* GenerateContentRequest.${path}.parts: contents.parts must not be empty.\n`;
        yield { path: `${path}.parts`, message };
      }
    },
  },
  {
    id: 'google/part-has-data',
    requirement: 'A part has one kind of data, and a text is not empty unless it has a signature.',
    source: 'https://github.com/router-for-me/CLIProxyAPI/issues/1292',
    *find({ body, contents }) {
      const { parts } = readObject(body['systemInstruction']);
      const all = [
        ...locateObjects(parts, (at) => `system_instruction.parts[${at}]`),
        ...contents.flatMap((content) => content.parts),
      ];
      for (const { path, value } of all) {
        const dataFields = DATA_FIELDS.filter((key) => value[key] !== undefined);
        const isEmptyText = value['text'] === '' && value['thoughtSignature'] === undefined;
        if (dataFields.length === 1 && !isEmptyText) continue;
        const message =
          dataFields.length > 1
            ? `Invalid value at '${path}' (oneof), oneof field 'data' is already set. Cannot set '${dataFields[1]}'`
            : `* GenerateContentRequest.${path}.data: required oneof field 'data' must have one initialized field\n`;
        yield { path, message };
      }
    },
  },
  {
    id: 'google/media-type',
    requirement: 'Inline data has a media type that Gemini accepts. It does not accept GIF.',
    source: 'https://github.com/microsoft/vscode/issues/286628',
    *find({ contents }) {
      for (const { path, parts } of contents) {
        const inner = parts.flatMap((part) =>
          locateObjects(
            readFunction(part)['parts'],
            (at) => `${part.path}.function_response.parts[${at}]`,
          ),
        );
        for (const part of [...parts, ...inner]) {
          const data = part.value['inlineData'];
          if (!isJsonObject(data)) continue;
          const type = readString(data['mimeType']);
          if (MEDIA_TYPES.test(type)) continue;
          yield { path: part.path || path, message: `Unsupported MIME type: ${type}` };
        }
      }
    },
  },
  createWellFormedTextRule(
    'google',
    'https://protobuf.dev/programming-guides/json/',
    'Invalid JSON payload received. Invalid UTF-8 in string.',
  ),
];
