import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AppState } from '../../../../src/front/tui/model/app-state.ts';
import { ACTIONS } from '../../../../src/front/tui/model/key-bindings.ts';
import { emptyTranscript } from '../../../../src/front/tui/model/transcript.ts';
import { COMMANDS } from '../../../../src/front/tui/update/commands/command-table.ts';
import type { UiEffect } from '../../../../src/front/tui/update/step.ts';
import type { UiMessage } from '../../../../src/front/tui/update/message.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import { CONTEXT, permissionQuestion, stateOf, type Member } from './fixtures.ts';

const MEMBERS: Readonly<Record<string, Member>> = {
  main: {},
  a: { parent: 'main' },
  b: { parent: 'a', hasEnded: true },
  c: { parent: 'main', isBackground: true },
};
const TASKS = Object.keys(MEMBERS);
const QUESTIONS = ['q1', 'q2'];
const PLAN = {
  task: 'main',
  agent: 'main',
  files: [],
  refused: [],
  left: [],
  tasks: [],
  dropped: [],
  isThere: false,
} as never;

const task = fc.constantFrom(...TASKS);
const text = fc.constantFrom('', 'yes', 'look at src', 'npm', '/etc/hosts is wrong');
const typedLine = fc.oneof(
  text,
  fc.constantFrom('!ls', '!!ls', '!', '/nonsense', '/exit', '/model fast', '/resume main'),
  fc.constantFrom(...COMMANDS.map(({ name }) => `/${name}`)),
);

/** Messages of every kind that a person or the library can cause, in any order. */
const MESSAGE: fc.Arbitrary<UiMessage> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('key-pressed' as const),
      meaning: fc.constantFrom(...ACTIONS, 'editor' as const, 'nothing' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('submitted' as const), text: typedLine }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('typed' as const), text }) },
  fc.record({
    type: fc.constant('frame' as const),
    size: fc.record({
      width: fc.integer({ min: 1, max: 120 }),
      height: fc.integer({ min: 1, max: 40 }),
      editorLines: fc.integer({ min: 1, max: 10 }),
    }),
  }),
  fc.record({ type: fc.constant('scroll' as const), lines: fc.integer({ min: -50, max: 50 }) }),
  task.map((id): UiMessage => ({
    type: 'task-opened',
    task: id,
    transcript: emptyTranscript(id),
  })),
  fc.record({
    type: fc.constant('note' as const),
    level: fc.constantFrom('info' as const, 'warning' as const, 'error' as const),
    text,
  }),
  fc.record({ type: fc.constant('hint' as const), text }),
  fc.record({ type: fc.constant('request-failed' as const), text }),
  fc.constant<UiMessage>({ type: 'page', title: 'Page', lines: ['one', 'two'] }),
  fc.record({
    type: fc.constant('conversation-changed' as const),
    status: fc.record({
      id: fc.constantFrom(null, 'main', 'other'),
      isAtWork: fc.boolean(),
      isSending: fc.boolean(),
    }),
  }),
  fc.constant<UiMessage>({ type: 'conversation-idle' }),
  fc.constant<UiMessage>({ type: 'armed-expired' }),
  fc.record({
    type: fc.constant('messages-withdrawn' as const),
    texts: fc.constantFrom([], ['one'], ['one', 'two']),
  }),
  fc.record({
    type: fc.constant('conversation-found' as const),
    found: fc.record({
      id: fc.constantFrom('main', 'other'),
      parent: fc.constantFrom(null, 'main'),
      root: fc.constant('main'),
      ownerPid: fc.constantFrom(null, 7),
    }),
  }),
  fc.constant<UiMessage>({
    type: 'conversation-loaded',
    id: 'other',
    main: emptyTranscript('other'),
  }),
  fc.record({
    type: fc.constant('answer-accepted' as const),
    question: fc.constantFrom(...QUESTIONS, 'gone'),
  }),
  fc.record({
    type: fc.constant('answer-rejected' as const),
    reason: fc.constant('nobody waits for it'),
    typed: fc.constantFrom(null, 'my answer'),
  }),
  fc.record({ type: fc.constant('confirmed' as const), isYes: fc.boolean() }),
  fc.record({
    type: fc.constant('rewind-planned' as const),
    plan: fc.constant(PLAN),
    prompt: fc.constantFrom(null, { text: 'first', before: null }, { text: 'later', before: 4 }),
  }),
  fc.record({
    type: fc.constant('rewound' as const),
    files: fc.nat(3),
    skipped: fc.constant(['a.ts: it was changed since']),
    only: fc.constantFrom(null, 'files' as const, 'conversation' as const),
    prompt: fc.constantFrom(null, { text: 'first', before: null }, { text: 'later', before: 4 }),
  }),
  fc.record({
    type: fc.constant('shell-output' as const),
    key: fc.nat(5),
    change: fc.record({
      output: text,
      outputLines: fc.nat(5),
      outcome: fc.constantFrom(null, 'exit code 0'),
    }),
  }),
);

const START = stateOf(
  {},
  { members: MEMBERS, questions: QUESTIONS.map((id) => permissionQuestion(id)) },
);

function play(messages: readonly UiMessage[], start: AppState = START) {
  let state = start;
  const effects: UiEffect[] = [];
  for (const message of messages) {
    const result = update(state, message, CONTEXT);
    state = result.state;
    effects.push(...result.effects);
  }
  return { state, effects };
}

