import { listNames } from '../../../base/text.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { asNumber, asObject, asText } from './json-fields.ts';

/** The fields for parts of an answer. An event with content in one of these fields is not a plain error. */
const ANSWER_FIELDS = listNames(`
  choices candidates content content_block delta item output part response text usage
  usageMetadata promptFeedback
`);

/** The fields in which a progress report names its kind. Some progress reports otherwise look like errors. */
const KIND_FIELDS = ['type', 'event', 'status', 'level', 'object'];
const PROGRESS =
  /ping|keep.?alive|heartbeat|progress|process|queue|pending|running|start|info|debug|^log|^ok$|success/i;

/** Finds the error that an event or a response of any protocol reports; undefined: it reports no error. */
export function findReportedError(event: JsonObject): JsonObject | undefined {
  const { error } = event;
  if (isJsonObject(error) && !isBlank(error)) return error;
  if (typeof error === 'string' && error !== '') return { message: error, ...event };
  // In errors of Mistral and vLLM, the fields of the error are next to `object`.
  if (event['object'] === 'error') return event;
  // MiniMax: https://platform.minimax.io/docs/api-reference/errorcode
  const status = asObject(event['base_resp']);
  return (asNumber(status?.['status_code']) ?? 0) === 0 ? undefined : status;
}

/** Finds the error that an event reports, even if only the name of the event or its plain fields show that it is an error. */
export function findEventError(event: JsonObject, name: string | null): JsonObject | undefined {
  const error = findReportedError(event);
  if (error !== undefined) return error;
  if (ANSWER_FIELDS.some((field) => hasContent(event[field]))) return undefined;
  if (isErrorName(name) || isErrorName(asText(event['type']) ?? null)) return event;
  const isProgress =
    PROGRESS.test(name ?? '') ||
    KIND_FIELDS.some((field) => PROGRESS.test(asText(event[field]) ?? ''));
  return isPlainError(event) && !isProgress ? event : undefined;
}

/** Returns the document if it contains the status of an error, or else undefined. */
export function findDocumentError(document: JsonObject): JsonObject | undefined {
  return (findCode(document) ?? 0) >= 400 ? document : undefined;
}

/** Returns true if an event has the fields of an error: a code from 400 on, or a message without a code. */
function isPlainError(event: JsonObject): boolean {
  const code = findCode(event);
  if (code !== undefined) return code >= 400;
  return asText(event['message']) !== undefined || hasContent(event['detail']);
}

function findCode(event: JsonObject): number | undefined {
  return asNumber(event['code']) ?? asNumber(event['status_code']) ?? asNumber(event['status']);
}

function isErrorName(name: string | null): boolean {
  return name !== null && /(?:^|[._-])error$/i.test(name);
}

function hasContent(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** Returns true if an error object has no content: some servers put an empty error into every event. */
function isBlank(error: JsonObject): boolean {
  return Object.values(error).every((value) =>
    isJsonObject(value) ? isBlank(value) : !value || value === '0',
  );
}
