import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import type { ScriptedAnswer, ScriptedCall } from '../scripted-model.ts';
import type { ModelFailure, ModelRequest } from '../../src/protocol/model.ts';

/** An action of a model in one of its turns. `of` selects one of the tasks and shells that it knows. */
export type Action =
  | { readonly kind: 'Bash' | 'Read'; readonly ms: number }
  | { readonly kind: 'shell'; readonly ms: number }
  | { readonly kind: 'spawn'; readonly background: boolean; readonly work: Work }
  | {
      readonly kind: 'resume';
      readonly background: boolean;
      readonly of: number;
      readonly work: Work;
    }
  | { readonly kind: 'send'; readonly of: number; readonly about: number }
  | { readonly kind: 'stop'; readonly of: number }
  | {
      readonly kind: 'output';
      readonly of: number;
      readonly block: boolean;
      readonly timeout: number;
    };

/** The way in which a model ends a work after its turns with calls. */
export type WorkEnd = 'text' | 'failure' | 'flaky' | 'empty' | 'cut';

/** The work that a prompt gives to a task. */
export interface Work {
  readonly turns: readonly (readonly Action[])[];
  readonly end: WorkEnd;
  readonly maxTurns: number | null;
}

const ms = fc.nat(6);
const of = fc.nat(5);
const background = fc.boolean();

function wild(depth: number): fc.Arbitrary<Action> {
  const own: fc.WeightedArbitrary<Action>[] = [
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('Bash', 'Read'), ms }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('shell'), ms }) },
  ];
  if (depth === 0) return fc.oneof(...own);
  const work = workOf(depth - 1, wild, { mayFail: true });
  return fc.oneof(
    ...own,
    { weight: 9, arbitrary: fc.record({ kind: fc.constant('spawn'), background, work }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('resume'), background, of, work }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('send'), of, about: of }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('stop'), of }) },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('output'),
        of,
        block: fc.boolean(),
        timeout: fc.constantFrom(0, 4, 600_000),
      }),
    },
  );
}

/** Only actions whose results do not depend on timing. */
function calm(depth: number): fc.Arbitrary<Action> {
  const own = fc.record({ kind: fc.constantFrom<'Bash' | 'Read'>('Bash', 'Read'), ms });
  if (depth === 0) return own;
  const work = workOf(depth - 1, calm, { mayFail: false });
  return fc.oneof(
    { weight: 1, arbitrary: own },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('spawn'), background, work }) },
  );
}

function workOf(
  depth: number,
  actions: (depth: number) => fc.Arbitrary<Action>,
  { mayFail }: { readonly mayFail: boolean },
): fc.Arbitrary<Work> {
  const together = fc.array(actions(depth), {
    minLength: 1,
    maxLength: depth === 3 ? 3 : 2,
    size: 'max',
  });
  const turn = mayFail || depth === 0 ? together : fc.oneof(together, resumeAlone(depth));
  return fc.record({
    turns: fc.array(turn, { maxLength: depth === 3 ? 3 : 2, size: 'max' }),
    end: mayFail
      ? fc.oneof(
          { weight: 6, arbitrary: fc.constant<WorkEnd>('text') },
          { weight: 1, arbitrary: fc.constantFrom<WorkEnd>('failure', 'flaky', 'empty', 'cut') },
        )
      : fc.constantFrom<WorkEnd>('text', 'text', 'text', 'text', 'text', 'flaky'),
    maxTurns: mayFail
      ? fc.oneof(
          { weight: 8, arbitrary: fc.constant(null) },
          { weight: 1, arbitrary: fc.integer({ min: 1, max: 3 }) },
        )
      : fc.constant(null),
  });
}

/** No other task can resume the same task at the same time. */
function resumeAlone(depth: number): fc.Arbitrary<readonly Action[]> {
  const work = workOf(depth - 1, calm, { mayFail: false });
  const kind = fc.constant('resume' as const);
  return fc.tuple(fc.record({ kind, background: fc.constant(false), of, work }));
}

/** Four levels of tasks that do anything at any time. */
export const wildWork = workOf(3, wild, { mayFail: true });

/** Four levels of tasks whose results do not depend on timing. */
export const calmWork = workOf(3, calm, { mayFail: false });

const FAILURE: ModelFailure = { kind: 'bad_request', message: 'no', retryable: false };
const HICCUP: ModelFailure = { kind: 'server', message: 'reset', retryable: true };

/** Returns the works of a script by path. The prompts contain these paths. */
export function worksByPath(root: Work): ReadonlyMap<string, Work> {
  const works = new Map<string, Work>();
  const add = (path: string, work: Work) => {
    works.set(path, work);
    for (const [turn, actions] of work.turns.entries()) {
      for (const [index, action] of actions.entries()) {
        if ('work' in action) add(below(path, turn, index), action.work);
      }
    }
  };
  add('r', root);
  return works;
}

function below(path: string, turn: number, index: number): string {
  return `${path}.${turn}${'abc'[index] ?? 'x'}`;
}

export function promptOfWork(path: string): string {
  return `work:${path};`;
}

export function pathOfPrompt(prompt: string): string {
  return /^work:([^;]*);$/.exec(prompt)?.[1] ?? '';
}

