import { expect, it } from 'vitest';
import { pairRows } from '../../../src/front/web/tree-replies.ts';
import type { TaskReport } from '../../../src/report/task-report.ts';
import type { TreeRow } from '../../../src/report/tree-report.ts';

/** Creates the rows of a tree from lines such as `  agent description`, which are indented by their level. */
function rows(...lines: readonly string[]): readonly TreeRow[] {
  return lines.map((line, at) => {
    const [agent = '', description = ''] = line.trim().split(' ');
    const level = line.length - line.trimStart().length;
    const report = { agent, description } as TaskReport;
    return { id: `task${at}`, level, report: agent === '-' ? null : report, problem: null };
  });
}

it.each<[string, readonly string[], readonly string[], readonly string[]]>([
  ['the tops, whatever they are', ['a x'], ['b y'], ['0-0']],
  [
    'children by agent and description',
    ['a x', ' b 1', ' b 2'],
    ['a x', ' b 2', ' b 1'],
    ['0-0', '1-2', '2-1'],
  ],
  ['equal children by their order', ['a x', ' b 1', ' b 1'], ['a x', ' b 1'], ['0-0', '1-1', '2-']],
  [
    'children only below a pair',
    ['a x', ' b 1', '  c 1'],
    ['a x', ' b 2', '  c 1'],
    ['0-0', '1-', '2-', '-1', '-2'],
  ],
  ['new children at the end', ['a x'], ['a x', ' b 1'], ['0-0', '-1']],
  ['tasks without a log', ['a x', ' -'], ['a x', ' -'], ['0-0', '1-1']],
])('pairs %s', (_name, left, right, expected) => {
  const pairs = pairRows(rows(...left), rows(...right));
  expect(pairs.map((pair) => `${pair.left ?? ''}-${pair.right ?? ''}`)).toEqual(expected);
});
