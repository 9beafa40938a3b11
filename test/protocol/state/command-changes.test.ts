import { describe, expect, test } from 'vitest';
import { addFileChanges } from '../../../src/protocol/state/call-record.ts';
import type { FileChange, UnlistedChanges } from '../../../src/protocol/tool.ts';

const path = '/work/a';
const byCommand = true as const;
const shared = true as const;

function merge(...changes: readonly Omit<FileChange, 'path'>[]): FileChange | null {
  const state = { filesChanged: new Map(), unlistedChanges: new Map() };
  for (const change of changes) addFileChanges(state, { changed: [{ path, ...change }] });
  return state.filesChanged.get(path) ?? null;
}

describe('changes of one file by commands and tools', () => {
  interface Case {
    readonly title: string;
    readonly changes: readonly Omit<FileChange, 'path'>[];
    readonly merged: FileChange | null;
  }

  test.for<Case>([
    {
      title: 'a change by a tool after one by a command is one by a tool',
      changes: [
        { before: 'a', after: 'b', byCommand },
        { before: 'b', after: 'c' },
      ],
      merged: { path, before: 'a', after: 'c' },
    },
    {
      title: 'a change by a command after one by a tool is one by a tool',
      changes: [
        { before: 'a', after: 'b' },
        { before: 'b', after: 'c', byCommand },
      ],
      merged: { path, before: 'a', after: 'c' },
    },
    {
      title: 'a file that commands have made and deleted is not listed',
      changes: [
        { before: null, after: 'b', byCommand },
        { before: 'b', after: null, mode: 0o644, byCommand },
      ],
      merged: null,
    },
    {
      title: 'permissions that were changed and changed back are not listed',
      changes: [
        { before: 'a', after: 'a', mode: 0o644, newMode: 0o755, byCommand },
        { before: 'a', after: 'a', mode: 0o755, newMode: 0o644, byCommand },
      ],
      merged: null,
    },
    {
      title: 'the first permissions are kept',
      changes: [
        { before: 'a', after: 'a', mode: 0o644, newMode: 0o755, byCommand },
        { before: 'a', after: null, mode: 0o755, byCommand },
      ],
      merged: { path, before: 'a', after: null, mode: 0o644, byCommand },
    },
    {
      title: 'a shared change that was undone is not listed',
      changes: [{ before: null, after: null, byCommand, shared, since: 1, until: 2 }],
      merged: null,
    },
    {
      title: 'shared changes are put in order by their times',
      changes: [
        { before: 'b', after: 'c', byCommand, shared, since: 3, until: 4 },
        { before: 'a', after: 'b', byCommand, shared, since: 1, until: 2 },
      ],
      merged: { path, before: 'a', after: 'c', byCommand, shared, since: 1, until: 4 },
    },
  ])('$title', ({ changes, merged }) => {
    expect(merge(...changes)).toEqual(merged);
  });
});

test('changes that are not listed are counted for each directory', () => {
  const state = { filesChanged: new Map(), unlistedChanges: new Map<string, UnlistedChanges>() };
  const limit = { path, reason: 'limit', count: 2 } as const;
  const dependencies = { path: '/work/node_modules', reason: 'dependencies' } as const;
  addFileChanges(state, { unlisted: [limit, dependencies] });
  addFileChanges(state, { unlisted: [limit, dependencies] });
  expect([...state.unlistedChanges.values()]).toEqual([{ ...limit, count: 4 }, dependencies]);
});
