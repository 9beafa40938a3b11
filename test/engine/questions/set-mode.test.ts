import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import { MAIN_AGENT } from '../../../src/engine/task/main-agent.ts';
import {
  PERMISSION_MODES,
  type PermissionMode,
  type Rights,
} from '../../../src/protocol/permission.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';
import { background, call, calls, eventsOfType, play, textsOf, until, type Turn } from '../play.ts';
import { testEngine, WORKER, type TestEngine } from '../support.ts';
import { answerQuestion } from '../../../src/engine/questions/record-answer.ts';

const modeOf = (test: TestEngine, id: string) => test.engine.task(id)?.permissions.rights.mode;
const isNarrower = (a: PermissionMode, b: PermissionMode) =>
  PERMISSION_MODES.indexOf(a) <= PERMISSION_MODES.indexOf(b);

/** Starts a conversation in this mode. It has a background child, which has a child of its own. */
async function withChild(mode: PermissionMode) {
  const gate = Promise.withResolvers<void>();
  const waiting = async () => {
    await gate.promise;
    return { text: 'done' };
  };
  const test: TestEngine = testEngine(
    play({ main: [calls(background('part')), waiting], part: [waiting] }),
    { mode },
  );
  const main = test.start('main');
  await until(() => test.model.requests.length === 3);
  const [child = ''] = main.state.children.keys();
  const over = async () => {
    gate.resolve();
    await main.end.written;
  };
  return { test, main: main.spec.id, child, over };
}

