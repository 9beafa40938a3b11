import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { byteLength } from '../../../src/base/text.ts';
import {
  findOverlaps,
  formatOverlaps,
  type ChangedPaths,
} from '../../../src/protocol/state/overlaps.ts';

function changes(id: string, paths: readonly string[], source = '/src'): ChangedPaths {
  return { id, source, paths };
}

it('finds the files that several tasks have changed for the same directory, the most changed ones first', () => {
  const tasks = [
    changes('a', ['x', 'y', 'z']),
    changes('b', ['z', 'y']),
    changes('c', ['y', 'only-c']),
    changes('d', ['x'], '/other'),
  ];
  expect(findOverlaps(tasks)).toEqual([
    { path: 'y', tasks: ['a', 'b', 'c'] },
    { path: 'z', tasks: ['a', 'b'] },
  ]);
  expect(formatOverlaps(findOverlaps(tasks), 1_000)).toEqual([
    'Changed by several tasks, each in its own worktree:',
    '  y: a, b, c',
    '  z: a, b',
  ]);
  expect(formatOverlaps([], 1_000)).toEqual([]);
});

it('quotes names that could be taken for another line, and names a few tasks', () => {
  const tasks = Array.from({ length: 10 }, (_, index) => changes(`t${index}`, ['a: b\nc']));
  expect(formatOverlaps(findOverlaps(tasks), 1_000).slice(1)).toEqual([
    '  "a: b c": t0, t1, t2, t3, t4, t5, t6, t7, 2 more',
  ]);
});

it('says how many files are left out, and stays within its bytes', () => {
  const paths = Array.from({ length: 30 }, (_, index) => `file${10 + index}`);
  const overlaps = findOverlaps([changes('a', paths), changes('b', paths)]);
  const lines = formatOverlaps(overlaps, 10_000);
  expect([lines.length, lines.at(-1)]).toEqual([22, '  … and 10 more']);
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.string({ maxLength: 300, unit: 'grapheme' }), { maxLength: 30 })),
      fc.integer({ min: 200, max: 3_000 }),
      (lists, maxBytes) => {
        const all = findOverlaps(lists.map((each, index) => changes(`task${index}`, each)));
        const text = formatOverlaps(all, maxBytes);
        expect(byteLength(text.join('\n'))).toBeLessThanOrEqual(maxBytes);
        const shown = text.slice(1).filter((line) => !line.startsWith('  … and ')).length;
        const left = Number(/^ {2}… and (\d+) more$/.exec(text.at(-1) ?? '')?.[1] ?? 0);
        expect(shown + left).toBe(all.length);
      },
    ),
  );
});
