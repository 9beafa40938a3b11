import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { isQuotedItemList } from '../../protocol/quoted-item.ts';
import type { EventType } from '../../protocol/events/event.ts';
import { isArrayOf, isStringArray } from './validate-terms.ts';

type FieldType = 'text' | 'texts' | 'number' | 'object' | 'list';

const CALL = { callId: 'text', tool: 'text' } as const;

/** The fields that readers rely on, in every version of logs. */
const REQUIRED_FIELDS: Partial<Readonly<Record<EventType, Readonly<Record<string, FieldType>>>>> = {
  'task.held': { because: 'text' },
  'task.resumed': { by: 'text' },
  'input.queued': { input: 'object' },
  'input.withdrawn': { ids: 'texts' },
  'turn.started': { turn: 'number', inputs: 'texts', model: 'text' },
  'turn.interrupted': { input: 'text', because: 'text' },
  'turn.retried': { failure: 'object' },
  'turn.failed': { failure: 'object' },
  'turn.ended': { turn: 'number', message: 'object', model: 'text' },
  'call.started': CALL,
  'call.ended': { ...CALL, text: 'text', facts: 'object' },
  'call.refused': { ...CALL, text: 'text' },
  'child.created': { child: 'text', callId: 'text' },
  'child.resumed': { child: 'text', callId: 'text' },
  'child.detached': { child: 'text' },
  'child.ended': { child: 'text', status: 'text' },
  'shell.started': { shell: 'text', command: 'text' },
  'shell.ended': { shell: 'text', end: 'text' },
  'question.answered': { question: 'text', callId: 'text', answer: 'object' },
  'task.parked': { questions: 'texts' },
  'limit.reached': { limit: 'text', value: 'number', used: 'number' },
  'task.ended': { end: 'object', result: 'text' },
  'todos.set': { items: 'list' },
  'reuse.missed': { key: 'text' },
  'summary.started': { ask: 'text' },
  'summary.refused': { message: 'object' },
  'context.handed': { text: 'text' },
  notified: { message: 'text' },
  warning: { message: 'text' },
};

/** Checks whether an event has the fields that readers rely on without a check. A log may come from anywhere. */
export function hasRequiredFields(event: JsonObject, type: EventType): boolean {
  const fields = Object.entries(REQUIRED_FIELDS[type] ?? {});
  if (!fields.every(([name, fieldType]) => hasType(event[name], fieldType))) return false;
  if (type === 'input.queued') return isInput(event['input']);
  return type !== 'turn.ended' || isMessage(event['message']);
}

function hasType(value: unknown, type: FieldType): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number';
    case 'object':
      return isJsonObject(value);
    case 'list':
      return Array.isArray(value);
    case 'texts':
      return isStringArray(value);
    default:
      return type satisfies never;
  }
}

function isInput(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    ['id', 'kind', 'from', 'text'].every((name) => typeof value[name] === 'string') &&
    (value['enclosed'] === undefined || isQuotedItemList(value['enclosed']))
  );
}

function isMessage(value: unknown): boolean {
  return isJsonObject(value) && isArrayOf(value['content'], isPart);
}

function isPart(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  if (value['type'] === 'text') return typeof value['text'] === 'string';
  if (value['type'] !== 'tool_call') return typeof value['type'] === 'string';
  const { id, name, input } = value;
  return typeof id === 'string' && typeof name === 'string' && input !== undefined;
}
