import { describe, expect, it } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import { decideFallback, isLongRateLimit } from '../../../src/engine/turn/fallback.ts';
import type { EventBody, TaskEvent } from '../../../src/protocol/events/event.ts';
import {
  modelName,
  NO_USAGE,
  type FailureKind,
  type ModelFailure,
  type ModelRequest,
  type ResolvedModel,
} from '../../../src/protocol/model.ts';
import { taskSpec } from '../../store/fixture-data.ts';
import { call, calls, eventsOfType, hookLogs } from '../play.ts';
import { answeredRounds, MODEL, promptOf, testEngine } from '../support.ts';
import { foldEvents } from '../../../src/protocol/state/fold.ts';
import type { TaskState } from '../../../src/protocol/state/task-state.ts';

const TWO: ResolvedModel = { provider: 'other', id: 'two', chain: ['models.fallback: other/two'] };
const THREE: ResolvedModel = { ...TWO, id: 'three' };
const ID = 'task00000000';
const SPEC = taskSpec(ID, { model: MODEL });

function stateAfter(...bodies: readonly EventBody[]): TaskState {
  const created = { type: 'task.created', spec: SPEC } as const;
  const events = [created, ...bodies].map((body, seq): TaskEvent =>
    Object.assign({ v: 3, seq, ts: seq, task: ID, epoch: 1 }, body),
  );
  return foldEvents(events);
}

const failure = (kind: FailureKind): ModelFailure => ({
  kind,
  message: `scripted/one: ${kind}`,
  retryable: false,
});
const asked = (toolChoice: 'auto' | 'none' = 'auto'): EventBody => ({
  type: 'turn.started',
  turn: 1,
  inputs: [],
  model: 'scripted/one',
  toolChoice,
});
const failed = (kind: FailureKind): EventBody => ({
  type: 'turn.failed',
  turn: 1,
  failure: failure(kind),
  usage: NO_USAGE,
});
const { rights, limits } = SPEC;
const changed = (model: ResolvedModel, from?: string): EventBody => ({
  type: 'terms.changed',
  rights,
  limits,
  model,
  ...(from === undefined ? {} : { fallback: { from, failure: 'server' } }),
});
const claimed: EventBody = { type: 'task.claimed', pid: 1, host: 'here' };
const ended: EventBody = {
  type: 'task.ended',
  end: { status: 'failed', error: null, because: 'it failed', by: null },
  result: '',
};
const resumed: EventBody = { type: 'task.resumed', by: 'user', callId: null };
const toTwo = changed(TWO, 'scripted/one');
const toThree = changed(THREE, 'other/two');

describe('decideFallback', () => {
  it.each<readonly [string, readonly EventBody[], ResolvedModel | null]>([
    ['nothing has failed', [asked()], null],
    ['the model has failed', [asked(), failed('server')], TWO],
    ['the model has failed, and its process died', [asked(), failed('server'), claimed], TWO],
    ['the model is asked again anyway', [asked(), failed('server'), asked()], null],
    ['the first fallback is in use', [asked(), failed('server'), toTwo], null],
    ['the first fallback fails too', [failed('server'), toTwo, asked(), failed('timeout')], THREE],
    [
      'all have failed',
      [failed('server'), toTwo, failed('server'), toThree, failed('server')],
      null,
    ],
    ['its last turn fails', [asked('none'), failed('server')], null],
    [
      'a person chose another model',
      [failed('server'), toTwo, changed(MODEL), failed('server')],
      TWO,
    ],
    ['only its rights changed', [failed('server'), changed(MODEL)], TWO],
    ['the task ended and is resumed', [failed('server'), ended, resumed], null],
  ])('when %s', (_, bodies, expected) => {
    const standIn = decideFallback(stateAfter(...bodies), [TWO, THREE]);
    expect(standIn?.model ?? null).toEqual(expected);
  });

  const KINDS: Readonly<Record<FailureKind, boolean>> = {
    connect: true,
    overloaded: true,
    server: true,
    timeout: true,
    malformed: true,
    not_found: true,
    rate_limit: true,
    auth: false,
    bad_request: false,
    context_overflow: false,
    too_large: false,
    cancelled: false,
  };
  it.each(Object.entries(KINDS))('for %s: %s', (kind, expected) => {
    const state = stateAfter(asked(), failed(kind as FailureKind));
    expect(decideFallback(state, [TWO]) !== null).toBe(expected);
  });

  it('is none if no fallback is named', () => {
    expect(decideFallback(stateAfter(failed('server')), [])).toBe(null);
  });
});

