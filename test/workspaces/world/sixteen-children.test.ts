import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { openSession } from '../../../src/api/open-session.ts';
import {
  lastUserText,
  startFakeModel,
  toolResultRounds,
  type Answer,
  type RecordedRequest,
} from '../../../src/testing/index.ts';
import { mergeDifferences } from '../../../src/workspaces/merge/merge-differences.ts';
import { expectNoViolations } from '../../no-violations.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { BASE, edit, lineEdits, linesBy, textOf } from '../merge/line-edits.ts';
import { applyChanges, memoryTree } from '../merge/memory-tree.ts';
import { createRepository, git, write } from '../repository.ts';

const CHILDREN = 16;
/** Each run creates sixteen worktrees. With `MUSTER_RANDOM_RUNS=10` there are ten times as many runs. */
const RUNS = Number(process.env['MUSTER_RANDOM_RUNS'] ?? 1);

type Differences = ReturnType<typeof edit>;

const textsOf = (tree: typeof BASE): Record<string, string> =>
  Object.fromEntries(Object.entries(tree).map(([path, state]) => [path, textOf(state)]));

function afterOf(differences: Differences): Record<string, string> {
  return Object.fromEntries(
    differences.map(({ path, after }) => [path, after?.kind === 'file' ? String(after.bytes) : '']),
  );
}

/** The calls of the main agent, one message after another: the children, and one landing for each. */
interface Script {
  readonly works: readonly Differences[];
  /** The numbers of the children in the order in which their changes land. */
  readonly order: readonly number[];
  /** Called before the first landing. */
  readonly beforeLanding: () => void;
  /** The results of the landings, in their order. */
  readonly results: string[];
}

function answer(
  { works, order, beforeLanding, results }: Script,
  request: RecordedRequest,
): Answer {
  const isMain = request.systemParts.join('\n').includes("in the user's terminal");
  const round = toolResultRounds(request);
  if (!isMain) {
    const child = Number(/Work number (\d+)\./.exec(request.messages[0]?.text ?? '')?.[1]);
    const files = Object.entries(afterOf(works[child] ?? []));
    const reads = files.map(([path]) => ({ name: 'Read', input: { file_path: path } }));
    const writes = files.map(([path, content]) => ({
      name: 'Write',
      input: { file_path: path, content },
    }));
    const calls = [reads, writes][round];
    return calls === undefined || calls.length === 0 ? { text: 'done' } : { toolCalls: calls };
  }
  if (round === 0) {
    const toolCalls = works.map((_, child) => ({
      name: 'Task',
      input: { prompt: `Work number ${child}.`, description: `w${child}`, isolation: 'worktree' },
    }));
    return { toolCalls };
  }
  const told = request.messages.map(({ toolResults }) => toolResults.map(({ text }) => text));
  const ids = (told.find((texts) => texts.length === CHILDREN) ?? []).map(
    (text) => /task_id: "([a-z0-9]{8,32})"/.exec(text)?.[1],
  );
  if (round === 1) beforeLanding();
  else results.push(told.findLast((texts) => texts.length > 0)?.[0] ?? '');
  const child = order[round - 1];
  if (child === undefined) return { text: 'done' };
  const task_id = ids[child] ?? lastUserText(request);
  return { toolCalls: [{ name: 'TaskLand', input: { task_id, action: 'apply' } }] };
}

const plans = fc.record({
  all: fc.array(lineEdits, { minLength: CHILDREN, maxLength: CHILDREN }),
  ofUser: lineEdits,
  order: fc.shuffledSubarray(
    Array.from({ length: CHILDREN }, (_, child) => child),
    { minLength: CHILDREN },
  ),
});

test('sixteen children that edit the same ten files in worktrees land in any order through the engine', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async ({ all, ofUser, order }) => {
      const works = all.map((edits, child) => edit(`child${child}`, edits));
      const userWork = edit('user', ofUser);
      const source = createRepository(textsOf(BASE));
      const results: string[] = [];
      const beforeLanding = () => write(source, afterOf(userWork));
      const script: Script = { works, order, beforeLanding, results };
      const model = await startFakeModel({ script: (request) => answer(script, request) });
      const muster = await openSession({
        cwd: source,
        dataDir: tempDirectory(),
        environment: {
          HOME: tempDirectory(),
          PATH: process.env['PATH'] ?? '',
          MUSTER_PERMISSIONS_MODE: 'acceptEdits',
          ...model.env('anthropic'),
        },
      });
      try {
        const { status } = await muster.start({ prompt: 'go' }).result;
        expect(status).toBe('success');
      } finally {
        await muster.close();
        await model.close();
      }
      expectNoViolations(model);
      // What a pure merge in the same order gives is what the files have.
      let tree = applyChanges(BASE, userWork);
      const mustStay = [{ author: 'user', work: userWork }];
      for (const [index, child] of order.entries()) {
        const merge = mergeDifferences(works[child] ?? [], memoryTree(tree));
        const result = results[index] ?? '';
        if (merge.conflicts.length > 0) {
          expect(result).toContain(`Nothing was changed: ${merge.conflicts.length} file`);
          for (const { path } of merge.conflicts) expect(result).toContain(JSON.stringify(path));
          expect(result.match(/^<<<<<<< your file/gm)).toHaveLength(
            merge.conflicts.flatMap(({ hunks }) => hunks).length,
          );
        } else {
          expect(result).toMatch(/^Merged the changes of task|contain all changes of task/);
          tree = applyChanges(tree, merge.changes);
          mustStay.push({ author: `child${child}`, work: works[child] ?? [] });
        }
      }
      expect(results).toHaveLength(CHILDREN);
      const files = Object.fromEntries(
        Object.keys(BASE).map((path) => [path, readFileSync(join(source, path), 'utf8')]),
      );
      expect(files).toEqual(textsOf(tree));
      for (const { author, work } of mustStay) {
        for (const [path, text] of Object.entries(afterOf(work)))
          expect(linesBy(author, files[path] ?? '')).toEqual(linesBy(author, text));
      }
      expect(git(source, 'log', '--format=%s')).toBe('first');
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
}, 900_000);
