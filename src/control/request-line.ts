import { type ControlRequest, checkVersion, CONTROL_VERSION } from './protocol.ts';
import { MusterError } from '../base/errors.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { parseJsonLine } from '../base/jsonl.ts';
import { truncate } from '../base/text.ts';
import { lineText } from './line-buffer.ts';

type Operation = ControlRequest['op'];

/** The fields of each operation besides `v`, `op` and `task`. */
const FIELDS: Readonly<Record<Operation, readonly string[]>> = {
  stop: ['because'],
  send: ['message'],
  resume: ['prompt', 'model', 'max_turns'],
  background: [],
  answer: ['question', 'answer', 'scope', 'reason', 'plan'],
};

const COMMON_FIELDS = ['v', 'op', 'task'];

/** A full id, or the beginning of one. */
const TASK = /^[a-z0-9]{1,32}$/;

/** Encodes a request as one line of JSON with its newline. */
export function encodeRequest(request: ControlRequest): string {
  return `${JSON.stringify({ v: CONTROL_VERSION, ...request })}\n`;
}

/**
 * Decodes a request line strictly, so that a misspelt field is an error. Throws `CONFLICT` for another version, and
 * `INVALID_PARAM` that names the field for any other mistake.
 */
export function decodeRequest(line: Buffer): ControlRequest {
  const value = parseJsonLine(lineText(line) ?? '');
  if (!isJsonObject(value)) throw invalid('the request is not a JSON object in UTF-8 on one line');
  checkVersion(value['v'], 'client');
  const op = operation(value);
  refuseUnknownFields(op, value);
  const task = taskField(value);
  switch (op) {
    case 'stop': {
      const because = optionalText(value, 'because');
      return { op, task, ...(because === undefined ? {} : { because }) };
    }
    case 'send':
      return { op, task, message: requiredText(value, 'message') };
    case 'resume':
      return { op, task, ...resumeFields(value) };
    case 'background':
      return { op, task };
    case 'answer':
      return { op, task, ...answerFields(value) };
  }
}

function resumeFields(value: JsonObject): { prompt?: string; model?: string; max_turns?: number } {
  const prompt = optionalText(value, 'prompt');
  const model = optionalText(value, 'model');
  const maxTurns = optionalCount(value, 'max_turns');
  return {
    ...(prompt === undefined ? {} : { prompt }),
    ...(model === undefined ? {} : { model }),
    ...(maxTurns === undefined ? {} : { max_turns: maxTurns }),
  };
}

function answerFields(value: JsonObject) {
  const scope = optionalText(value, 'scope');
  const reason = optionalText(value, 'reason');
  const plan = optionalText(value, 'plan');
  return {
    question: requiredText(value, 'question'),
    answer: requiredText(value, 'answer'),
    ...(scope === undefined ? {} : { scope }),
    ...(reason === undefined ? {} : { reason }),
    ...(plan === undefined ? {} : { plan }),
  };
}

function operation(value: JsonObject): Operation {
  const op = value['op'];
  if (isOperation(op)) return op;
  throw invalid(`op: ${shown(op)} is none; valid are ${Object.keys(FIELDS).join(', ')}`);
}

function isOperation(value: unknown): value is Operation {
  return typeof value === 'string' && Object.hasOwn(FIELDS, value);
}

function refuseUnknownFields(op: Operation, value: JsonObject): void {
  const known = [...COMMON_FIELDS, ...FIELDS[op]];
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw invalid(`${shown(unknown)} is no field of ${op}; valid are ${known.join(', ')}`);
}

function taskField(value: JsonObject): string {
  const task = value['task'];
  if (typeof task === 'string' && TASK.test(task)) return task;
  throw invalid(
    `task: ${shown(task)} is no task id or beginning of one: 1 to 32 characters of a-z and 0-9`,
  );
}

function requiredText(value: JsonObject, name: string): string {
  const text = optionalText(value, name);
  if (text === undefined) throw invalid(`${name}: is missing`);
  return text;
}

function optionalText(value: JsonObject, name: string): string | undefined {
  const text = value[name];
  if (text === undefined) return undefined;
  if (typeof text === 'string' && text.trim() !== '') return text;
  throw invalid(`${name}: must be a text that is not empty, not ${shown(text)}`);
}

function optionalCount(value: JsonObject, name: string): number | undefined {
  const count = value[name];
  if (count === undefined) return undefined;
  if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) return count;
  throw invalid(`${name}: must be a whole number from 1, not ${shown(count)}`);
}

const SHOWN = 60;

/** Returns a short form of a value for a message, because an object may have any size and depth. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'a list' : 'an object';
  return JSON.stringify(typeof value === 'string' ? truncate(value, SHOWN) : value);
}

function invalid(message: string): MusterError {
  return new MusterError('INVALID_PARAM', message);
}
