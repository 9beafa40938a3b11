import { findForegroundTasks } from '../../../../src/front/tui/model/task-tree.ts';
import type { AppState } from '../../../../src/front/tui/model/app-state.ts';
import { modesAfter } from '../../../../src/front/tui/update/modes.ts';
import { expect, it } from 'vitest';
import { interruptTask, TASK_ACTIONS } from '../../../../src/front/tui/update/tasks.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import { CONTEXT, stateOf, treeOf, type Member } from './fixtures.ts';

type Members = Readonly<Record<string, Member>>;

const ALONE: Members = { main: {} };
const WAITING: Members = { main: {}, a: { parent: 'main' }, b: { parent: 'a' } };
const MIXED: Members = { ...WAITING, c: { parent: 'main', isBackground: true } };
const ENDED: Members = { main: { hasEnded: true }, a: { parent: 'main', hasEnded: true } };
const ENDED_BACKGROUND: Members = {
  main: {},
  c: { parent: 'main', isBackground: true, hasEnded: true },
};

const ENDED_FIRST: Members = {
  main: {},
  a: { parent: 'main', hasEnded: true },
  c: { parent: 'main' },
};

const NOTHING = { effects: [], armed: null, hint: null };
const stopping = (task: string, hint: string) => ({
  effects: [{ type: 'stop-task', task }],
  armed: null,
  hint,
});
const interrupting = (hint: string) => ({
  effects: [
    { type: 'interrupt-task', task: 'main' },
    { type: 'expire-armed', ms: 2_000 },
  ],
  armed: 'stop-tree',
  hint,
});
const BACKGROUND_HINT = 'interrupted; esc again stops 1 background task';

it.each<readonly [string, Members, string | null, boolean, object]>([
  ['a main task alone', ALONE, null, false, interrupting('stopping')],
  ['a main task that waits', WAITING, null, false, interrupting('stopping')],
  ['a task in the background', MIXED, null, false, interrupting(BACKGROUND_HINT)],
  ['the same, pressed again', MIXED, null, true, stopping('main', 'stopping everything')],
  ['an ended background task', ENDED_BACKGROUND, null, false, interrupting('stopping')],
  ['nothing at work', ENDED, null, false, NOTHING],
])('esc with %s', (_, members, openTask, isArmed, outcome) => {
  const { state, effects } = interruptTask(
    stateOf({ openTask }, { members }),
    isArmed ? 'stop-tree' : null,
    CONTEXT,
  );
  expect({ effects, armed: state.armed, hint: state.hint }).toEqual(outcome);
});

it('Esc stops a watched conversation only when it is pressed twice', () => {
  const conversation = { id: 'main', isAtWork: false, isWatched: true, isSending: false };
  const watched = stateOf({ conversation }, { members: WAITING });
  const first = interruptTask(watched, null, CONTEXT);
  expect(first.effects).toEqual([{ type: 'expire-armed', ms: 2_000 }]);
  expect(first.state.armed).toBe('stop-tree');
  expect(interruptTask(watched, 'stop-tree', CONTEXT).effects).toEqual([
    { type: 'stop-task', task: 'main' },
  ]);
});

it.each<readonly [Members, string | null, readonly string[]]>([
  [ALONE, null, []],
  [WAITING, null, ['a']],
  [WAITING, 'b', ['b']],
  [MIXED, null, ['a']],
  [MIXED, 'c', []],
  [ENDED, null, []],
])('of %j with %s open, %j go to the background', (members, openTask, ids) => {
  expect(findForegroundTasks(treeOf(members), openTask)).toEqual(ids);
});

it.each([
  ['plan', ['default', 'acceptEdits', 'autonomous']],
  ['default', ['acceptEdits', 'autonomous', 'plan']],
  ['autonomous', ['plan', 'default', 'acceptEdits']],
] as const)('the modes after %s are %j', (mode, modes) => {
  expect(modesAfter(mode)).toEqual(modes);
});

it.each<readonly [string, Members, Partial<AppState>, string]>([
  ['the first child at work', { ...ENDED_FIRST, b: { parent: 'main' } }, {}, 'c'],
  ['the chosen child while it is at work', WAITING, { chosenTask: 'b' }, 'b'],
  ['a child at work instead of an ended one', ENDED_FIRST, { chosenTask: 'a' }, 'c'],
  ['the chosen child if none is at work', ENDED, { chosenTask: 'a' }, 'a'],
  ['the open child', WAITING, { openTask: 'a', chosenTask: 'b' }, 'a'],
  ['the main task alone', ALONE, {}, 'main'],
])('ctrl+t chooses %s', (_, members, state, chosenTask) => {
  const focused = TASK_ACTIONS['focus-tasks'](stateOf(state, { members }));
  expect(focused.state).toMatchObject({ focus: 'tasks', chosenTask });
});

it.each<readonly [string, readonly object[], string | null]>([
  [
    '/task-send a1 and lint, too',
    [{ type: 'send-message', text: 'and lint, too', to: 'a1' }],
    'sent to Explore a1',
  ],
  [
    '/task-send main go on',
    [{ type: 'send-message', text: 'go on', to: null }],
    'sent to Explore main',
  ],
  ['/task-send a1', [], 'type the message after the id: /task-send ID MESSAGE'],
  ['/task-send', [], 'which one? /tasks lists their ids'],
  ['/task-send a hello', [], 'a means 2 tasks; /tasks lists their ids'],
  ['/task-stop a1', [{ type: 'stop-task', task: 'a1' }], 'stopping the task'],
  ['/task-stop b', [], 'the task has already ended'],
  ['/task-stop z', [], 'z means no task of this conversation; /tasks lists their ids'],
])('%s', (text, effects, hint) => {
  const members: Members = {
    main: {},
    a1: { parent: 'main' },
    a2: { parent: 'main' },
    b: { parent: 'main', hasEnded: true },
  };
  const typed = update(stateOf({}, { members }), { type: 'submitted', text }, CONTEXT);
  const remembered = { type: 'remember-input', text };
  expect([typed.effects, typed.state.hint]).toEqual([[remembered, ...effects], hint]);
});
