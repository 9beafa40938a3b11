import { describe, expect, it } from 'vitest';
import type { LandingPreview } from '../../../../src/api/index.ts';
import type { AppState } from '../../../../src/front/tui/model/app-state.ts';
import type { UiMessage } from '../../../../src/front/tui/update/message.ts';
import { update } from '../../../../src/front/tui/update/update.ts';
import { CONTEXT, stateOf } from './fixtures.ts';

const VIEW = { kind: 'worktree', branch: 'muster/child/fix', state: '1 file changed' } as const;
const PREVIEW: LandingPreview = { files: 1, diff: '-one\n+ONE\n', conflicts: [] };

function withChild(change: Partial<AppState> = {}): AppState {
  const state = stateOf(change, { members: { main: {}, child: { hasEnded: true } } });
  const child = state.tree.rows.get('child');
  if (child !== undefined) state.tree.rows.set('child', { ...child, workspace: VIEW });
  return state;
}

const run = (state: AppState, message: UiMessage) => update(state, message, CONTEXT);
const command = (name: string, argument: string): UiMessage => ({
  type: 'run-command',
  name,
  argument,
});
const APPLY = { task: 'child', action: 'apply', form: 'commits' } as const;
const DISCARD = { task: 'child', action: 'discard' } as const;

describe('the commands for what a task left in its worktree', () => {
  it.each([
    ['task-diff', 'chi', { type: 'show-task-diff', task: 'child' }],
    ['task-apply', 'chi', { type: 'plan-landing', request: APPLY }],
    ['task-apply', 'chi squash', { type: 'plan-landing', request: { ...APPLY, form: 'squash' } }],
    [
      'task-apply',
      'chi --no-commit',
      { type: 'plan-landing', request: { ...APPLY, form: 'files' } },
    ],
    ['task-discard', 'chi', { type: 'plan-landing', request: DISCARD }],
  ])('/%s %s looks at the changes first', (name, argument, effect) => {
    expect(run(withChild(), command(name, argument)).effects).toEqual([effect]);
  });

  it.each([
    ['task-diff', '', 'which one? /tasks lists their ids'],
    ['task-apply', 'nobody', 'nobody means no task of this conversation; /tasks lists their ids'],
    ['task-apply', 'child later', 'type /task-apply ID, ID squash or ID no-commit'],
    ['task-discard', 'main', 'this task has no worktree or copy of its own'],
  ])('/%s %s does nothing', (name, argument, hint) => {
    const { state, effects } = run(withChild(), command(name, argument));
    expect([state.hint, effects]).toEqual([hint, []]);
  });

  it.each([
    [APPLY, 'merge these changes into your files?'],
    [DISCARD, 'delete these changes for good?'],
  ])('ask with the changes, and act only after a yes', (request, title) => {
    const planned: UiMessage = { type: 'landing-planned', request, preview: PREVIEW };
    const shown = run(withChild(), planned).state;
    expect(shown.tree.questions.get('landing')).toEqual({
      kind: 'confirm',
      id: 'landing',
      task: '',
      title,
      lines: ['1 file of task child', '-one', '+ONE'],
    });
    const refused = run(shown, { type: 'key-pressed', meaning: 'answer-no' });
    expect([refused.state.hint, refused.effects]).toEqual(['nothing was changed', []]);
    const agreed = run(shown, { type: 'key-pressed', meaning: 'answer-once' });
    expect(agreed.effects).toEqual([{ type: 'land', request }]);
    expect(run(agreed.state, { type: 'confirmed', isYes: true }).effects).toEqual([]);
  });

  it('name the conflicts, and ask nothing', () => {
    const conflicts = [{ path: 'a', reason: 'both changed line 1', hunks: '<<<<<<<\n>>>>>>>' }];
    const planned: UiMessage = {
      type: 'landing-planned',
      request: APPLY,
      preview: { ...PREVIEW, conflicts },
    };
    const onScreen = run(withChild({ surface: 'screen' }), planned).state;
    expect(onScreen.pager?.document).toEqual({
      title: 'Nothing was changed: 1 file of task child cannot be merged',
      sections: [{ kind: 'text', lines: ['a: both changed line 1', '<<<<<<<', '>>>>>>>'] }],
    });
    const inLines = run(withChild({ surface: 'lines' }), planned).state;
    expect([onScreen.pendingLanding, inLines.pendingLanding]).toEqual([null, null]);
    expect(inLines.tree.main.entries.at(-1)).toMatchObject({ kind: 'page' });
    expect(inLines.tree.questions.size).toBe(0);
  });

  it('a long diff is cut in the question, and the cut says where the rest is', () => {
    const diff = '+x\n'.repeat(500);
    const preview: LandingPreview = { files: 1, diff, conflicts: [] };
    const { state } = run(withChild(), { type: 'landing-planned', request: APPLY, preview });
    const question = state.tree.questions.get('landing');
    const lines = question?.kind === 'confirm' ? question.lines : [];
    expect([lines.length, lines.at(-1)]).toEqual([202, '… 300 more lines: /task-diff child']);
  });

  it('say so if nothing is left to merge', () => {
    const preview: LandingPreview = { files: 0, diff: '', conflicts: [] };
    const { state } = run(withChild(), { type: 'landing-planned', request: APPLY, preview });
    expect([state.hint, state.pendingLanding]).toEqual([
      'your files contain all its changes already',
      null,
    ]);
  });

  it('show in the tree what has become of the changes', () => {
    const states = new Map([
      ['child', 'landed'],
      ['gone', 'landed'],
    ] as const);
    const { state } = run(withChild(), { type: 'landings-read', states });
    expect(state.tree.rows.get('child')?.landing).toBe('landed');
    expect(state.tree.rows.has('gone')).toBe(false);
    const page = run(state, command('task-status', 'child')).state.tree.main.entries.at(-1);
    expect(page).toMatchObject({
      lines: expect.arrayContaining(['works in its own worktree, branch muster/child/fix: landed']),
    });
  });
});
