import { appendFileSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { readLandableWork } from '../../../src/api/workspaces/landable-work.ts';
import {
  createLandingContext,
  proposeLanding,
} from '../../../src/api/workspaces/propose-landing.ts';
import { endWorkspace } from '../../../src/workspaces/end.ts';
import type { GitPort } from '../../../src/workspaces/landing/git-change.ts';
import { land, recoverLanding, undoLanding } from '../../../src/workspaces/landing/land.ts';
import { planLanding } from '../../../src/workspaces/landing/plan-landing.ts';
import { listUnfinishedLandings } from '../../../src/workspaces/landing/unfinished.ts';
import { access, createFor, createRepository, git, write } from '../../workspaces/repository.ts';

const BEFORE = 'one\n2\n3\n4\n5\n';
const AFTER = 'ONE\n2\n3\n4\n5\n';

/** Lands the change of a task as a commit. */
async function landCommit() {
  const source = createRepository({ a: BEFORE, b: 'b\n' });
  const { record, dataDir } = await createFor(source);
  write(record.tree, { a: AFTER });
  const end = await endWorkspace(record, access);
  const options = { dataDir, ...access, check: null, form: 'squash' } as const;
  const proposal = await proposeLanding(await readLandableWork(end.record, access), options);
  if (!proposal.ok) throw new Error('there are conflicts');
  const { commit } = await proposal.land();
  expect(git(source, 'rev-parse', 'HEAD')).toBe(commit);
  const context = createLandingContext(record.id, { dataDir, ...access });
  return { source, context, dataDir, id: record.id };
}

const read = (source: string) => readFileSync(join(source, 'a'), 'utf8');
const state = (source: string) => ({
  log: git(source, 'log', '--format=%s').split('\n'),
  status: git(source, 'status', '--short').split('\n'),
});

it('takes back the last commit', async () => {
  const { source, context } = await landCommit();
  expect(await undoLanding(context)).toMatchObject({
    kind: 'landed',
    paths: ['a'],
    left: [],
    leftInGit: [],
  });
  expect(read(source)).toBe(BEFORE);
  expect(state(source)).toEqual({ log: ['first'], status: [''] });
});

it.each<[string, (source: string) => void]>([
  [
    'another commit',
    (source) => {
      write(source, { b: 'by the user\n' });
      git(source, 'commit', '--quiet', '--all', '--message=later');
    },
  ],
  ['another branch', (source) => git(source, 'checkout', '--quiet', '-b', 'other')],
])('undoes only the files after %s', async (_name, change) => {
  const { source, context } = await landCommit();
  change(source);
  const { log } = state(source);
  expect(await undoLanding(context)).toMatchObject({
    kind: 'landed',
    left: [],
    leftInGit: ['refs/heads/main'],
  });
  expect(read(source)).toBe(BEFORE);
  expect(state(source)).toEqual({ log, status: [' M a'] });
});

it('leaves what the user has staged in the file', async () => {
  const { source, context } = await landCommit();
  appendFileSync(join(source, 'a'), 'by the user\n');
  git(source, 'add', 'a');
  expect(await undoLanding(context)).toMatchObject({
    kind: 'landed',
    leftInGit: ['the index at a'],
  });
  expect(read(source)).toBe(`${BEFORE}by the user\n`);
  expect(git(source, 'show', ':a')).toBe(`${AFTER}by the user`);
  expect(state(source)).toEqual({ log: ['first'], status: ['MM a'] });
});

it.each(['continue', 'abort'] as const)(
  'a landing whose branch has moved can be ended with %s',
  async (action) => {
    const source = createRepository({ a: BEFORE });
    const { record, dataDir } = await createFor(source);
    rmSync(record.tree, { recursive: true });
    const head = git(source, 'rev-parse', 'HEAD');
    const commit = git(source, 'commit-tree', '-m', 'landed', '-p', head, 'HEAD^{tree}');
    const context = createLandingContext(record.id, { dataDir, ...access });
    const file = (text: string) =>
      ({ kind: 'file', executable: false, bytes: Buffer.from(text) }) as const;
    const difference = { path: 'a', before: file(BEFORE), after: file(AFTER) };
    const plan = planLanding([difference], source);
    if (plan.kind === 'conflicts') throw new Error('there are conflicts');
    const die = () => Promise.reject(new Error('killed'));
    const ref = { name: 'refs/heads/main', before: head, after: commit };
    const killed = { ...context, git: { bringTo: die, findUndoable: die } };
    await expect(land(plan, killed, { git: { index: [], ref } })).rejects.toThrow('killed');
    git(source, 'commit', '--quiet', '--allow-empty', '--message=later');
    expect(await recoverLanding(action, context)).toMatchObject({
      left: [],
      leftInGit: ['refs/heads/main'],
    });
    expect(read(source)).toBe(action === 'continue' ? AFTER : BEFORE);
    expect(state(source).log).toEqual(['later', 'first']);
    expect(listUnfinishedLandings(dirname(context.directory))).toEqual([]);
  },
);

it('completes an undo that is interrupted after it has begun', async () => {
  const { source, context, dataDir, id } = await landCommit();
  const controller = new AbortController();
  const { git: port, ...parts } = createLandingContext(id, {
    dataDir,
    environment: access.environment,
    signal: controller.signal,
  });
  if (port === undefined) throw new Error('there is no port to git');
  const interrupted: GitPort = {
    findUndoable: port.findUndoable,
    bringTo: async (...args) => {
      controller.abort(new Error('stopped by SIGINT'));
      return await port.bringTo(...args);
    },
  };
  await undoLanding({ ...parts, git: interrupted });
  expect(read(source)).toBe(BEFORE);
  expect(state(source)).toEqual({ log: ['first'], status: [''] });
  expect(listUnfinishedLandings(dirname(context.directory))).toEqual([]);
});