describe('setting the mode of a conversation', () => {
  it('applies to its next call in both directions, and is reported to it', async () => {
    let id = '';
    const modes: (PermissionMode | undefined)[] = [];
    const set = (test: TestEngine, mode: PermissionMode) => () => {
      test.engine.setMode(id, mode);
      modes.push(modeOf(test, id));
      return calls(call('Bash', { ms: 1 }));
    };
    const lines: Record<string, ((turn: Turn) => ReturnType<typeof calls>)[]> = { main: [] };
    const test: TestEngine = testEngine(play(lines), { mode: 'default' });
    lines['main']?.push(set(test, 'plan'), set(test, 'acceptEdits'), set(test, 'acceptEdits'));
    const main = test.start('main');
    id = main.spec.id;
    await main.end.written;
    expect(modes).toEqual(['plan', 'acceptEdits', 'acceptEdits']);
    expect(eventsOfType(test, 'terms.changed', id).map(({ rights }) => rights.mode)).toEqual([
      'plan',
      'acceptEdits',
    ]);
    const told = textsOf(test.model.requests.at(-1)).filter((text) =>
      text.includes('another mode'),
    );
    expect(told).toEqual([
      expect.stringContaining('Mode: plan'),
      expect.stringContaining('Mode: acceptEdits'),
    ]);
  });

  it('narrows its descendants at once, and widens those at work that were not created in plan mode', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...PERMISSION_MODES),
        fc.array(fc.constantFrom(...PERMISSION_MODES), { minLength: 1, maxLength: 6 }),
        async (begun, changes) => {
          const { test, main, child, over } = await withChild(begun);
          for (const mode of changes) {
            test.engine.setMode(main, mode);
            expect(modeOf(test, main)).toBe(mode);
            const own = modeOf(test, child) ?? 'plan';
            expect(isNarrower(own, mode)).toBe(true);
            expect(own).toBe(begun === 'plan' ? 'plan' : mode);
          }
          await over();
        },
      ),
      { numRuns: 15 },
    );
  });

  it('gives no task more than its parent has, and nothing to one that was created in plan mode', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...PERMISSION_MODES), { minLength: 2, maxLength: 5 }),
        fc.constantFrom(...PERMISSION_MODES),
        async (modes, last) => {
          const [begun = 'plan', ...changes] = modes;
          const gate = Promise.withResolvers<void>();
          const waiting = async () => {
            await gate.promise;
            return { text: 'done' };
          };
          const made = new Map<string, PermissionMode>();
          let id = '';
          // Before each turn of the conversation the person sets another mode. In each turn the conversation creates
          // a child, which creates a child of its own.
          const turns = changes.map((mode, at) => (): ReturnType<typeof calls> => {
            test.engine.setMode(id, mode);
            return calls(background(`child-${at}`));
          });
          const below = (at: number) => [calls(background(`below-${at}`)), waiting];
          const test: TestEngine = testEngine(
            play({
              main: [...turns, waiting],
              ...Object.fromEntries(changes.map((_, at) => [`child-${at}`, below(at)])),
              ...Object.fromEntries(changes.map((_, at) => [`below-${at}`, [waiting]])),
            }),
            { mode: begun },
          );
          const main = test.start('main');
          id = main.spec.id;
          await until(() => eventsOfType(test, 'task.created').length === 1 + 2 * changes.length);
          const specs = eventsOfType(test, 'task.created').map(({ spec }) => spec);
          for (const spec of specs) made.set(spec.id, spec.rights.mode);
          for (const mode of [last, ...PERMISSION_MODES.toReversed(), ...PERMISSION_MODES]) {
            test.engine.setMode(id, mode);
            for (const spec of specs) {
              if (spec.parent === null) continue;
              const now = modeOf(test, spec.id) ?? 'autonomous';
              expect(isNarrower(now, modeOf(test, spec.parent) ?? 'plan')).toBe(true);
              if (made.get(spec.id) === 'plan') expect(now).toBe('plan');
              expect(isNarrower(now, mode)).toBe(true);
            }
          }
          gate.resolve();
          await main.end.written;
        },
      ),
      { numRuns: 12 },
    );
  });

  it('releases a waiting question that a wider mode covers, in the conversation and below it', async () => {
    const asking = [calls(call('Bash', { ms: 1 }))];
    const test: TestEngine = testEngine(
      play({ main: [calls(background('part'), call('Bash', { ms: 1 }))], part: asking }),
      { mode: 'default', onAsk: 'wait' },
    );
    const main = test.start('main');
    await until(() => test.inbox.open().length === 2);
    test.engine.setMode(main.spec.id, 'acceptEdits');
    await turn();
    expect(test.inbox.open().length).toBe(2);
    test.engine.setMode(main.spec.id, 'autonomous');
    await main.end.written;
    expect(eventsOfType(test, 'question.answered').map(({ by }) => by)).toEqual(['rule', 'rule']);
    expect(eventsOfType(test, 'call.ended').filter(({ tool }) => tool === 'Bash')).toHaveLength(2);
  });

  it('refuses a waiting question if the mode is narrower', async () => {
    const test: TestEngine = testEngine(play({ main: [calls(call('Bash', { ms: 1 }))] }), {
      mode: 'acceptEdits',
      onAsk: 'wait',
    });
    const main = test.start('main');
    await until(() => test.inbox.open().length === 1);
    test.engine.setMode(main.spec.id, 'plan');
    await main.end.written;
    expect(eventsOfType(test, 'call.started', main.spec.id)).toEqual([]);
    expect(eventsOfType(test, 'call.refused', main.spec.id)).toMatchObject([
      { decision: { verdict: 'deny', step: 'floor' } },
    ]);
  });

  it.each<readonly [PermissionMode, string, string | null]>([
    ['plan', 'Not run: the user set plan mode before Bash had begun', 'PERMISSION_DENIED'],
    ['autonomous', 'waited', null],
  ])(
    'to %s while the intent of a call is being written results in: %s',
    async (mode, text, error) => {
      const lines = { main: [calls(call('Bash', { ms: 1 }))] };
      const test: TestEngine = testEngine(play(lines), {
        mode: 'autonomous',
        prepareStore: (store) => {
          const create = store.create.bind(store);
          Object.assign(store, {
            create: (spec: Parameters<typeof create>[0]) => {
              const log = create(spec);
              const sync = log.sync.bind(log);
              let isSet = false;
              return Object.assign(log, {
                sync: async () => {
                  await sync();
                  if (isSet || eventsOfType(test, 'call.started', spec.id).length === 0) return;
                  isSet = true;
                  test.engine.setMode(spec.id, mode);
                },
              });
            },
          });
        },
      });
      const main = test.start('main');
      await main.end.written;
      expect(eventsOfType(test, 'call.ended', main.spec.id)).toMatchObject([
        { text: expect.stringContaining(text), error },
      ]);
    },
  );

  it('is refused for a task that works for another one, and beyond the mode of its definition', async () => {
    const { test, child, over } = await withChild('default');
    expect(() => test.engine.setMode(child, 'plan')).toThrow('is not a conversation');
    await over();
    const agent = { ...WORKER, name: 'careful', mode: 'default' } as const;
    const bounded: TestEngine = testEngine(play({ worker: [] }), { agent });
    const main = bounded.start('main');
    expect(() => bounded.engine.setMode(main.spec.id, 'autonomous')).toThrow(
      'careful runs in default mode at most',
    );
    await bounded.engine.stop(stopOrder('client', 'over'));
  });
});

