import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { mergeOutcomes, type HookRun } from '../../src/hooks/merge-outcomes.ts';
import type { HookReply } from '../../src/hooks/read-hook-output.ts';
import type { Verdict } from '../../src/protocol/permission.ts';
import { PROJECT, USER } from './samples.ts';

function run(reply: Partial<HookReply>, source = USER): HookRun {
  const said = { outcome: 'ok', code: 0, ...reply } as const;
  return { source, what: 'check', ms: 5, reply: said, isAlwaysRecorded: false };
}

function verdict(name: Verdict, reason: string) {
  return { verdict: { verdict: name, reason } };
}

const RECORD = { what: 'check', ms: 5, code: 0, outcome: 'ok' };

it('says nothing for hooks that say nothing', () => {
  expect(mergeOutcomes([])).toEqual({ context: [], records: [] });
  expect(mergeOutcomes([run({}), run({})])).toEqual({ context: [], records: [] });
  const changing = { ...run({}), isAlwaysRecorded: true };
  expect(mergeOutcomes([changing])).toEqual({
    context: [],
    records: [{ ...RECORD, source: USER }],
  });
});

it('takes the strictest verdict with its first reason, and all contexts in order', () => {
  const merged = mergeOutcomes([
    run({ ...verdict('allow', 'a'), context: 'one' }),
    run({ ...verdict('deny', 'b'), outcome: 'blocked', updatedInput: { x: 1 } }, PROJECT),
    run({ ...verdict('deny', 'c'), outcome: 'blocked', context: 'two' }),
    run({ outcome: 'failed', code: 1, message: 'oh' }),
  ]);
  expect(merged).toEqual({
    verdict: { verdict: 'deny', reason: 'b', source: PROJECT },
    context: ['one', 'two'],
    records: [
      {
        ...RECORD,
        source: USER,
        message: 'its permission does not count, because another hook changed the input',
      },
      { ...RECORD, source: PROJECT, outcome: 'blocked' },
      { ...RECORD, source: USER, outcome: 'blocked' },
      { ...RECORD, source: USER, outcome: 'failed', code: 1, message: 'oh' },
    ],
  });
});

it('takes the last input and says that an earlier one was lost', () => {
  const merged = mergeOutcomes([
    run({ updatedInput: { x: 1 }, message: 'hi' }),
    run({ updatedInput: { x: 2 } }),
  ]);
  expect(merged).toEqual({
    updatedInput: { x: 2 },
    changedBy: { source: USER, what: 'check' },
    context: [],
    records: [
      { ...RECORD, source: USER, message: 'a later hook replaced its new input; hi' },
      { ...RECORD, source: USER },
    ],
  });
});

it('keeps a permission only for the input that it was given for', () => {
  const allow = verdict('allow', 'fine');
  const own = mergeOutcomes([run({ ...allow, updatedInput: { x: 1 } })]);
  expect(own.verdict).toEqual({ verdict: 'allow', reason: 'fine', source: USER });
  const foreign = mergeOutcomes([run(allow), run({ updatedInput: { x: 1 } }, PROJECT)]);
  expect(foreign.verdict).toBeUndefined();
  const replaced = mergeOutcomes([
    run({ ...allow, updatedInput: { x: 1 } }),
    run({ updatedInput: { x: 2 } }, PROJECT),
  ]);
  expect(replaced.verdict).toBeUndefined();
});

it('takes the first block and the first stop', () => {
  const merged = mergeOutcomes([
    run({ outcome: 'blocked', block: 'a' }),
    run({ outcome: 'blocked', block: 'b', stop: 'c' }),
    run({ outcome: 'blocked', stop: 'd' }),
  ]);
  expect({ ...merged, records: [] }).toEqual({ block: 'a', stop: 'c', context: [], records: [] });
});

it('is never wider than its strictest part, and depends only on what each hook said', () => {
  const width: Readonly<Record<Verdict, number>> = { deny: 0, ask: 1, allow: 2 };
  const reply = fc.record(
    {
      verdict: fc.option(
        fc.record({ verdict: fc.constantFrom('deny', 'ask', 'allow'), reason: fc.string() }),
        { nil: undefined },
      ),
      updatedInput: fc.option(fc.record({ x: fc.integer() }), { nil: undefined }),
      block: fc.option(fc.string(), { nil: undefined }),
      stop: fc.option(fc.string(), { nil: undefined }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.array(reply), (replies) => {
      const said = replies.map((each) => {
        const defined = Object.entries(each).filter(([, value]) => value !== undefined);
        return { outcome: 'ok', code: 0, ...Object.fromEntries(defined) } as HookReply;
      });
      const merged = mergeOutcomes(said.map((each) => run(each)));
      const verdicts = said.flatMap(({ verdict }) => verdict?.verdict ?? []);
      const strictest = Math.min(...verdicts.map((name) => width[name]), 3);
      const got = merged.verdict === undefined ? undefined : width[merged.verdict.verdict];
      // Without a permission, the usual decision counts. A refusal or a question is never lost.
      if (strictest < width.allow) expect(got).toBe(strictest);
      else expect([undefined, width.allow]).toContain(got);
      if (strictest === 3) expect(got).toBeUndefined();
      // A permission never covers an input that its hook has not seen.
      if (got === width.allow && merged.updatedInput !== undefined) {
        const changes = said.filter(({ updatedInput }) => updatedInput !== undefined);
        expect(changes.at(-1)?.verdict?.verdict).toBe('allow');
      }
      expect(merged.block !== undefined).toBe(said.some(({ block }) => block !== undefined));
      expect(merged.stop !== undefined).toBe(said.some(({ stop }) => stop !== undefined));
    }),
  );
});
