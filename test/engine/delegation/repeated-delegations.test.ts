import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import {
  toDelegationKey,
  MAX_NESTED_DELEGATIONS,
  MAX_REPEATED_DELEGATIONS,
  findRepeatedDelegation,
} from '../../../src/engine/delegation/repeated-delegations.ts';
import type { ScriptedAnswer } from '../../scripted-model.ts';
import type { ModelRequest } from '../../../src/protocol/model.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { call, calls, eventsOfType, hookLogs, textsOf } from '../play.ts';
import { answeredRounds, promptOf, testEngine, waitTool, type EngineSetup } from '../support.ts';

const link = (isCreatedByDelegation: boolean, ownRounds: number, allRounds = ownRounds) => ({
  isCreatedByDelegation,
  ownRounds,
  countSubtreeRounds: () => allRounds,
});

describe('findRepeatedDelegation', () => {
  it.each([
    ['no task', [link(false, 0), link(false, 0)], null],
    ['the caller a few times', [link(false, 4), link(false, 0)], null],
    ['the caller too often', [link(false, 5)], ['same_delegations', 5, 5]],
    [
      'a task above the caller and tasks below that task',
      [link(false, 1), link(false, 2, 5)],
      ['same_delegations', 5, 5],
    ],
    [
      'several tasks below, none of them above the caller',
      [link(false, 0), link(false, 0, 900)],
      null,
    ],
    ['two in a chain', [link(true, 0), link(true, 1), link(false, 1)], null],
    [
      'three in a chain',
      [link(true, 0), link(true, 1), link(false, 1), link(true, 1)],
      ['nested_same_delegations', 3, 3],
    ],
  ])('when %s made the delegation', (_, chain, expected) => {
    const hit = findRepeatedDelegation(chain);
    expect(hit === null ? null : [hit.limit, hit.value, hit.used]).toEqual(expected);
  });

  it('a refused delegation stays refused after further rounds', () => {
    const links = fc.record({ isCreated: fc.boolean(), own: fc.nat(6), more: fc.nat(6) });
    fc.assert(
      fc.property(fc.array(links), fc.array(links), (chain, above) => {
        const made = chain.map(({ isCreated, own, more }) => link(isCreated, own, own + more));
        const grown = chain.map(({ isCreated, own, more }) =>
          link(isCreated, own + 1, own + more + 1),
        );
        const longer = [
          ...made,
          ...above.map(({ isCreated, own, more }) => link(isCreated, own, own + more)),
        ];
        if (findRepeatedDelegation(made) === null) return;
        expect(findRepeatedDelegation(grown)).not.toBe(null);
        expect(findRepeatedDelegation(longer)).not.toBe(null);
      }),
    );
  });
});

describe('toDelegationKey', () => {
  it('is the same for the same agent and prompt, whatever the white space', () => {
    const words = fc.array(fc.stringMatching(/^\S+$/), { minLength: 1 });
    const blanks = fc.array(fc.constantFrom(' ', '\n', '\t', '  \r\n'), { minLength: 1 });
    fc.assert(
      fc.property(words, blanks, (each, between) => {
        const loose = each.map((word, at) => word + (between[at % between.length] ?? ' ')).join('');
        expect(toDelegationKey('Explore', `\n${loose}`)).toBe(
          toDelegationKey('explore', each.join(' ')),
        );
      }),
    );
  });

  it('differs for another agent or prompt', () => {
    const keys = [
      toDelegationKey('a', 'b c'),
      toDelegationKey('a b', 'c'),
      toDelegationKey('a', 'b d'),
    ];
    expect(new Set(keys).size).toBe(3);
  });
});

const SAME = call('Task', { prompt: 'look  around' });
const DEEP: EngineSetup = { settings: { maxDepth: 20 } };

