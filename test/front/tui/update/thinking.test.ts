import { expect, it } from 'vitest';
import { addEntry } from '../../../../src/front/tui/model/transcript.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import { partsInView } from '../../../../src/front/tui/view/frame.ts';
import type { AppState } from '../../../../src/front/tui/model/app-state.ts';
import { CONTEXT, stateOf } from './fixtures.ts';

const THOUGHT = `The first idea. ${'It goes on and on. '.repeat(20)}The last idea.`;

function drawn(state: AppState): string {
  const parts = partsInView(state, CONTEXT);
  const lines = Array.from({ length: parts.count }, (_, index) => parts.part(index).lines);
  return lines.flat().join('\n');
}

it('/thinking shows one line, the full text, or nothing of a thought', () => {
  const state = stateOf({}, { members: { main: {} } });
  addEntry(state.tree.main, { kind: 'thinking', text: THOUGHT });
  const run = (before: AppState, argument: string) =>
    update(before, { type: 'submitted', text: `/thinking ${argument}` }, CONTEXT).state;
  expect(drawn(state)).toContain('The first idea.');
  expect(drawn(state)).not.toContain('The last idea.');
  const full = run(state, 'full');
  expect(drawn(full)).toContain('The last idea.');
  const hidden = run(full, '');
  expect(hidden.terminal.thinking).toBe('hidden');
  expect(drawn(hidden)).not.toContain('idea');
  expect(run(hidden, '').terminal.thinking).toBe('short');
  const wrong = run(hidden, 'loud');
  expect(wrong).toMatchObject({
    terminal: { thinking: 'hidden' },
    hint: '/thinking takes short, full or hidden',
  });
});
