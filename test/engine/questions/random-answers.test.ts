import { setImmediate as nextTick } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import { answerQuestion } from '../../../src/engine/questions/record-answer.ts';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../../src/protocol/permission.ts';
import type { PermissionQuestion } from '../../../src/protocol/question.ts';
import { openQuestions } from '../../../src/protocol/state/questions.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';
import { background, call, calls, hookLogs, play, until } from '../play.ts';
import { randomRuns } from '../random-runs.ts';
import { testEngine } from '../support.ts';

/** The directory of each child's files. Two children share the first one, so that one rule covers calls of both. */
const DIRECTORIES = ['a', 'a', 'b'];
const WRITES = 4;

type Step =
  | { readonly kind: 'mode'; readonly mode: PermissionMode }
  | {
      readonly kind: 'answer';
      /** The number of the question, counted through the open ones. */
      readonly at: number;
      readonly text: 'yes' | 'no' | 'always' | 'edits';
    }
  /** An answer to a question that may have been settled. */
  | { readonly kind: 'late'; readonly at: number }
  | { readonly kind: 'message' | 'withdraw' | 'tick' | 'ticks' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('mode' as const), mode: fc.constantFrom(...PERMISSION_MODES) }),
  fc.record({
    kind: fc.constant('answer' as const),
    at: fc.nat(5),
    text: fc.constantFrom('yes', 'yes', 'no', 'always', 'edits'),
  }),
  fc.record({ kind: fc.constant('late' as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constantFrom('message', 'withdraw', 'tick', 'tick', 'ticks') }),
);

function isExpected(thrown: unknown): boolean {
  return (
    thrown instanceof MusterError &&
    ['CONFLICT', 'NOT_FOUND', 'INVALID_PARAM'].includes(thrown.code)
  );
}

/** Carries out the steps, and returns each call that ran without a reason for it. */
async function run(steps: readonly Step[]) {
  const wrong: string[] = [];
  /** The files and directories for which the user has said yes or always. */
  const consents = new Set<string>();
  const shown: PermissionQuestion[] = [];
  /** The mode that the user means: the last one set, or acceptEdits after such an answer, which never lifts plan mode. */
  let mode: PermissionMode = 'default';
  const tool: AnyTool = {
    name: 'Write',
    kind: 'edit',
    replay: 'keyed',
    description: 'write',
    inputSchema: { type: 'object' },
    parse: (input) => ({ ok: true, input }),
    describe: ({ file }: { file: string }) => ({
      reads: [],
      writes: [`/w/${file}`],
      commands: [],
      hosts: [],
    }),
    run: async ({ file }: { file: string }) => {
      const isWide = mode === 'acceptEdits' || mode === 'autonomous';
      const isAllowed = isWide || consents.has(`/w/${file}`) || consents.has(file.slice(0, 1));
      if (mode === 'plan' || !isAllowed) wrong.push(`${file} in ${mode}`);
      await nextTick();
      return { text: 'written' };
    },
  };
  const children = DIRECTORIES.map((directory, index) => [
    `child${index}`,
    Array.from({ length: WRITES }, (_, n) =>
      calls(call('Write', { file: `${directory}/${index}-${n}` })),
    ),
  ]);
  const test = testEngine(
    play({
      main: [
        calls(
          ...DIRECTORIES.map((_, index) => background(`child${index}`)),
          call('Write', { file: 'c/main' }),
          call('Write', { file: 'd/main' }),
        ),
      ],
      ...Object.fromEntries(children),
    }),
    {
      mode: 'default',
      onAsk: 'wait',
      root: '/w',
      tools: [tool],
      isUserPresent: true,
      prepareStore: (store) =>
        hookLogs(store, {
          sync: async () => {
            for (let times = 0; times < 3; times += 1) await nextTick();
          },
        }),
    },
  );
  const main = test.start('main');
  await until(() => test.inbox.open().length === DIRECTORIES.length + 2);
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (thrown) {
      if (!isExpected(thrown)) throw thrown;
    }
  };
  const answer = (question: PermissionQuestion | undefined, text: string): void => {
    if (question === undefined) return;
    attempt(() => {
      answerQuestion(test.inbox, question.id, { text });
      const [path = ''] = question.paths;
      if (text === 'yes' || text === 'edits') consents.add(path);
      if (text === 'edits' && mode === 'default') mode = 'acceptEdits';
      if (text === 'always') consents.add(path.slice('/w/'.length, '/w/'.length + 1));
    });
  };
  for (const each of steps) {
    const open = test.inbox
      .open()
      .flatMap(({ question }) => (question.kind === 'permission' ? [question] : []));
    shown.push(...open.filter(({ id }) => shown.every((other) => other.id !== id)));
    switch (each.kind) {
      case 'mode':
        attempt(() => {
          test.engine.setMode(main.spec.id, each.mode);
          mode = each.mode;
        });
        break;
      case 'answer':
        answer(open[each.at % Math.max(1, open.length)], each.text);
        break;
      case 'late':
        answer(shown[each.at % Math.max(1, shown.length)], 'yes');
        break;
      case 'message':
        attempt(() => test.engine.send(main.spec.id, 'more'));
        break;
      case 'withdraw':
        attempt(() => void test.engine.withdraw(main.spec.id));
        break;
      case 'tick':
        await nextTick();
        break;
      case 'ticks':
        for (let times = 0; times < 10; times += 1) await nextTick();
        break;
    }
  }
  for (let times = 0; times < 20; times += 1) await nextTick();
  // Nobody waits for an answer to a question of a turn that the user has ended.
  const left = main.state.interrupted === null ? [] : openQuestions(main.state);
  await test.engine.stop(stopOrder('client', 'over'));
  return { wrong, left, ids: shown.map(({ id }) => id), waiting: test.inbox.open() };
}

const { runs, test } = randomRuns(40);

it(
  'no edit runs in plan mode or without a mode or an answer that allows it, in any order of events',
  test,
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
        const { wrong, left, ids, waiting } = await run(steps);
        expect([wrong, left, waiting]).toEqual([[], [], []]);
        expect(new Set(ids).size).toBe(ids.length);
      }),
      runs,
    );
  },
);