/** Creates a model that makes the same delegation `width` times in every turn, as long as it may call tools. */
const stormy =
  (width: number) =>
  ({ toolChoice }: ModelRequest): ScriptedAnswer =>
    toolChoice === 'none'
      ? { text: 'what there is' }
      : calls(...Array.from({ length: width }, () => SAME));

describe('a model that repeats the same delegation', () => {
  it('ends soon at every depth, and names the limit', async () => {
    const test = testEngine(stormy(1), DEEP);
    const run = test.start('main');
    await run.end.written;
    expect(eventsOfType(test, 'child.created').length).toBe(MAX_REPEATED_DELEGATIONS);
    expect(test.model.requests.length).toBe(29);
    expect(test.engine.result(run)).toMatchObject({
      status: 'partial',
      data: { result: 'what there is' },
      error: {
        code: 'LIMIT_EXCEEDED',
        message: 'the limit same_delegations = 5 is reached (5 used)',
      },
    });
    const ends = eventsOfType(test, 'task.ended').map(({ end }) => end.because);
    expect(ends.filter((because) => because.includes('nested_same_delegations = 3')).length).toBe(
      3,
    );
  });

  it('ends just as soon when each message delegates many times', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 6 }),
        async (width, maxDepth) => {
          const test = testEngine(stormy(width), { settings: { maxDepth } });
          const run = test.start('main');
          await run.end.written;
          expect(eventsOfType(test, 'child.created').length).toBeLessThanOrEqual(
            width * MAX_REPEATED_DELEGATIONS,
          );
          expect(run.state.status).toBe('partial');
        },
      ),
      { numRuns: 12 },
    );
  });

  it('also ends when it resumes the task that did the work', async () => {
    let child = '';
    const test = testEngine((request) => {
      if (promptOf(request) !== 'main') return { text: 'nothing new' };
      if (request.toolChoice === 'none') return { text: 'given up' };
      const [first = ''] = textsOf(request).flatMap((text) => /\[task (\S+)/.exec(text)?.[1] ?? []);
      child = first;
      const words = { prompt: 'look around' };
      return calls(call('Task', child === '' ? words : { ...words, resume: child }));
    });
    const run = test.start('main');
    await run.end.written;
    expect(eventsOfType(test, 'child.created').length).toBe(1);
    expect(eventsOfType(test, 'child.resumed').length).toBe(MAX_REPEATED_DELEGATIONS - 1);
    expect(run.state.end?.because).toContain('same_delegations');
  });

  it('gets advice on what to do instead, and may follow it', async () => {
    const test = testEngine((request) => {
      if (promptOf(request) !== 'main') return { text: 'nothing new' };
      return answeredRounds(request) <= MAX_REPEATED_DELEGATIONS
        ? calls(SAME)
        : { text: 'did it myself' };
    });
    const run = test.start('main');
    await run.end.written;
    const refused = eventsOfType(test, 'call.ended').filter(({ error }) => error !== null);
    expect(refused.map(({ text, error }) => [text, error])).toEqual([
      [
        'Task: LIMIT_EXCEEDED: the limit same_delegations = 5 is reached: general-purpose was given the same prompt 5 times here, and no file has changed since. Delegating it again gives nothing new. Use the results that you have, do the work yourself, or say in the prompt what to do differently.',
        'LIMIT_EXCEEDED',
      ],
    ]);
    expect(run.state.result).toBe('did it myself');
  });

  it('is recognized again after a crash', async () => {
    let isFirst = true;
    let isDying = false;
    const script = (request: ModelRequest): ScriptedAnswer => {
      if (promptOf(request) !== 'main') return { text: 'nothing new' };
      if (request.toolChoice === 'none') return { text: 'given up' };
      return calls(SAME);
    };
    const first = testEngine(script, {
      onFault: () => {},
      prepareStore: (store) =>
        hookLogs(store, {
          append: (_, bodies) => {
            isDying ||= bodies.some((body) => body.type === 'turn.started' && body.turn === 4);
            if (isFirst && isDying) throw new MusterError('INTERNAL_ERROR', 'the disk is full');
          },
        }),
    });
    const run = first.start('main');
    await run.end.written;
    isFirst = false;
    expect(eventsOfType(first, 'child.created').length).toBe(3);
    const second = testEngine(script, { store: first.store });
    const again = await second.engine.resume(run.spec.id, {
      prompt: null,
      maxRights: (all) => all,
    });
    await again.end.written;
    expect(eventsOfType(second, 'child.created').length).toBe(MAX_REPEATED_DELEGATIONS - 3);
    expect(again.state.end?.because).toContain('same_delegations');
  });
});

