import { expect, it } from 'vitest';
import {
  formatWorkspaceMark,
  listChangedPaths,
  showLanding,
  viewWorkspace,
  type WorkspaceFacts,
} from '../../../src/protocol/state/workspace-view.ts';
import type { LandingState, WorkspaceResult } from '../../../src/protocol/workspace.ts';
import { taskSpec } from '../../store/fixture-data.ts';

const WORKSPACE = {
  kind: 'worktree',
  source: '/repo',
  tree: '/data/workspaces/a/tree',
  branch: 'muster/a/fix',
} as const;
const START = { base: 'abc', isKept: false, notes: [] };
const LEFT: WorkspaceResult = {
  isChanged: true,
  files: [
    { path: 'new', from: 'old', status: 'renamed', added: 1, deleted: 0 },
    { path: 'b', status: 'modified', added: 1, deleted: 1 },
  ],
  fileCount: 2,
  addedLines: 2,
  deletedLines: 1,
  commits: 0,
  commit: 'def',
  conflicts: [],
};

function facts(change: Partial<WorkspaceFacts> = {}): WorkspaceFacts {
  const changed = (path: string) =>
    [path, { path, before: null, after: 'x' }] as unknown as [string, never];
  return {
    spec: { ...taskSpec('a'), workspace: WORKSPACE },
    status: 'completed',
    workspace: { start: START, left: LEFT },
    filesChanged: new Map([changed(`${WORKSPACE.tree}/src/x`), changed('/elsewhere/y')]),
    ...change,
  };
}

it.each<readonly [string, WorkspaceFacts, LandingState, string | null]>([
  ['has no workspace', facts({ spec: taskSpec('a') }), 'gone', null],
  [
    'has not begun to work',
    facts({ status: 'running', workspace: { start: null, left: null } }),
    'gone',
    'not needed yet',
  ],
  [
    'works',
    facts({ status: 'running', workspace: { start: START, left: null } }),
    'open',
    'working, 1 file changed',
  ],
  [
    'works and has changed nothing',
    facts({
      status: 'parked',
      workspace: { start: START, left: null },
      filesChanged: new Map(),
    }),
    'open',
    'working',
  ],
  ['ended before it needed one', facts({ workspace: { start: null, left: null } }), 'gone', null],
  [
    'died',
    facts({ status: 'interrupted', workspace: { start: START, left: null } }),
    'open',
    'left as it is',
  ],
  [
    'changed nothing',
    facts({ workspace: { start: START, left: { ...LEFT, isChanged: false } } }),
    'gone',
    'unchanged, removed',
  ],
  ['left changes', facts(), 'open', '2 files changed'],
  ['is being landed', facts(), 'unfinished', 'landing not finished'],
  ['has landed', facts(), 'landed', 'landed'],
  ['was landed and undone', facts(), 'undone', 'landing undone'],
  ['was discarded', facts(), 'discarded', 'discarded'],
  ['was imported', facts(), 'gone', 'not there any more'],
])('shows the workspace of a task that %s', (_, task, landing, state) => {
  const view = viewWorkspace(task, landing);
  expect(view).toEqual(state === null ? null : { kind: 'worktree', branch: 'muster/a/fix', state });
});

it('lists what the task left, or what its calls have changed in the workspace', () => {
  expect(listChangedPaths(facts())).toEqual(['new', 'old', 'b']);
  expect(listChangedPaths(facts({ workspace: { start: START, left: null } }))).toEqual(['src/x']);
  expect(listChangedPaths(facts({ spec: taskSpec('a') }))).toEqual([]);
});

it('formats a mark, and shows what has become of the changes', () => {
  const view = { kind: 'copy', branch: null, state: '2 files changed' } as const;
  expect(formatWorkspaceMark(view)).toBe('[copy: 2 files changed]');
  expect(formatWorkspaceMark({ ...showLanding(view, 'landed'), branch: 'muster/a/fix' })).toBe(
    '[copy muster/a/fix: landed]',
  );
  expect(showLanding(view, 'open')).toBe(view);
});
