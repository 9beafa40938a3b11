import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, IDENTITY, RIGHTS, openScene, read, run, runJson } from './attempts.ts';

describe.concurrent('best of n', () => {
  it('works without a repository, in copies', async () => {
    await using world = await openScene({
      attempts: ['echo 1 > src/value.txt', 'echo 2 > src/value.txt'],
      isRepository: false,
    });
    const args = ['best-of-n', 'Raise it.', '--attempts', '2', '--score', 'cat src/value.txt'];
    const { code, report } = await runJson(world, [...args, '--apply']);
    expect([code, report.landed.map(({ status }) => status)]).toEqual([0, ['landed']]);
    expect(read(world, 'src/value.txt')).toBe('2\n');
  });

  it('uses the program that scores as it was before, and says so', async () => {
    const files = { 'score.sh': 'cat src/value.txt\n' };
    await using world = await openScene({
      attempts: ['echo echo 99 > score.sh', 'echo 4 > src/value.txt'],
      files,
    });
    const args = ['best-of-n', 'Raise it.', '--attempts', '2', '--score', 'sh score.sh'];
    const { report } = await runJson(world, args);
    expect(report.items.map(({ score, is_best }) => [score?.value, is_best])).toEqual([
      [0, false],
      [4, true],
    ]);
    expect(report.items[0]?.warnings.join()).toContain('as they were before the task: score.sh');
  });

  it('stops at the cost limit of the whole, and prints what it has', async () => {
    await using world = await openScene({ attempts: ['echo 5 > src/value.txt'] });
    const args = [
      'best-of-n',
      'Raise it.',
      '--score',
      'cat src/value.txt',
      '--max-cost-usd',
      '0.000001',
    ];
    const { code, report } = await runJson(world, args);
    expect([code, report.status, report.best]).toEqual([3, 'partial', []]);
  });

  it('prints its report if the best attempt cannot land', async () => {
    await using world = await openScene({ attempts: ['echo 2 > src/value.txt'] });
    const { workspace } = world.sandbox;
    writeFileSync(join(workspace, '.git/MERGE_HEAD'), git(workspace, 'rev-parse', 'HEAD'));
    const args = ['best-of-n', 'Raise it.', '--attempts', '2', '--score', 'cat src/value.txt'];
    const { code, report } = await runJson(world, [...args, '--apply']);
    expect([code, report.status]).toEqual([1, 'completed']);
    expect(report.landed).toEqual([
      {
        status: 'refused',
        task_id: report.best[0],
        problem: expect.stringContaining('--no-commit'),
      },
    ]);
    expect(read(world, 'src/value.txt')).toBe('0\n');
  });

  it('shows what can be done next in a table', async () => {
    await using world = await openScene({ attempts: ['echo 1 > src/value.txt', 'true'] });
    const args = ['best-of-n', 'Raise it.', '--attempts', '2', ...RIGHTS];
    const { stdout } = await run(world, args);
    expect(stdout).toMatch(/^# +attempt +status +task +model +changes +turns /);
    expect(stdout).toMatch(/\n1 +1 +completed +\w{8} +anthropic\/\S+ +1 file \+1 −1 /);
    expect(stdout).toMatch(/\n1 +2 +completed +\w{8} +anthropic\/\S+ +none /);
    expect(stdout).toMatch(/\nbest: attempt 1 \(task \w{12}\): muster tasks apply \w{12}\n$/);
  });
});

describe.concurrent('a template with isolation', () => {
  it('gives each item its own worktree, and says which items left changes', async () => {
    const template = '---\nname: mend\nisolation: worktree\naccept: sh check.sh\n---\n{{item}}';
    await using world = await openScene({
      attempts: ['echo 5 > src/value.txt', 'true'],
      files: { '.muster/templates/mend.md': template, 'check.sh': 'grep -q 5 src/value.txt\n' },
    });
    const args = ['mend', 'one', 'two', '--trust-project', ...RIGHTS];
    const { code, stdout } = await run(world, args);
    expect(code).toBe(1);
    expect(stdout).toMatch(/\n1 +completed +\w{8} +1 file \+1 −1 /);
    expect(stdout).toMatch(/\n2 +failed +\w{8} +none /);
    expect(stdout).toContain('1 task left changes: `muster tasks diff TASK` shows them');
    expect(read(world, 'src/value.txt')).toBe('0\n');
    const id = /\n1 +completed +(\w{8})/.exec(stdout)?.[1] ?? '';
    const data = ['--data-dir', world.sandbox.data];
    const applied = await world.run(['tasks', 'apply', id, ...data], { env: IDENTITY });
    expect(applied.stdout).toMatch(/^task \w{12}: applied in 1 file as commit/);
  });
});
