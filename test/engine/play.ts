import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelScript, ScriptedAnswer, ScriptedCall } from '../scripted-model.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { EventBody, TaskEvent } from '../../src/protocol/events/event.ts';
import type { ToolResultPart } from '../../src/protocol/message.ts';
import type { ModelRequest } from '../../src/protocol/model.ts';
import type { TaskLog, TaskStore } from '../../src/store/task-store.ts';
import type { TestEngine } from './support.ts';

/** The facts for one answer of a scripted model. */
export interface Turn {
  readonly request: ModelRequest;
  /** The results of the newest calls, in the order of the calls. */
  readonly results: readonly ToolResultPart[];
  /** The texts that the task got since its last answer, without results. */
  readonly told: string;
  /** Returns the id of a background task that this task created, counted from 0. */
  child(index: number): string;
}

type Line = ScriptedAnswer | ((turn: Turn) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** The answers of each task in order, by the first word of its prompt. After its last answer a task says `done`. */
export type Play = Readonly<Record<string, readonly Line[]>>;

export function play(parts: Play): ModelScript {
  return async (request) => {
    const name = nameOf(request);
    const answers = request.messages.filter(({ role }) => role === 'assistant').length;
    const line = Object.hasOwn(parts, name) ? parts[name]?.[answers] : undefined;
    if (line === undefined) return { text: 'done' };
    return typeof line === 'function' ? line(turnOf(request)) : line;
  };
}

/** Returns the first word of the prompt of a request's task. */
function nameOf({ messages: [first] }: ModelRequest): string {
  const prompt = first?.role === 'user' ? (first.content[0]?.text ?? '') : '';
  return prompt.split(' ')[0] ?? '';
}

function turnOf(request: ModelRequest): Turn {
  const lastAnswer = request.messages.findLastIndex(({ role }) => role === 'assistant');
  const since = request.messages.slice(lastAnswer + 1);
  return {
    request,
    results: since.flatMap((message) => (message.role === 'tool' ? message.content : [])),
    told: since
      .flatMap((message) => (message.role === 'user' ? message.content : []))
      .map(({ text }) => text)
      .join('\n'),
    child: (index) => childrenIn(request)[index] ?? 'missing',
  };
}

function childrenIn(request: ModelRequest): readonly string[] {
  return request.messages
    .flatMap((message) => (message.role === 'tool' ? message.content : []))
    .flatMap(({ text }) => /^Task ([a-z0-9]+) runs in the background/.exec(text)?.[1] ?? []);
}

export function call(name: string, input: JsonObject): ScriptedCall {
  return { name, input };
}

export function calls(...each: readonly ScriptedCall[]): ScriptedAnswer {
  return { calls: each };
}

export function background(prompt: string): ScriptedCall {
  return call('Task', { prompt, description: prompt, run_in_background: true });
}

export function requestsOf({ model }: TestEngine, name: string): readonly ModelRequest[] {
  return model.requests.filter((each) => nameOf(each) === name);
}

/** Returns all texts in a request except the task's own answers. */
export function textsOf(request: ModelRequest | undefined): readonly string[] {
  return (request?.messages ?? []).flatMap((message) => {
    if (message.role === 'assistant') return [];
    return message.content.map(({ text }) => text);
  });
}

/** Returns the texts of the newest request of a task. */
export function toldTo(test: TestEngine, name: string): readonly string[] {
  return textsOf(requestsOf(test, name).at(-1));
}

type EventOf<T extends EventBody['type']> = Extract<TaskEvent, { type: T }>;

export function eventsOfType<T extends EventBody['type']>(
  test: TestEngine,
  type: T,
  task?: string,
): readonly EventOf<T>[] {
  return test.events.filter(
    (event): event is EventOf<T> =>
      event.type === type && (task === undefined || event.task === task),
  );
}

/** Waits until the condition holds. If it never does, the test reaches its time limit. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(1);
}

/**
 * Makes every log call a hook before it appends or syncs. An error of the hook is thrown in place of the operation.
 */
export function hookLogs(
  store: TaskStore,
  hooks: {
    readonly append?: (task: string, bodies: readonly EventBody[]) => void;
    readonly sync?: (task: string) => Promise<void>;
  },
): void {
  const hooked = (log: TaskLog): TaskLog => ({
    id: log.id,
    epoch: log.epoch,
    opening: log.opening,
    append: (bodies) => {
      hooks.append?.(log.id, bodies);
      return log.append(bodies);
    },
    sync: async () => {
      await hooks.sync?.(log.id);
      await log.sync();
    },
    close: () => log.close(),
  });
  const { create, claim } = store;
  store.create = (spec) => hooked(create.call(store, spec));
  store.claim = (id, visit) => hooked(claim.call(store, id, visit));
}
