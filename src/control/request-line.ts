import { type ControlRequest, checkVersion, CONTROL_VERSION } from './protocol.ts';
import { MusterError } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { truncate } from '../base/text.ts';
import { decodeLine } from './line-buffer.ts';

type Operation = ControlRequest['op'];

/** The type of a field's value. A `?` means that the field may be missing. */
type FieldKind = 'text' | 'text?' | 'count?';

/** The fields of each operation in addition to `v`, `op` and `task`. */
const FIELDS: Readonly<Record<Operation, Readonly<Record<string, FieldKind>>>> = {
  stop: { because: 'text?' },
  send: { message: 'text' },
  resume: { prompt: 'text?', model: 'text?', max_turns: 'count?' },
  background: {},
  answer: { question: 'text', answer: 'text', scope: 'text?', reason: 'text?', plan: 'text?' },
};

const COMMON_FIELDS = ['v', 'op', 'task'];

/** Matches the full id of a task, or the beginning of an id. */
const TASK_ID = /^[a-z0-9]{1,32}$/;

/** Encodes a request as one line of JSON with its newline. */
export function encodeRequest(request: ControlRequest): string {
  return `${JSON.stringify({ v: CONTROL_VERSION, ...request })}\n`;
}

/**
 * Decodes a request line strictly, so that a misspelled field is an error. Throws `CONFLICT` for another version, and
 * `INVALID_PARAM` with the name of the field for any other mistake.
 */
export function decodeRequest(line: Buffer): ControlRequest {
  const value = parseJsonLine(decodeLine(line) ?? '');
  if (!isJsonObject(value))
    throw createInvalidError('the request is not a JSON object in UTF-8 on one line');
  checkVersion(value['v'], 'client');
  const op = readOperation(value);
  refuseUnknownFields(op, value);
  checkTask(value['task']);
  for (const [name, kind] of Object.entries(FIELDS[op])) checkField(name, kind, value[name]);
  const { v: _, ...request } = value;
  // All fields of the operation have been checked, and there are no other fields.
  return request as unknown as ControlRequest;
}

function readOperation(value: JsonObject): Operation {
  const op = value['op'];
  if (isOperation(op)) return op;
  throw createInvalidError(
    `op: ${formatValue(op)} is not an operation; valid: ${Object.keys(FIELDS).join(', ')}`,
  );
}

function isOperation(value: unknown): value is Operation {
  return typeof value === 'string' && Object.hasOwn(FIELDS, value);
}

function refuseUnknownFields(op: Operation, value: JsonObject): void {
  const known = [...COMMON_FIELDS, ...Object.keys(FIELDS[op])];
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw createInvalidError(
    `${formatValue(unknown)} is not a field of ${op}; valid: ${known.join(', ')}`,
  );
}

function checkTask(task: unknown): void {
  if (typeof task === 'string' && TASK_ID.test(task)) return;
  throw createInvalidError(
    `task: ${formatValue(task)} is not a task id or the beginning of one; valid: 1 to 32 characters of a-z and 0-9`,
  );
}

function checkField(name: string, kind: FieldKind, value: unknown): void {
  if (value === undefined) {
    if (kind === 'text') throw createInvalidError(`${name}: is missing`);
    return;
  }
  if (kind === 'count?') {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return;
    throw createInvalidError(`${name}: must be a whole number from 1, not ${formatValue(value)}`);
  }
  if (typeof value === 'string' && value.trim() !== '') return;
  throw createInvalidError(`${name}: must be a text that is not empty, not ${formatValue(value)}`);
}

const MAX_SHOWN_LENGTH = 60;

/** Returns a short form of a value for a message, because an object may have any size and depth. */
function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'a list' : 'an object';
  return JSON.stringify(typeof value === 'string' ? truncate(value, MAX_SHOWN_LENGTH) : value);
}

function createInvalidError(message: string): MusterError {
  return new MusterError('INVALID_PARAM', message);
}
