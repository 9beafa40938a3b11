import { listNames } from '../../../base/text.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { asNumber, asObject, asText } from './json-fields.ts';

/** The fields for parts of an answer. An event with one of them is no plain error. */
const ANSWER_FIELDS = listNames(`
  choices candidates content content_block delta item output part response text usage
  usageMetadata promptFeedback
`);

/** The fields that distinguish a progress report from an error. */
const KIND_FIELDS = ['type', 'event', 'status', 'level', 'object'];
const PROGRESS =
  /ping|keep.?alive|heartbeat|progress|process|queue|pending|running|start|info|debug|^log|^ok$|success/i;

/** Finds the error that an event or a response of any protocol reports; undefined: none. */
export function findReportedError(event: JsonObject): JsonObject | undefined {
  const { error } = event;
  if (isJsonObject(error) && !isBlank(error)) return error;
  if (typeof error === 'string' && error !== '') return { message: error, ...event };
  // Mistral and vLLM put the fields of an error next to `object`.
  if (event['object'] === 'error') return event;
  // MiniMax: https://platform.minimax.io/docs/api-reference/errorcode
  const base = asObject(event['base_resp']);
  return (asNumber(base?.['status_code']) ?? 0) === 0 ? undefined : base;
}

/** Finds the error that an event reports, also if only its name or its plain fields say so. */
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

/** Returns the document if its status says that it is an error. */
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

/** Returns true if an error object is empty: some servers put one into every event. */
function isBlank(error: JsonObject): boolean {
  return Object.values(error).every((value) =>
    isJsonObject(value) ? isBlank(value) : !value || value === '0',
  );
}
