import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  IDENTITY,
  IN_TURN,
  RIGHTS,
  git,
  openScene,
  read,
  run,
  runJson,
  type Report,
} from '../../e2e/attempts.ts';

describe.concurrent('best of n', () => {
  it('compares attempts of two models, and lands the one with the best score', async () => {
    await using world = await openScene({
      attempts: [
        'echo 5 > src/value.txt',
        'fails',
        'echo 9 > src/value.txt',
        'echo 7 > src/value.txt',
      ],
    });
    const flags = ['--attempts', '4', '--models', 'anthropic/a-1,anthropic/b-1'];
    const { code, report } = await runJson(world, [
      'best-of-n',
      'Raise the value.',
      ...flags,
      '--score',
      'echo the value is >&2; cat src/value.txt; echo really >&2',
      '--apply',
    ]);
    expect(
      report.items.map(({ attempt, status, model, score, is_best }) => [
        attempt,
        status,
        model,
        score?.value,
        is_best,
      ]),
    ).toEqual([
      [1, 'completed', 'anthropic/a-1', 5, false],
      [2, 'failed', 'anthropic/b-1', undefined, false],
      [3, 'completed', 'anthropic/a-1', 9, true],
      [4, 'completed', 'anthropic/b-1', 7, false],
    ]);
    const best = report.items[2]?.task_id;
    expect(report).toMatchObject({
      status: 'completed',
      best: [best],
      landed: [{ status: 'landed', paths: ['src/value.txt'] }],
    });
    expect(code).toBe(0);
    expect(read(world, 'src/value.txt')).toBe('9\n');
    expect(git(world.sandbox.workspace, 'log', '--format=%s').trim().split('\n')).toEqual([
      'Raise the value',
      'first',
    ]);
    // The others stay.
    const data = ['--data-dir', world.sandbox.data];
    const diff = await world.run(['tasks', 'diff', report.items[3]?.task_id ?? '', ...data]);
    expect(diff.stdout).toContain('+7');
    // The logs are complete: a rerun of the run and of an attempt writes the same.
    for (const id of [report.task_id, best ?? '']) {
      const rerun = await world.run(['tasks', 'rerun', id, ...data]);
      expect([rerun.code, rerun.stderr]).toEqual([0, '']);
    }
  });

  it('continues after kill -9 without doing or scoring finished attempts again', async () => {
    let hangs = true;
    await using world = await openScene({
      attempts: ['echo 5 > src/value.txt', 'echo 9 > src/value.txt', 'echo 7 > src/value.txt'],
      fault: (attempt) => (hangs && attempt === 2 ? { kind: 'hang' } : null),
    });
    const start = [
      'run',
      'best-of-n',
      'Raise the value.',
      '--score',
      'cat src/value.txt',
      ...RIGHTS,
    ];
    const first = world.start(start, { env: { ...IDENTITY, ...IN_TURN } });
    await world.model.received(5);
    first.process.kill('SIGKILL');
    await first.finished;
    hangs = false;
    const before = world.model.requests.length;
    const flags = ['--continue', '--json', '--permission-mode', 'acceptEdits'];
    const second = await run(world, flags);
    const report: Report = JSON.parse(second.stdout);
    expect(report.items.map(({ status, score }) => [status, score?.value])).toEqual([
      ['completed', 5],
      ['completed', 9],
      ['completed', 7],
    ]);
    expect(report.best).toEqual([report.items[1]?.task_id]);
    // The request of the third attempt is sent again, and then its last one.
    expect(world.model.requests.length - before).toBe(2);
    const scored = report.items.map(
      ({ task_id: id }) =>
        readFileSync(join(world.sandbox.data, 'tasks', `${id}.jsonl`), 'utf8').match(
          /"acceptance\.checked"/g,
        )?.length,
    );
    expect(scored).toEqual([1, 1, 1]);
    const again = await run(world, ['--continue', report.task_id, '--apply', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ landed: [{ status: 'landed' }] });
    expect(read(world, 'src/value.txt')).toBe('9\n');
  });

  it('survives commands that print without end, no number, or never end', async () => {
    const score = [
      'case $(cat src/value.txt) in',
      '1) head -c 50000000 /dev/zero | tr "\\0" x; echo; echo 3;;',
      '2) echo NaN; echo 1e999 Infinity;;',
      '3) echo fine; echo "result: -2.5%";;',
      '4) sleep 60; echo 100;;',
      '5) echo "line 12: error"; exit 2;;',
      '6) yes 200;;',
      'esac',
    ].join('\n');
    await using world = await openScene({
      attempts: ['1', '2', '3', '4', '5', '6'].map((each) => `echo ${each} > src/value.txt`),
    });
    const args = ['best-of-n', 'Raise it.', '--attempts', '6', '--score', score];
    const env = { MUSTER_LIVENESS_TOOL_SECONDS: '5' };
    const { report } = await runJson(world, args, { env });
    expect(
      report.items.map(({ score: given, is_best }) => [
        given?.value,
        given?.exit_code,
        given?.problem,
        is_best,
      ]),
    ).toEqual([
      [3, 0, null, true],
      [null, 0, null, false],
      [-2.5, 0, null, false],
      [null, null, expect.stringContaining('limit tool_seconds'), false],
      [12, 2, null, false],
      [null, null, expect.stringContaining('limit tool_seconds'), false],
    ]);
  });
});
