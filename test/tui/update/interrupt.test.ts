import { expect, it } from 'vitest';
import { interrupt, toBackground } from '../../../src/front/tui/update/interrupt.ts';
import { taskRow } from '../../../src/front/tui/model/task-row.ts';
import { emptyUiState, type UiState } from '../../../src/front/tui/model/task-tree.ts';
import { LOG_VERSION } from '../../../src/protocol/event.ts';
import { initialState } from '../../../src/protocol/state.ts';
import { taskSpec } from '../../store/fixture-data.ts';

interface Member {
  readonly parent?: string;
  readonly isBackground?: true;
  readonly hasEnded?: true;
}

function treeOf(members: Readonly<Record<string, Member>>): UiState {
  const ui = emptyUiState();
  ui.root = 'main';
  for (const [id, { parent = null, isBackground, hasEnded }] of Object.entries(members)) {
    const spec = taskSpec(id, { parent });
    const stamp = { v: LOG_VERSION, seq: 0, ts: 1, task: id, epoch: 1 };
    const row = taskRow(initialState({ ...stamp, type: 'task.created', spec }), 0);
    ui.rows.set(id, { ...row, endedAt: hasEnded === true ? 2 : null });
    if (isBackground === true) ui.background.add(id);
  }
  return ui;
}

const ALONE = { main: {} };
const WAITING = { main: {}, a: { parent: 'main' }, b: { parent: 'a' } };
const MIXED = { ...WAITING, c: { parent: 'main', isBackground: true } } as const;
const OVER = { main: { hasEnded: true }, a: { parent: 'main', hasEnded: true } } as const;
const NO_MORE_BACKGROUND = {
  main: {},
  c: { parent: 'main', isBackground: true, hasEnded: true },
} as const;

const NOTHING = { interrupts: null, stops: null, arms: false, hint: null };
const stopping = (stops: string, hint: string) => ({ ...NOTHING, stops, hint });
const interrupting = (hint: string) => ({ ...NOTHING, interrupts: 'main', arms: true, hint });

it.each<readonly [string, Readonly<Record<string, Member>>, string | null, boolean, object]>([
  ['a main task alone', ALONE, null, false, interrupting('stopping')],
  ['one that waits', WAITING, null, false, interrupting('stopping')],
  [
    'one that waits, with others in the background',
    MIXED,
    null,
    false,
    interrupting('interrupted; again stops 1 background task, too'),
  ],
  ['the same, pressed again', MIXED, null, true, stopping('main', 'stopping everything')],
  [
    'others that have ended in the background',
    NO_MORE_BACKGROUND,
    null,
    false,
    interrupting('stopping'),
  ],
  ['nothing at work', OVER, null, false, NOTHING],
  ['a task that is looked into', MIXED, 'b', false, stopping('b', 'stopping it')],
  ['one that has ended', OVER, 'a', false, NOTHING],
])('esc, with %s', (_, members, openTask, isArmed, outcome) => {
  expect(interrupt(treeOf(members), { openTask, isArmed })).toEqual(outcome);
});

it.each<readonly [Readonly<Record<string, Member>>, string | null, readonly string[]]>([
  [ALONE, null, []],
  [WAITING, null, ['a']],
  [WAITING, 'b', ['b']],
  [MIXED, null, ['a']],
  [MIXED, 'c', []],
  [OVER, null, []],
])('to the background go, of %j with %s open, %j', (members, openTask, ids) => {
  expect(toBackground(treeOf(members), openTask)).toEqual(ids);
});