describe('the mode of a resumed conversation', () => {
  const goOn = async (
    agent: AgentDefinition,
    terms: Omit<Parameters<TestEngine['engine']['resume']>[1], 'prompt'>,
  ) => {
    const test: TestEngine = testEngine(play({}), { mode: 'acceptEdits', agent });
    const main = test.start('main');
    await main.end.written;
    const again = await test.engine.resume(main.spec.id, { ...terms, prompt: 'more' });
    await again.end.written;
    const told = textsOf(test.model.requests.at(-1)).filter((text) => text.includes('Mode: '));
    return { mode: again.permissions.rights.mode, told };
  };

  it('is reported to its model if a flag narrows it', async () => {
    const maxRights = (rights: Rights): Rights => ({ ...rights, mode: 'plan' });
    expect(await goOn(MAIN_AGENT, { maxRights })).toEqual({
      mode: 'plan',
      told: [expect.stringContaining('The user set another mode. Mode: plan')],
    });
  });

  it('is not reported if its definition leaves it unchanged', async () => {
    const agent = { ...WORKER, name: 'careful', mode: 'default' } as const;
    const terms = { maxRights: (rights: Rights) => rights, mode: 'autonomous' } as const;
    expect(await goOn(agent, terms)).toEqual({ mode: 'default', told: [] });
  });
});

