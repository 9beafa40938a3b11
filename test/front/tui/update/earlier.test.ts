import { expect, it } from 'vitest';
import type { AppState, EarlierConversations } from '../../../../src/front/tui/model/app-state.ts';
import { describeEarlier } from '../../../../src/front/tui/update/commands/conversations.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import { earlierText } from '../../../../src/front/tui/view/start-screen.ts';
import { openMemoryStore } from '../../../../src/store/memory-store.ts';
import type { TaskSummary } from '../../../../src/store/task-store.ts';
import { taskSpec } from '../../../store/fixture-data.ts';
import { CONTEXT, stateOf } from './fixtures.ts';

const HOUR = 3_600_000;
const NOW = 100 * HOUR;
const CWD = '/home/you/project';

/** A task in the logs that ended some hours ago. */
function ended(hours: number, change: Partial<TaskSummary> = {}): TaskSummary {
  const store = openMemoryStore();
  store.create(taskSpec('mainmain', { cwd: CWD, description: `What is ${hours}?` })).close();
  const [task] = store.list();
  if (task === undefined) throw new Error('the task is not listed');
  return { ...task, created: NOW - 50 * HOUR, ended: NOW - hours * HOUR, ...change };
}

it.each<readonly [string, readonly TaskSummary[], EarlierConversations | null]>([
  ['none', [], null],
  ['one', [ended(2)], { count: 1, title: 'What is 2?', age: '2 hours ago' }],
  [
    'the last one',
    [ended(5), ended(3), ended(9)],
    { count: 3, title: 'What is 3?', age: '3 hours ago' },
  ],
  [
    'one that has not ended',
    [ended(5), ended(1, { ended: null })],
    { count: 2, title: 'What is 5?', age: '5 hours ago' },
  ],
  [
    'others',
    [ended(1, { cwd: '/tmp' }), ended(1, { parent: 'x' }), ended(1, { source: 'template' })],
    null,
  ],
])('describes the earlier conversations of the directory: %s', (_, tasks, described) => {
  expect(describeEarlier(tasks, { cwd: CWD, now: NOW })).toEqual(described);
});

const LONG = 'A very long title of an earlier conversation about retries';

it.each([
  [
    { count: 1, title: 'Fix it', age: '2 hours ago' },
    80,
    '/resume continues “Fix it” (2 hours ago)',
  ],
  [
    { count: 2, title: LONG, age: 'just now' },
    80,
    '/resume continues “A very long title of an earlier c…” (just now) or another one',
  ],
  [
    { count: 9, title: 'Fix it', age: '1 day ago' },
    80,
    '/resume continues “Fix it” (1 day ago) or one of 8 others',
  ],
  [{ count: 9, title: LONG, age: '1 day ago' }, 40, '/resume continues one of 9 conversations'],
  [{ count: 1, title: '', age: '1 day ago' }, 80, '/resume continues an earlier conversation'],
])('the hint about %j in %d columns', (earlier, width, text) => {
  expect(earlierText(earlier, width)).toBe(text);
});

it('the hint controls no terminal', () => {
  const earlier = { count: 1, title: 'a\u001b[31mred\u202e', age: 'just now' };
  expect(earlierText(earlier, 80)).not.toMatch(/\p{Cc}|\u202e/u);
});

const START = { type: 'started', firstMessage: null, dialogs: [], isNew: true } as const;
const LOOK = { type: 'find-earlier-conversations' } as const;

it.each<readonly [string, object, Partial<AppState>, readonly object[]]>([
  ['a new user', {}, {}, [LOOK]],
  ['a user who has used it often', {}, { hintUses: new Map([['resume', 5]]) }, []],
  ['a user who wants no hints', {}, { terminal: { ...stateOf().terminal, hints: false } }, []],
  ['a message of the command line', { firstMessage: 'Go' }, {}, [expect.anything()]],
  ['an earlier conversation', { isNew: false }, {}, []],
])('the start looks for earlier conversations: %s', (_, start, change, effects) => {
  expect(update(stateOf(change), { ...START, ...start }, CONTEXT).effects).toEqual(effects);
});

const EARLIER = { count: 1, title: 'Fix it', age: 'just now' };

it('the hint is on the start screen, or a line, unless a conversation has begun meanwhile', () => {
  const found = { type: 'earlier-found', earlier: EARLIER } as const;
  const onScreen = update(stateOf(), found, CONTEXT).state;
  expect(onScreen.earlier).toEqual(EARLIER);
  const inLines = update(stateOf({ surface: 'lines' }), found, CONTEXT).state;
  expect(inLines.tree.main.entries).toMatchObject([
    { kind: 'note', text: '/resume continues “Fix it” (just now)' },
  ]);
  const conversation = { id: 'main', isAtWork: true, isWatched: false, isSending: false };
  const begun = stateOf({ conversation });
  expect(update(begun, found, CONTEXT).state).toBe(begun);
});