/** Rules that hold in every state, as a list of those that are broken. */
function broken(state: AppState): readonly string[] {
  const { tree, focus, question, writing, search, openTask, chosenEntry } = state;
  const rules: Readonly<Record<string, boolean>> = {
    'a focused question is named': focus !== 'question' || question !== null,
    'an answer belongs to a question':
      !['reason', 'answer', 'plan'].includes(writing.kind) || question !== null,
    'a search is shown while one is typed': (writing.kind === 'search') === (search !== null),
    'no question has the focus during a search': writing.kind !== 'search' || question === null,
    'an open task has a transcript': openTask === null || tree.opened !== null,
    'an entry is selected only while entries have the focus':
      chosenEntry === null || focus === 'entries',
    'the scroll position of a question is not negative': state.questionScroll >= 0,
    'the tree fits on the terminal': state.paneHeight <= Math.max(2, state.size.height),
  };
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [rule]));
}

describe('update', () => {
  it('leaves the state valid after any messages', () => {
    fc.assert(
      fc.property(fc.array(MESSAGE, { maxLength: 40 }), (messages) => {
        let state = START;
        for (const message of messages) {
          ({ state } = update(state, message, CONTEXT));
          expect(broken(state)).toEqual([]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('changes nothing of the state that it is given', () => {
    fc.assert(
      fc.property(fc.array(MESSAGE, { maxLength: 12 }), MESSAGE, (before, message) => {
        const { state } = play(before);
        const { clock, ...tree } = state.tree;
        const copy = structuredClone({ ...state, tree });
        const first = update(state, message, CONTEXT);
        expect({ ...state, tree: { ...state.tree, clock: undefined } }).toEqual({
          ...copy,
          tree: { ...copy.tree, clock: undefined },
        });
        expect(update(state, message, CONTEXT)).toEqual(first);
        expect(clock).toBe(state.tree.clock);
      }),
      { numRuns: 200 },
    );
  });

  it('can always be left by pressing Ctrl+C three times', () => {
    const leave: UiMessage = { type: 'key-pressed', meaning: 'leave' };
    fc.assert(
      fc.property(fc.array(MESSAGE, { maxLength: 30 }), (messages) => {
        // The first Ctrl+C may stop a shell command, which then ends.
        const { state } = play([...messages, leave]);
        const { effects } = play([leave, leave], { ...state, isShellRunning: false });
        expect(effects).toContainEqual({ type: 'leave' });
      }),
    );
  });

  it('answers no question by a key unless that question has the focus', () => {
    fc.assert(
      fc.property(fc.array(MESSAGE, { maxLength: 30 }), MESSAGE, (messages, last) => {
        const { state } = play(messages);
        const { effects } = update(state, last, CONTEXT);
        const answered = effects.flatMap((effect) =>
          effect.type === 'answer-question' ? [effect.answer.question] : [],
        );
        expect(answered.every((id) => id === state.question)).toBe(true);
      }),
    );
  });

  it('returns to the editor, and to the conversation, by pressing back often enough', () => {
    const back = Array.from({ length: 5 }, (): UiMessage => ({
      type: 'key-pressed',
      meaning: 'back',
    }));
    fc.assert(
      fc.property(fc.array(MESSAGE, { maxLength: 30 }), (messages) => {
        const { state } = play([...messages, ...back]);
        expect(state).toMatchObject({
          focus: 'editor',
          writing: { kind: 'message' },
          openTask: null,
          search: null,
          question: null,
        });
      }),
    );
  });
});

describe('Ctrl+C', () => {
  const leave: UiMessage = { type: 'key-pressed', meaning: 'leave' };
  const expiry = { type: 'expire-armed', ms: 2_000 };
  const clear = { type: 'set-editor-text', text: '' };
  const other: UiMessage = { type: 'key-pressed', meaning: 'editor' };

  it.each<readonly [string, Partial<AppState>, readonly UiMessage[], readonly object[]]>([
    ['clears the text first', { typed: 'half' }, [leave], [expiry, clear]],
    [
      'leaves when it is pressed twice',
      { typed: 'half' },
      [leave, leave],
      [expiry, clear, { type: 'leave' }],
    ],
    ['starts anew after another key', {}, [leave, other, leave], [expiry, clear, expiry, clear]],
    [
      'starts anew when the time for the second press is over',
      {},
      [leave, { type: 'armed-expired' }, leave],
      [expiry, clear, expiry, clear],
    ],
    [
      'leaves although something was pasted in between',
      {},
      [leave, { type: 'typed', text: 'pasted' }, leave],
      [expiry, clear, { type: 'leave' }],
    ],
    [
      'leaves although an image was pasted in between',
      {},
      [leave, { type: 'key-pressed', meaning: 'paste-image' }, leave],
      [expiry, clear, { type: 'paste-image' }, { type: 'leave' }],
    ],
    ['is not armed by a paste', {}, [{ type: 'typed', text: 'pasted' }, leave], [expiry, clear]],
    ['stops a shell command first', { isShellRunning: true }, [leave], [{ type: 'stop-shell' }]],
    ['clears the text before that', { isShellRunning: true, typed: 'x' }, [leave], [expiry, clear]],
  ])('%s', (_, change, messages, effects) => {
    expect(play(messages, { ...START, ...change }).effects).toEqual(effects);
  });
});
