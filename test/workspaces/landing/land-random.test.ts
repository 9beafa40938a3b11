import * as fs from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  isSameState,
  type PathDifference,
  type PathState,
} from '../../../src/workspaces/difference.ts';
import { land, undoLanding } from '../../../src/workspaces/landing/land.ts';
import { planLanding } from '../../../src/workspaces/landing/plan-landing.ts';
import { isLandingPath } from '../../../src/workspaces/merge/find-obstacle.ts';
import { file, link } from '../merge/memory-tree.ts';
import { createPlace, landAgain, readTree, writeStates } from './support.ts';

type States = Readonly<Record<string, PathState>>;

/** Paths of which some are directories of others. */
const PATHS = ['a', 'a/b', 'a/b/c', 'a/d', 'e', 'e/f', 'g', 'h/i/j/k', 'h/i/l', 'm'];

const state = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .array(fc.constantFrom('1\n', '2\n', '3\n', '4\n'), { maxLength: 6 })
      .map((lines) => file(lines.join(''))),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(file('x\n', { executable: true }), file('\0binary'), file('')),
  },
  { weight: 1, arbitrary: fc.constantFrom(link('a'), link('/nowhere')) },
);

/** A tree in which no file stands where a directory is needed. */
const trees: fc.Arbitrary<States> = fc
  .array(fc.tuple(fc.constantFrom(...PATHS), state), { maxLength: 8 })
  .map((entries) => {
    const tree: Record<string, PathState> = {};
    for (const [path, each] of entries) {
      const paths = Object.keys(tree);
      const isFree = paths.every(
        (other) => !other.startsWith(`${path}/`) && !path.startsWith(`${other}/`),
      );
      if (isFree) tree[path] = each;
    }
    return tree;
  });

function compare(before: States, after: States): readonly PathDifference[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths]
    .map((path) => ({ path, before: before[path] ?? null, after: after[path] ?? null }))
    .filter((each) => !isSameState(each.before, each.after));
}

test('a landing in a random tree does what the task did, changes nothing when repeated, is undone byte for byte, and lands again', async () => {
  let landed = 0;
  await fc.assert(
    fc.asyncProperty(trees, trees, trees, fc.boolean(), async (base, theirs, ours, isUnchanged) => {
      const place = createPlace();
      const user = isUnchanged ? base : { ...base, ...ours };
      const paths = Object.keys(user);
      if (paths.some((path) => paths.some((other) => other.startsWith(`${path}/`)))) return;
      writeStates(place.source, user);
      fs.mkdirSync(join(place.source, 'empty'));
      const before = readTree(place.source);
      const differences = compare(base, theirs);
      const plan = planLanding(differences, place.source);
      if (isUnchanged) expect(plan.kind).toBe('ready');
      if (plan.kind === 'conflicts') {
        expect(readTree(place.source)).toEqual(before);
        return;
      }
      landed += 1;
      await land(plan, place.context);
      if (isUnchanged) {
        const expected = createPlace().source;
        writeStates(expected, theirs);
        fs.mkdirSync(join(expected, 'empty'));
        expect(readTree(place.source)).toEqual(readTree(expected));
      }
      expect(planLanding(differences, place.source)).toEqual({
        kind: 'ready',
        source: place.source,
        changes: [],
      });
      const after = readTree(place.source);
      await undoLanding(place.context);
      expect(readTree(place.source)).toEqual(before);
      await landAgain(place);
      expect(readTree(place.source)).toEqual(after);
      await undoLanding(place.context);
      expect(readTree(place.source)).toEqual(before);
    }),
    { numRuns: 30 },
  );
  expect(landed).toBeGreaterThan(10);
});

test('a path is written only if it stays in the tree and belongs to no git directory', () => {
  const part = fc.constantFrom(
    'a',
    '..',
    '.',
    '',
    '.git',
    '.GIT',
    'git~1',
    '.git.',
    'x\0',
    '.gitignore',
    'git',
  );
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      const isSafe = parts.every((each) => ['a', '.gitignore', 'git'].includes(each));
      expect(isLandingPath(parts.join('/'))).toBe(isSafe);
    }),
  );
});
