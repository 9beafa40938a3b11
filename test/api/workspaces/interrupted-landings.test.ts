import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { findWorkspaceProblems } from '../../../src/api/workspaces/workspace-problems.ts';
import { finishLandings } from '../../../src/api/workspaces/session-workspaces.ts';
import { createJournal } from '../../../src/workspaces/landing/create-journal.ts';
import { listDamagedLandings } from '../../../src/workspaces/landing/unfinished.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { createContext, landAll, type Place } from '../../workspaces/landing/support.ts';
import { file } from '../../workspaces/merge/memory-tree.ts';
import { access, write } from '../../workspaces/repository.ts';

const EDIT = { path: 'a', before: file('1\n'), after: file('2\n') };

function createPlace(): Place & { readonly dataDir: string; readonly task: string } {
  const root = realpathSync(tempDirectory());
  const source = join(root, 'source');
  write(source, { a: '1\n' });
  const context = createContext(root);
  return { source, context, dataDir: join(root, 'data'), task: basename(context.directory) };
}

async function finish({ dataDir, source }: { readonly dataDir: string; readonly source: string }) {
  const notices: string[] = [];
  const { environment } = access;
  await finishLandings({ dataDir, environment }, [source], (line) => notices.push(line));
  return notices;
}

it.each([
  [
    'apply',
    (task: string, source: string) =>
      `the changes of task ${task}, whose landing in ${source} was interrupted, are complete now (muster tasks apply ${task} --undo takes them back)`,
  ],
  [
    'undo',
    (task: string, source: string) =>
      `the undoing of the landing of task ${task} in ${source}, which was interrupted, is complete now`,
  ],
] as const)('an interrupted %s is finished and named', async (kind, describe) => {
  const place = createPlace();
  const { source, context, task } = place;
  const undoes = kind === 'undo' ? 1 : null;
  const plan = { kind: 'ready', source, changes: [EDIT] } as const;
  const options = { kind, undoes, removableDirectories: null, git: null };
  await createJournal(context.directory, plan, options);
  expect(await finish(place)).toEqual([describe(task, source)]);
  expect(readFileSync(join(source, 'a'), 'utf8')).toBe('2\n');
});

it.each(['{"version":2}', '{"version":1}', 'no JSON'])(
  'a journal that cannot be read blocks only its own workspace: %s',
  async (text) => {
    const place = createPlace();
    const { source, context, dataDir, task } = place;
    mkdirSync(join(context.directory, 'landing'));
    write(context.directory, { 'landing/journal.json': text });
    const problem = `${context.directory}/landing/journal.json is no journal of a landing that this version can read`;
    expect(await finish(place)).toEqual([]);
    await expect(landAll([EDIT], place)).rejects.toThrow(problem);
    expect(listDamagedLandings(dirname(context.directory))).toEqual([
      { task, problem: expect.stringContaining(problem) },
    ]);
    expect(await findWorkspaceProblems(dataDir)).toContainEqual({
      detail: expect.stringContaining(
        `the landing of task ${task} is not finished, and cannot be: ${problem}`,
      ),
      fix: null,
    });
    const other = { source, context: createContext(join(dataDir, '..')) };
    expect((await landAll([EDIT], other)).paths).toEqual(['a']);
  },
);
