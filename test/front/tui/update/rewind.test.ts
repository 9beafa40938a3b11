import { expect, it } from 'vitest';
import type { AppState } from '../../../../src/front/tui/model/app-state.ts';
import type { UiMessage } from '../../../../src/front/tui/update/message.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import type { RewindPlan } from '../../../../src/api/index.ts';
import { CONTEXT, stateOf } from './fixtures.ts';

const CONVERSATION = { id: 'main', isAtWork: false, isWatched: false, isSending: false };
const PROMPT = { text: 'mend it', before: 4 };
const PLAN: RewindPlan = {
  task: 'main',
  agent: 'main',
  wish: { to: 4 },
  to: 4,
  toTime: 0,
  undoes: null,
  ends: null,
  isThere: false,
  before: { messages: 4, turns: 3, end: 'completed' },
  after: { messages: 2, turns: 1, end: null },
  tasks: [],
  dropped: [],
  files: [],
  refused: [],
  left: [],
  commands: [],
} as never;

function idle(change: Partial<AppState> = {}): AppState {
  return stateOf(
    { conversation: CONVERSATION, ...change },
    { members: { main: { hasEnded: true } } },
  );
}

const run = (state: AppState, message: UiMessage) => update(state, message, CONTEXT);
const planned: UiMessage = { type: 'rewind-planned', plan: PLAN, prompt: PROMPT };

it.each<readonly [string, AppState, string]>([
  ['nothing was said', stateOf(), 'there is no conversation yet'],
  [
    'it is at work',
    idle({ conversation: { ...CONVERSATION, isAtWork: true } }),
    'the conversation is at work: stop it first',
  ],
  [
    'a message is on its way',
    idle({ conversation: { ...CONVERSATION, isSending: true } }),
    'the conversation is at work: stop it first',
  ],
])('/undo is refused while %s', (_, state, hint) => {
  const { state: after, effects } = run(state, { type: 'run-command', name: 'undo', argument: '' });
  expect([after.hint, effects]).toEqual([hint, []]);
});

it('/undo asks for a confirmation, and undoes only after a yes', () => {
  const asked = run(idle(), { type: 'run-command', name: 'undo', argument: '1' });
  const target = { isRedo: false, prompt: null, back: 1, only: null };
  expect(asked.effects).toEqual([{ type: 'plan-rewind', conversation: 'main', ...target }]);
  const shown = run(asked.state, planned).state;
  expect(shown).toMatchObject({ focus: 'question', question: 'undo' });
  const refused = run(shown, { type: 'key-pressed', meaning: 'answer-no' });
  expect([refused.state.hint, refused.effects]).toEqual(['nothing was changed', []]);
  const agreed = run(shown, { type: 'key-pressed', meaning: 'answer-once' });
  expect(agreed.effects).toEqual([{ type: 'rewind', plan: PLAN, prompt: PROMPT }]);
  // A second answer does nothing: the question is gone.
  expect(run(agreed.state, { type: 'confirmed', isYes: true }).effects).toEqual([]);
});

it('/undo does nothing after a yes if work has started since', () => {
  const shown = run(idle(), planned).state;
  const working = { ...shown, conversation: { ...CONVERSATION, isAtWork: true } };
  const agreed = run(working, { type: 'key-pressed', meaning: 'answer-once' });
  expect([agreed.state.hint, agreed.effects]).toEqual([
    'the conversation is at work: stop it first',
    [],
  ]);
});

it('the confirmation of /undo takes no focus from a text that is being typed', () => {
  const shown = run(idle({ typed: 'something else' }), planned).state;
  expect(shown).toMatchObject({ focus: 'editor', question: null });
  expect([...shown.tree.questions.keys()]).toEqual(['undo']);
});

it.each([
  ['is loaded again', PROMPT, [{ type: 'load-conversation', id: 'main' }]],
  ['starts anew', { ...PROMPT, before: null }, [{ type: 'start-new-conversation' }]],
] as const)(
  'after an undo the conversation %s, and the message can be edited',
  (_, prompt, effects) => {
    const skipped = ['b.ts: it was changed since'];
    const done = run(idle(), { type: 'rewound', files: 1, skipped, prompt, only: null });
    expect(done.state.tree.main.entries).toEqual([]);
    expect(done.effects).toEqual([
      { type: 'set-editor-text', text: 'mend it' },
      ...effects,
      {
        type: 'dispatch',
        message: { type: 'note', level: 'info', text: '1 file put back; /redo reverts that' },
      },
      {
        type: 'dispatch',
        message: { type: 'note', level: 'warning', text: 'not b.ts: it was changed since' },
      },
    ]);
  },
);