describe('ExitPlanMode', () => {
  const plan = '1. Read it\n2. Mend it';
  const presenting = () =>
    testEngine(
      play({ main: [calls(call('ExitPlanMode', { plan })), calls(call('Bash', { ms: 1 }))] }),
      {
        mode: 'plan',
        onAsk: 'wait',
      },
    );
  const answered = async (
    answer: { text: string; plan?: string; reason?: string },
    since?: PermissionMode,
  ) => {
    const test: TestEngine = presenting();
    const main = test.start('main');
    await until(() => test.inbox.open().length === 1);
    const [waiting] = test.inbox.open();
    expect(waiting?.question).toMatchObject({ kind: 'plan', text: plan });
    test.engine.answer({ question: waiting?.question.id ?? '', ...answer });
    if (since !== undefined) test.engine.setMode(main.spec.id, since);
    await until(() => main.state.turns > 1);
    const { mode } = main.permissions.rights;
    const [result] = eventsOfType(test, 'call.ended', main.spec.id);
    await test.engine.stop(stopOrder('client', 'over'));
    return { mode, text: result?.text ?? '', error: result?.error };
  };

  it('changes the mode when the plan is approved', async () => {
    expect(await answered({ text: 'yes' })).toEqual({
      mode: 'default',
      text: 'The user approved the plan. The mode is default now. Carry it out.',
      error: null,
    });
    expect(await answered({ text: 'always' })).toMatchObject({ mode: 'acceptEdits' });
  });

  it('can be approved with changes by the person', async () => {
    const { mode, text } = await answered({ text: 'yes', plan: 'only read' });
    expect(mode).toBe('default');
    expect(text).toMatch(/changed the plan.*\n\nonly read$/s);
  });

  it('can be refused, and plan mode continues', async () => {
    expect(await answered({ text: 'no', reason: 'too long' })).toEqual({
      mode: 'plan',
      text: 'The user does not want this plan carried out. Plan mode goes on: change nothing. They say: too long',
      error: 'PERMISSION_DENIED',
    });
  });

  it('changes nothing if the person has set plan mode again since', async () => {
    expect(await answered({ text: 'always' }, 'plan')).toEqual({
      mode: 'plan',
      text: 'The user approved the plan, and set plan mode again: change nothing yet.',
      error: null,
    });
    expect(await answered({ text: 'yes', plan: 'only read' }, 'plan')).toMatchObject({
      mode: 'plan',
      text: expect.stringMatching(/change nothing yet:\n\nonly read$/),
    });
    expect(await answered({ text: 'no' }, 'acceptEdits')).toMatchObject({
      mode: 'acceptEdits',
      text: 'The user does not want this plan carried out. The mode is acceptEdits now.',
    });
  });

  it('reports no mode that was set in between before the approval', async () => {
    const test: TestEngine = presenting();
    const main = test.start('main');
    await until(() => test.inbox.open().length === 1);
    test.engine.setMode(main.spec.id, 'default');
    answerQuestion(test.inbox, test.inbox.open()[0]?.question.id ?? '', { text: 'always' });
    await until(() => test.model.requests.length === 2);
    const told = textsOf(test.model.requests[1]).join('\n');
    expect(told).toContain('The mode is acceptEdits now.');
    expect(told).not.toContain('another mode');
    await test.engine.stop(stopOrder('client', 'over'));
  });

  it('sets the mode with the answer, so that a later choice of the person counts', async () => {
    const lines = { main: [calls(call('ExitPlanMode', { plan }))] };
    const test: TestEngine = testEngine(play(lines), { mode: 'plan', onAsk: 'park' });
    const main = test.start('main');
    await main.end.written;
    const { id } = main.spec;
    const next: TestEngine = testEngine(play(lines), { store: test.store, onAsk: 'park' });
    const resumed = await next.engine.resume(id, {
      prompt: null,
      maxRights: (rights) => rights,
      answer: { question: `${id}q1`, text: 'always' },
      mode: 'plan',
    });
    await resumed.end.written;
    expect(resumed.permissions.rights.mode).toBe('plan');
    expect(
      ['terms.changed', 'question.answered'].map((type) =>
        next.events.filter((event) => event.type === type).map(({ seq }) => seq),
      ),
    ).toEqual([[expect.any(Number), expect.any(Number)], [expect.any(Number)]]);
    expect(eventsOfType(next, 'terms.changed').map(({ rights }) => rights.mode)).toEqual([
      'acceptEdits',
      'plan',
    ]);
  });

  it('is not approved by the approval of another plan', async () => {
    const plans = ['first', 'second'].map((each) => call('ExitPlanMode', { plan: each }));
    const test: TestEngine = testEngine(play({ main: [calls(...plans)] }), {
      mode: 'plan',
      onAsk: 'wait',
    });
    const main = test.start('main');
    await until(() => test.inbox.open().length === 2);
    answerQuestion(test.inbox, test.inbox.open()[0]?.question.id ?? '', { text: 'yes' });
    await main.end.written;
    expect(eventsOfType(test, 'call.ended', main.spec.id).map(({ text }) => text)).toEqual([
      'The user approved the plan. The mode is default now. Carry it out.',
      'The user has not answered to this plan. The mode is default now.',
    ]);
  });

  it('asks nobody outside plan mode', async () => {
    const test: TestEngine = testEngine(play({ main: [calls(call('ExitPlanMode', { plan }))] }), {
      mode: 'acceptEdits',
      onAsk: 'wait',
    });
    const main = test.start('main');
    await main.end.written;
    expect(eventsOfType(test, 'call.ended', main.spec.id)).toMatchObject([
      { text: 'Not in plan mode: go ahead.', error: null },
    ]);
  });
});
