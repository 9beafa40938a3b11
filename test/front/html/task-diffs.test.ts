import { describe, expect, it } from 'vitest';
import { MusterError } from '../../../src/base/errors.ts';
import { readTaskDiffs } from '../../../src/front/html/task-diffs.ts';
import type { TreeReport } from '../../../src/report/tree-report.ts';

/** A tree of tasks that left changes, except those whose names begin with `none`. */
function treeOf(...ids: readonly string[]): TreeReport {
  const rows = ids.map((id) => ({
    id,
    report: { workspace: { hasLeftChanges: !id.startsWith('none') } },
  }));
  return { rows } as unknown as TreeReport;
}

describe('the diffs of a tree', () => {
  it('are those of the tasks that left changes, and nothing is opened without one', async () => {
    const open = () => Promise.reject(new Error('opened'));
    expect(await readTaskDiffs(treeOf('none'), open)).toEqual(new Map());
    const asked: unknown[] = [];
    const leftDiff = async (id: string, maxLength: number) => {
      asked.push([id, maxLength]);
      if (id === 'gone') return null;
      if (id === 'bad') throw new MusterError('CONFLICT', 'the journal is damaged');
      return { text: `+${id}\n`, hasLanded: true };
    };
    const tree = treeOf('none', 'a', 'gone', 'bad');
    expect(await readTaskDiffs(tree, async () => ({ leftDiff }))).toEqual(
      new Map([
        ['a', { text: '+a\n', hasLanded: true }],
        ['bad', { text: '(not shown: the journal is damaged)', hasLanded: false }],
      ]),
    );
    expect(asked).toEqual([
      ['a', 200_000],
      ['gone', 200_000],
      ['bad', 200_000],
    ]);
  });

  it('end at a limit for all of them, which is named', async () => {
    const ids = Array.from({ length: 23 }, (_, index) => `task${index}`);
    const leftDiff = async () => ({ text: 'x'.repeat(200_000), hasLanded: false });
    const diffs = await readTaskDiffs(treeOf(...ids), async () => ({ leftDiff }));
    expect(diffs.size).toBe(23);
    expect([...diffs.values()].filter(({ text }) => text.length === 200_000)).toHaveLength(21);
    expect(diffs.get('task22')?.text).toBe(
      '(not shown: the limit of 4000000 characters for all diffs is reached; muster tasks diff task22 shows it)',
    );
  });
});