describe('isLasting', () => {
  const limited: ModelFailure = { ...failure('rate_limit'), retryable: true };
  it.each<readonly [string, ModelFailure, number, boolean]>([
    ['the first failure', limited, 1, false],
    ['one failure more than there are retries', limited, 3, true],
    ['a rate limit that asks for a minute', { ...limited, retryAfterMs: 60_000 }, 1, false],
    ['a rate limit that asks for more', { ...limited, retryAfterMs: 60_001 }, 1, true],
    [
      'an overloaded server that asks for a minute',
      { ...failure('server'), retryAfterMs: 60_000 },
      9,
      false,
    ],
    [
      'an overloaded server that asks for more',
      { ...failure('server'), retryAfterMs: 60_001 },
      1,
      true,
    ],
    ['an overloaded server that asks for nothing', failure('server'), 9, false],
  ])('%s', (_, each, inARow, expected) => {
    expect(isLongRateLimit(each, { inARow, retries: 2 })).toBe(expected);
  });
});

const BUSY: ModelFailure = { kind: 'overloaded', message: 'scripted/one: busy', retryable: false };
const WARNING = 'scripted/one failed and other/two goes on in its place: busy';
const fallbacks = ({ id }: ResolvedModel) => [TWO, THREE].filter((model) => model.id !== id);
const asksOne = ({ model }: ModelRequest): boolean => model.id === 'one';

