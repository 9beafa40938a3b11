import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitColumns } from '../../../../../src/front/cli/commands/tasks/show-tree.ts';
import {
  timeLines,
  timelineLines,
} from '../../../../../src/front/cli/commands/tasks/show-timeline.ts';
import { treeLines } from '../../../../../src/front/cli/commands/tasks/show-tree.ts';
import { turnEnded } from '../../../../store/fixture-data.ts';
import { createTreeReport } from '../../../../../src/report/tree-report.ts';
import {
  asked,
  BEGIN,
  bigTree,
  called,
  child,
  CLAIMED,
  ended,
  logOf,
  returned,
  sourceOf,
  STARTED,
} from '../../../../report/logs.ts';

const ROOT = 'root00000000';
const CHILD = 'child0000000';
const ENDED = ended('All done');

function smallTree() {
  const logs = new Map([
    [
      ROOT,
      logOf(ROOT, [
        [0, CLAIMED],
        [0, STARTED],
        [0, asked(1)],
        [6_400, turnEnded()],
        [6_400, called('t', 'Task')],
        [6_400, child(CHILD)],
        [51_200, returned('t', 'Task')],
        [51_200, asked(2)],
        [64_000, turnEnded({ turn: 2 })],
        [64_000, ended()],
      ]),
    ],
    [
      CHILD,
      logOf(
        CHILD,
        [
          [6_400, CLAIMED],
          [12_800, STARTED],
          [12_800, asked(1)],
          [25_600, turnEnded()],
          [25_600, called('b', 'Bash')],
          [50_000, returned('b', 'Bash')],
          [
            51_200,
            {
              ...ENDED,
              claims: [{ kind: 'done', claim: 'All\ndone', why: 'no tool was used' }],
            },
          ],
        ],
        { parent: ROOT, description: 'run\n長いテスト the tests', depth: 1 },
      ),
    ],
  ]);
  return createTreeReport(sourceOf(logs), ROOT, { now: BEGIN + 100_000 });
}

describe('a report on a terminal', () => {
  it('draws the tree and its timeline in 80 columns', () => {
    const tree = smallTree();
    expect(treeLines(tree)).toEqual([
      'id           task                status      turns tools tokens     cost    time',
      'root00000000 find the parser (E… completed       2     1    250  $0.5000    1:04',
      'child0000000  run 長いテスト th… completed       1     1    125  $0.2500  44.8 s',
      '! child0000000: the log does not support this claim: "All done" (no tool was used)',
    ]);
    expect(timelineLines(tree)).toEqual([
      'from 2026-03-01 12:00:00 UTC, 1 min 4 s, a cell 1.0 s',
      `root00000000 |${'M'.repeat(6)}${'c'.repeat(45)}${'M'.repeat(13)}|`,
      `child0000000 |${' '.repeat(6)}${'s'.repeat(7)}${'M'.repeat(13)}${'T'.repeat(24)}${' '.repeat(14)}|`,
      's waits for a slot · M model · T tool · c waits for children',
    ]);
    const report = tree.rows[1]?.report;
    expect(report && timeLines(report)).toEqual([
      'time of child0000000: waits for a slot 6.4 s, model 12.8 s, tool 24.4 s',
    ]);
  });

  it('lists a limited number of tasks, and says how many it leaves out', () => {
    const tree = bigTree({ tasks: 300, events: 1_200 }, 'x');
    expect(treeLines(tree).slice(51)).toEqual([
      '… and 251 more: --json and --html FILE show them all',
    ]);
    expect(timelineLines(tree).length).toBe(1 + 50 + 1 + 1);
  });
});

it('fitColumns returns exactly the given number of columns of harmless text', () => {
  const text = fc.array(fc.constantFrom('a', 'é', '長', '\u001b[2J', '\n', '\u202e', '😀', ' '));
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 30 }), (parts, width) => {
      const fitted = fitColumns(parts.join(''), width);
      expect(fitted).not.toMatch(/\p{Cc}|\u202e/u);
      const columns = [...fitted].map((sign) => ('長😀'.includes(sign) ? 2 : 1));
      expect(columns.reduce<number>((sum, each) => sum + each, 0)).toBe(width);
    }),
  );
  expect([
    fitColumns('abc', 3),
    fitColumns('abcd', 3),
    fitColumns('a', 3),
    fitColumns('長長', 3),
  ]).toEqual(['abc', 'ab…', 'a  ', '長…']);
});