/** A tool that changes a file at each call. */
const editTool: AnyTool = {
  ...waitTool,
  run: async (input: { readonly n: number }) => ({
    text: 'changed',
    facts: { changed: [{ path: '/a', before: null, after: String(input.n) }] },
  }),
};

describe('a delegation is not refused as a repetition', () => {
  it('when one message makes it a thousand times', async () => {
    const test = testEngine(
      (request) => {
        if (promptOf(request) !== 'main' || answeredRounds(request) > 0)
          return { text: 'a sample' };
        return calls(...Array.from({ length: 1_000 }, () => SAME));
      },
      { settings: { maxTasks: 1_000, maxParallel: 100 } },
    );
    const run = test.start('main');
    await run.end.written;
    expect(run.state.status).toBe('completed');
    expect(eventsOfType(test, 'child.created').length).toBe(1_000);
  });

  it('when it is made once more after a file has changed', async () => {
    const test = testEngine(
      (request) => {
        if (promptOf(request) !== 'main') return { text: 'red' };
        const rounds = answeredRounds(request);
        if (rounds >= 20) return { text: 'green' };
        return calls(rounds % 2 === 0 ? SAME : call('Bash', { n: rounds }));
      },
      { tools: [editTool] },
    );
    const run = test.start('main');
    await run.end.written;
    expect([run.state.result, eventsOfType(test, 'child.created').length]).toEqual(['green', 10]);
  });

  it('when it passes the next item of a list to a child', async () => {
    const test = testEngine(
      (request) => {
        const rounds = answeredRounds(request);
        if (promptOf(request) === 'main') return rounds < 9 ? calls(SAME) : { text: 'all done' };
        return rounds === 0 ? calls(call('Bash', { n: Math.random() })) : { text: 'one done' };
      },
      { tools: [editTool] },
    );
    const run = test.start('main');
    await run.end.written;
    expect(run.state.result).toBe('all done');
  });

  it('when many children make it, each for its own part', async () => {
    const test = testEngine((request) => {
      const prompt = promptOf(request);
      if (answeredRounds(request) > 0 || prompt.startsWith('look')) return { text: 'done' };
      if (prompt !== 'main') return calls(SAME);
      return calls(
        ...Array.from({ length: 20 }, (_, part) => call('Task', { prompt: `part ${part}` })),
      );
    });
    const run = test.start('main');
    await run.end.written;
    expect(eventsOfType(test, 'child.created').length).toBe(40);
    expect(eventsOfType(test, 'call.ended').every(({ error }) => error === null)).toBe(true);
  });

  it('when a person asks for it again in a conversation', async () => {
    const test = testEngine((request) => {
      if (promptOf(request) !== 'main') return { text: 'nothing new' };
      const { role } = request.messages.at(-1) ?? { role: 'user' };
      return role === 'user' ? calls(SAME) : { text: 'told' };
    });
    let run = test.start('main');
    await run.end.written;
    for (let more = 0; more < MAX_REPEATED_DELEGATIONS + MAX_NESTED_DELEGATIONS; more += 1) {
      run = await test.engine.resume(run.spec.id, { prompt: 'again', maxRights: (all) => all });
      await run.end.written;
      expect(run.state.result).toBe('told');
    }
    expect(eventsOfType(test, 'call.ended').every(({ error }) => error === null)).toBe(true);
  });
});