describe('a task whose model fails', () => {
  it('continues with the next one, which the log, the result and its receipt line say', async () => {
    const test = testEngine(
      (request) => {
        if (answeredRounds(request) === 0) return calls(call('Bash', {}));
        return asksOne(request) ? { failure: BUSY, refused: true } : { text: 'done by two' };
      },
      { fallbacks },
    );
    const run = test.start('main');
    await run.end.written;
    const envelope = test.engine.result(run);
    expect(envelope).toMatchObject({
      status: 'success',
      data: {
        result: 'done by two',
        model_used: 'other/two',
        receipt: { models: ['scripted/one', 'other/two'] },
      },
    });
    expect(envelope.text).toContain(`[Note: ${WARNING}]`);
    expect(envelope.text).toMatch(/· other\/two · 2 turns ·/);
    const types = test.events.map(({ type }) => type);
    const at = types.indexOf('turn.failed');
    expect(types.slice(at, at + 4)).toEqual([
      'turn.failed',
      'terms.changed',
      'warning',
      'turn.started',
    ]);
    expect(eventsOfType(test, 'terms.changed')).toMatchObject([
      {
        model: {
          provider: 'other',
          id: 'two',
          chain: ['fallback for scripted/one: busy', 'models.fallback: other/two'],
        },
        fallback: { from: 'scripted/one', failure: 'overloaded' },
      },
    ]);
    const [, second, third] = test.model.requests;
    expect(third?.prefix).toBe(second?.prefix);
    expect(third?.messages).toEqual(second?.messages);
  });

  it('fails with the error of the last one if all fail, each asked once', async () => {
    const test = testEngine(
      ({ model }) => ({
        failure: { ...BUSY, message: `${modelName(model)}: busy` },
        refused: true,
      }),
      { fallbacks },
    );
    const run = test.start('main');
    await run.end.written;
    expect(test.model.requests.map(({ model }) => model.id)).toEqual(['one', 'two', 'three']);
    expect(test.engine.result(run).error).toMatchObject({ message: 'other/three: busy' });
    expect(run.state.warnings.length).toBe(2);
  });

  it('begins with its own model again when it is resumed', async () => {
    let isDown = true;
    const test = testEngine(
      (request) =>
        isDown && asksOne(request) ? { failure: BUSY, refused: true } : { text: 'done' },
      { fallbacks },
    );
    const run = test.start('main');
    await run.end.written;
    isDown = false;
    const again = await test.engine.resume(run.spec.id, {
      prompt: 'more',
      maxRights: (all) => all,
    });
    await again.end.written;
    expect(test.model.requests.map(({ model }) => model.id)).toEqual(['one', 'two', 'one']);
    expect(test.engine.result(again).data).toMatchObject({
      model_used: 'scripted/one',
      receipt: { models: ['other/two', 'scripted/one'] },
    });
  });

  it.each(['terms.changed', 'turn.started'] as const)(
    'continues with the next one after a crash before %s was written',
    async (type) => {
      let isDying = true;
      let isChanged = false;
      const script = (request: ModelRequest) =>
        asksOne(request) ? { failure: BUSY, refused: true } : { text: 'done' };
      const first = testEngine(script, {
        fallbacks,
        onFault: () => {},
        prepareStore: (store) =>
          hookLogs(store, {
            append: (_, bodies) => {
              if (!isDying) return;
              isChanged ||= bodies.some((body) => body.type === 'turn.failed');
              if (
                isChanged &&
                bodies.some((body) => body.type === type || body.type === 'task.ended')
              )
                throw new MusterError('INTERNAL_ERROR', 'the disk is full');
            },
          }),
      });
      const run = first.start('main');
      await run.end.written;
      isDying = false;
      const second = testEngine(script, { fallbacks, store: first.store });
      const again = await second.engine.resume(run.spec.id, {
        prompt: null,
        maxRights: (all) => all,
      });
      await again.end.written;
      expect(second.model.requests.map(({ model }) => model.id)).toEqual(['two']);
      expect(again.state.warnings).toEqual([WARNING]);
    },
  );

  it('passes its present model to a child that inherits the model', async () => {
    const test = testEngine(
      (request) => {
        if (asksOne(request)) return { failure: BUSY, refused: true };
        if (promptOf(request) === 'part' || answeredRounds(request) > 0) return { text: 'done' };
        return calls(call('Task', { prompt: 'part' }));
      },
      { fallbacks, forTask: ({ parent }) => parent },
    );
    await test.start('main').end.written;
    expect(test.model.requests.map(({ model }) => model.id)).toEqual(['one', 'two', 'two', 'two']);
  });

  it('is limited by the cost of the next model, and not by that of the first', async () => {
    const facts = async ({ id }: ResolvedModel) => ({
      contextWindow: null,
      maxOutput: id === 'one' ? 100 : 1_000_000,
      price: null,
    });
    const test = testEngine(
      (request) => (asksOne(request) ? { failure: BUSY, refused: true } : { text: 'done' }),
      { fallbacks, facts, settings: { treeTokens: 3_000 } },
    );
    const run = test.start('main');
    await run.end.written;
    expect(test.model.requests.map(({ model }) => model.id)).toEqual(['one']);
    expect(run.state.end?.because).toMatch(/^the limit tree_tokens = 3000 leaves no room/);
  });

  it('waits for the end of a rate limit, unless it lasts', async () => {
    const limited: ModelFailure = { ...BUSY, kind: 'rate_limit', retryable: true };
    const test = testEngine(
      (request, index) => {
        if (!asksOne(request)) return { text: 'done' };
        const retryAfterMs = index === 0 ? 1 : 61_000;
        return { failure: { ...limited, retryAfterMs }, refused: true };
      },
      { fallbacks },
    );
    await test.start('main').end.written;
    expect(test.model.requests.map(({ model }) => model.id)).toEqual(['one', 'one', 'two']);
  });
});