/** Returns the path of the work of a request's task. */
export function pathOfTask(request: ModelRequest): string {
  const [first] = situation(request).works;
  if (first === undefined) throw new Error('a request without a work');
  return first;
}

interface Situation {
  /** The paths of the works that the task was given, the newest last. */
  readonly works: readonly string[];
  /** The number of answers with calls since the newest work. */
  readonly turn: number;
  readonly answers: number;
  /** The known tasks and shells by id, in the order in which the task learnt of them. */
  readonly known: readonly string[];
  /** Its own ended tasks that only a call of this task can resume. */
  readonly ended: readonly string[];
  /** The texts about outcomes that the task got. */
  readonly heard: ReadonlySet<string>;
}

function situation({ messages }: ModelRequest): Situation {
  const works: string[] = [];
  const known = new Set<string>();
  const ended = new Set<string>();
  const heard = new Set<string>();
  /** Calls that started background work. A call that was repeated after a crash may report an end. */
  const inBackground = new Set<string>();
  let turn = 0;
  let answers = 0;
  const read = (text: string) => {
    for (const [, what = ''] of text.matchAll(/((?:done|ran)\([^)]*\))/g)) heard.add(what);
    for (const [, id = ''] of text.matchAll(/(?:Task|task|shell) ([a-z0-9]{12})\b/g)) known.add(id);
    for (const [, ids = ''] of text.matchAll(/kids\(([^)]*)\)/g)) {
      for (const id of ids.split(' ')) if (id !== '') known.add(id);
    }
  };
  for (const message of messages) {
    if (message.role === 'assistant') {
      answers += 1;
      const calls = message.content.filter((part) => part.type === 'tool_call');
      if (calls.length > 0) turn += 1;
      for (const { id, input } of calls) if (isInBackground(input)) inBackground.add(id);
      continue;
    }
    for (const part of message.content) {
      read(part.text);
      if (part.type === 'tool_result') {
        if (inBackground.has(part.callId)) continue;
        for (const [, id = ''] of part.text.matchAll(/\[task ([a-z0-9]{12}) /g)) ended.add(id);
        continue;
      }
      const path = pathOfPrompt(part.text);
      if (path !== '') {
        works.push(path);
        turn = 0;
      }
    }
  }
  return { works, turn, answers, known: [...known], ended: [...ended], heard };
}

function isInBackground(input: unknown): boolean {
  return typeof input === 'object' && input !== null && 'run_in_background' in input
    ? input.run_in_background === true
    : false;
}

/**
 * Returns the answer that the works define.
 *
 * @param tries the number of times that the same request was sent before
 */
export function answerOf(
  works: ReadonlyMap<string, Work>,
  request: ModelRequest,
  tries: number,
): ScriptedAnswer {
  const now = situation(request);
  const path = now.works.at(-1) ?? '';
  const work = works.get(path);
  if (work === undefined) throw new Error(`no work ${path}`);
  const usage = { input: 10, output: 10 };
  if (request.toolChoice === 'none') return { text: `limit(${path})`, usage };
  const actions = work.turns[now.turn];
  if (actions !== undefined) {
    const calls = actions.map((action, index) => {
      const id = `c${now.answers}-${index}`;
      return Object.assign(callOf(action, below(path, now.turn, index), now), { id });
    });
    return { text: `so far ${path}`, calls, usage };
  }
  if (work.end === 'failure') return { failure: FAILURE };
  if (work.end === 'flaky' && tries === 0) return { text: 'half an ans', failure: HICCUP };
  if (work.end === 'empty') return { usage };
  const digest = createHash('sha256')
    .update([...now.heard].toSorted().join())
    .digest('hex');
  const text = `done(${path}#${digest.slice(0, 8)}) kids(${now.known.slice(0, 4).join(' ')})`;
  return { text, usage, ...(work.end === 'cut' ? { reason: 'length' } : {}) };
}

const UNKNOWN_ID = 'zzzzzzzzzzzz';

function callOf(action: Action, path: string, { known, ended }: Situation): ScriptedCall {
  const target = (ids: readonly string[], of: number) => ids[of % ids.length] ?? UNKNOWN_ID;
  switch (action.kind) {
    case 'Bash':
    case 'Read':
      return { name: action.kind, input: { key: path, ms: action.ms } };
    case 'shell':
      return { name: 'Bash', input: { key: path, ms: action.ms, background: true } };
    case 'spawn':
    case 'resume':
      return {
        name: 'Task',
        input: {
          prompt: promptOfWork(path),
          run_in_background: action.background,
          ...(action.kind === 'resume' ? { resume: target(ended, action.of) } : {}),
          ...(action.work.maxTurns === null ? {} : { max_turns: action.work.maxTurns }),
        },
      };
    case 'send':
      return {
        name: 'TaskSend',
        input: {
          to: target(known, action.of),
          message: `say(${path}) see task ${target(known, action.about)}`,
        },
      };
    case 'stop':
      return { name: 'TaskStop', input: { task_id: target(known, action.of) } };
    case 'output': {
      const { block, timeout } = action;
      return { name: 'TaskOutput', input: { task_id: target(known, action.of), block, timeout } };
    }
    default:
      return action satisfies never;
  }
}
