import { expect, it } from 'vitest';
import { update } from '../../../../src/front/tui/update/update.ts';
import { CONTEXT, stateOf } from './fixtures.ts';

const CONVERSATION = { id: 'main', isAtWork: false, isWatched: false, isSending: false };

it.each([
  ['/export', { file: 'muster-main.md', withTasks: false }],
  ['/export out.html', { file: 'out.html', withTasks: false }],
  ['/export my notes.md', { file: 'my notes.md', withTasks: false }],
  ['/export --all', { file: 'muster-main.md', withTasks: true }],
  ['/export --all my notes.md', { file: 'my notes.md', withTasks: true }],
])('%s writes the conversation in view', (text, expected) => {
  const { effects } = update(
    stateOf({ conversation: CONVERSATION }),
    { type: 'submitted', text },
    CONTEXT,
  );
  const exports = effects.filter(({ type }) => type === 'export-conversation');
  expect(exports).toEqual([{ type: 'export-conversation', task: 'main', ...expected }]);
});

it('/export with an unknown option writes no file of that name', () => {
  const { state, effects } = update(
    stateOf({ conversation: CONVERSATION }),
    { type: 'submitted', text: '/export --everything' },
    CONTEXT,
  );
  expect(effects.some(({ type }) => type === 'export-conversation')).toBe(false);
  expect(state.hint).toBe('type /export, or /export --all FILE');
});
