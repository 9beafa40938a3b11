import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { AgentDefinition } from '../protocol/agent.ts';
import type { EventType, TaskEvent } from '../protocol/event.ts';

/** Complete by type: a new event type does not compile until it stands here. */
const EVENT_TYPES: Readonly<Record<EventType, true>> = {
  'task.created': true,
  'task.claimed': true,
  'task.started': true,
  'input.queued': true,
  'turn.started': true,
  'turn.accepted': true,
  'turn.retried': true,
  'turn.ended': true,
  'turn.failed': true,
  'call.started': true,
  'call.ended': true,
  'call.refused': true,
  'child.created': true,
  'child.ended': true,
  'todos.set': true,
  'limit.reached': true,
  warning: true,
  'task.ended': true,
};

export function isEventType(text: string): text is EventType {
  return Object.hasOwn(EVENT_TYPES, text);
}

/** What a log from before agent types, or without one, is taken to have run. */
const DEFAULT_AGENT: AgentDefinition = {
  name: 'general-purpose',
  aliases: [],
  description: '',
  prompt: '',
  tools: { mode: 'all', names: [] },
  disallowedTools: [],
  permissionMode: null,
  mode: null,
  limits: {},
  origin: { scope: 'builtin', vendor: 'muster', path: 'builtin:general-purpose' },
  extra: {},
  problems: [],
};

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isStamped(value: JsonObject, task: string): boolean {
  return (
    isCount(value['v']) &&
    isCount(value['seq']) &&
    typeof value['ts'] === 'number' &&
    value['task'] === task &&
    isCount(value['epoch'])
  );
}

function isSpec(spec: unknown, task: string): boolean {
  return (
    isJsonObject(spec) &&
    spec['id'] === task &&
    typeof spec['root'] === 'string' &&
    isCount(spec['depth']) &&
    typeof spec['description'] === 'string' &&
    typeof spec['cwd'] === 'string' &&
    isJsonObject(spec['model'])
  );
}

/** A created event in today's form: one without an agent type ran `general-purpose`. */
export function upgradeEvent(value: unknown): unknown {
  if (!isJsonObject(value) || value['type'] !== 'task.created') return value;
  const { spec } = value;
  if (!isJsonObject(spec)) return value;
  const { agent } = spec;
  if (isJsonObject(agent) && typeof agent['name'] === 'string' && agent['name'] !== '') {
    return value;
  }
  const known = isJsonObject(agent) ? agent : {};
  return {
    ...value,
    spec: { ...spec, agent: { ...DEFAULT_AGENT, ...known, name: DEFAULT_AGENT.name } },
  };
}

/**
 * Whether a parsed line is an event of this task's log. Its stamp and what listings need are looked
 * at; the rest was written by the type, and a whole line of JSON is taken as it was written.
 */
export function isTaskEvent(value: unknown, task: string): value is TaskEvent {
  if (!isJsonObject(value) || !isStamped(value, task)) return false;
  const { type } = value;
  if (typeof type !== 'string' || !isEventType(type)) return false;
  if (type === 'task.created') return isSpec(value['spec'], task);
  if (type === 'turn.ended') return isJsonObject(value['usage']) && isJsonObject(value['message']);
  if (type === 'task.ended') return isJsonObject(value['end']);
  return true;
}
