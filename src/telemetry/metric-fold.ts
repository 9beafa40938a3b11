import type { TaskEvent } from '../protocol/events/event.ts';
import { modelName, toCount } from '../protocol/model.ts';
import { addToLedger } from '../protocol/state/ledger.ts';
import { steadyTime } from '../protocol/state/steady-time.ts';
import type { Measurement, MetricSpec } from './metric-store.ts';
import type { Attributes, SpanRecord } from './span-record.ts';
import { countInputTokens, splitModelName, toSpanName } from './span-texts.ts';

const TOKENS: MetricSpec = {
  name: 'gen_ai.client.token.usage',
  description: 'Number of input and output tokens used.',
  unit: '{token}',
  kind: 'histogram',
  bounds: Array.from({ length: 14 }, (_, power) => 4 ** power),
};
const OPERATION_DURATION: MetricSpec = {
  name: 'gen_ai.client.operation.duration',
  description: 'GenAI operation duration.',
  unit: 's',
  kind: 'histogram',
  bounds: Array.from({ length: 14 }, (_, power) => 2 ** power / 100),
};
const COST: MetricSpec = {
  name: 'muster.cost',
  description: 'Cost of the answers with a known price.',
  unit: 'USD',
  kind: 'counter',
  bounds: [],
};
const TASK_DURATION: MetricSpec = {
  name: 'muster.task.duration',
  description: 'Time from the start or resume of a task to its end.',
  unit: 's',
  kind: 'histogram',
  bounds: [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200],
};
const TASKS: MetricSpec = {
  name: 'muster.tasks',
  description: 'Number of tasks of this process by their state.',
  unit: '{task}',
  kind: 'gauge',
  bounds: [],
};
const LIMIT_HITS: MetricSpec = {
  name: 'muster.limit.hits',
  description: 'Number of times that a task has reached a limit.',
  unit: '{hit}',
  kind: 'counter',
  bounds: [],
};

/** The part of a task's history on which its next measurements depend. */
interface MeasuredTask {
  readonly agent: string;
  /** The model of the newest request. Answers for which an old log names no model are counted for it. */
  model: string;
  /** The steady time at which the activation began, in milliseconds. */
  beganMs: number;
  /** The state in which the task is counted; null while it is not counted. */
  state: string | null;
}

/** Turns the events of tasks into measurements. */
export class MetricFold {
  private readonly tasks = new Map<string, MeasuredTask>();

  /**
   * Notes an event that an earlier process or another one has written. Nothing is measured, since that process has done
   * so.
   */
  skip(event: TaskEvent): void {
    this.note(event);
  }

  /**
   * Returns the measurements of an event. `ended`: the spans that have ended with it, of which the durations of requests
   * are taken.
   */
  measure(event: TaskEvent, ended: readonly SpanRecord[]): readonly Measurement[] {
    const task = this.note(event);
    if (task === null) return [];
    return [
      ...measureUsage(event, task),
      ...ended.flatMap(measureRequest),
      ...measureState(event, task),
      ...measureEnd(event, task),
      ...measureLimit(event, task),
    ];
  }

  private note(event: TaskEvent): MeasuredTask | null {
    if (event.type === 'task.created') {
      const { agent, model } = event.spec;
      this.tasks.set(event.task, {
        agent: toSpanName(agent.name),
        model: modelName(model),
        beganMs: toCount(steadyTime(event)),
        state: null,
      });
    }
    const task = this.tasks.get(event.task) ?? null;
    if (task === null) return null;
    if (event.type === 'task.resumed') task.beganMs = toCount(steadyTime(event));
    if (event.type === 'turn.started') task.model = event.model;
    return task;
  }
}

/** The ledger decides what counts, so that the sums equal those of `muster usage`. */
function measureUsage(event: TaskEvent, { agent, model }: MeasuredTask): readonly Measurement[] {
  return addToLedger([], event, model).flatMap((entry) => {
    const { provider, id } = splitModelName(entry.model);
    const shared: Attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': splitModelName(model).id,
      'gen_ai.response.model': id,
      'gen_ai.agent.name': agent,
      ...(entry.isEstimated ? { 'muster.usage.estimated': true } : {}),
    };
    const count = (type: 'input' | 'output', value: number): Measurement => ({
      metric: TOKENS,
      value,
      attributes: { ...shared, 'gen_ai.token.type': type },
    });
    return [
      count('input', countInputTokens(entry.usage)),
      count('output', entry.usage.output),
      { metric: COST, value: entry.costUsd, attributes: shared },
    ];
  });
}

function measureRequest({ attributes, startMs, endMs }: SpanRecord): readonly Measurement[] {
  if (attributes['gen_ai.operation.name'] !== 'chat') return [];
  const names = [
    'gen_ai.operation.name',
    'gen_ai.provider.name',
    'gen_ai.request.model',
    'gen_ai.response.model',
    'error.type',
  ] as const;
  const kept = names.flatMap((name) => {
    const value = attributes[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const value = (endMs - startMs) / 1000;
  return [{ metric: OPERATION_DURATION, value, attributes: Object.fromEntries(kept) }];
}

/** Returns the state into which an event puts its task; null if the state stays as it is. */
function findState(event: TaskEvent, state: string | null): string | null {
  switch (event.type) {
    case 'task.created':
      return 'queued';
    case 'task.parked':
      return 'parked';
    case 'task.ended':
      return event.end.status;
    case 'task.started':
    case 'task.resumed':
      return 'running';
    default:
      // A task of which the first event here is any other was at work in an earlier process.
      return state === null ? 'running' : null;
  }
}

function measureState(event: TaskEvent, task: MeasuredTask): readonly Measurement[] {
  const next = findState(event, task.state);
  if (next === null || next === task.state) return [];
  const change = (state: string, value: number): Measurement => ({
    metric: TASKS,
    value,
    attributes: { 'muster.task.state': state, 'gen_ai.agent.name': task.agent },
  });
  const left = task.state === null ? [] : [change(task.state, -1)];
  task.state = next;
  return [...left, change(next, 1)];
}

function measureEnd(event: TaskEvent, { agent, beganMs }: MeasuredTask): readonly Measurement[] {
  if (event.type !== 'task.ended') return [];
  const value = Math.max(0, toCount(steadyTime(event)) - beganMs) / 1000;
  const { status } = event.end;
  const attributes = { 'gen_ai.agent.name': agent, 'muster.task.status': status };
  return [{ metric: TASK_DURATION, value, attributes }];
}

function measureLimit(event: TaskEvent, { agent }: MeasuredTask): readonly Measurement[] {
  if (event.type !== 'limit.reached') return [];
  const attributes = { 'muster.limit': toSpanName(event.limit), 'gen_ai.agent.name': agent };
  return [{ metric: LIMIT_HITS, value: 1, attributes }];
}
