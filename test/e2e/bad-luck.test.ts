import { appendFileSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startFakeModel, toolResultRounds } from '../../src/testing/index.ts';
import { expectNoViolations } from '../no-violations.ts';
import { envelopeOf, runMuster, Sandbox } from './muster.ts';

describe.concurrent('an unfortunate environment is reported in one clear line', () => {
  it('when the current directory is gone', async () => {
    using sandbox = new Sandbox();
    const gone = join(sandbox.workspace, 'gone');
    mkdirSync(gone);
    // A shell stands in it while it is removed.
    const run = runMuster(sandbox, ['-p', 'x'], { cwd: gone });
    rmdirSync(gone);
    const { code, stderr } = await run;
    // Whether it was gone before or after the start, there is no stack trace.
    expect(stderr).not.toMatch(/\n\s+at /);
    expect([0, 2]).toContain(code);
  });

  it('when no cache can be created, and nothing else is wrong', async () => {
    using sandbox = new Sandbox();
    for (const home of ['/proc/nowhere', '/dev/null', '/nonexistent']) {
      const run = await runMuster(sandbox, ['--version'], { env: { HOME: home } });
      expect([run.code, run.stderr]).toEqual([0, '']);
    }
  });

  it.each([
    ['an empty log', ''],
    ['a log with its header alone', null],
  ])('%s', async (_, content) => {
    using sandbox = new Sandbox({ 'a.txt': 'alpha' });
    const run = await runMuster(sandbox, ['-p', 'alpha', '--output-format', 'json']);
    const { task_id: id, transcript } = envelopeOf(run).data;
    const log = transcript ?? '';
    const [header = ''] = readFileSync(log, 'utf8').split('\n');
    writeFileSync(log, content ?? `${header}\n`);
    const shown = await runMuster(sandbox, ['tasks', 'show', id]);
    expect([shown.code, shown.stdout]).toEqual([1, '']);
    expect(shown.stderr).toMatch(/^muster: [^\n]*log[^\n]*\n$/);
  });

  it('a damaged line of a log is reported, and the rest is shown', async () => {
    using sandbox = new Sandbox({ 'a.txt': 'alpha' });
    const run = await runMuster(sandbox, ['-p', 'alpha', '--output-format', 'json']);
    const { task_id: id, transcript } = envelopeOf(run).data;
    appendFileSync(transcript ?? '', 'not an event\n');
    for (const command of ['show', 'log']) {
      const shown = await runMuster(sandbox, ['tasks', command, id]);
      expect(shown.code).toBe(0);
      expect(shown.stdout).toContain('completed');
      expect(shown.stderr).toMatch(/^muster: [^\n]+\.jsonl:\d+: [^\n]+\n$/);
    }
  });

  it('a directory among the logs hides no task', async () => {
    using sandbox = new Sandbox({ 'a.txt': 'alpha' });
    const run = await runMuster(sandbox, ['-p', 'alpha', '--output-format', 'json']);
    mkdirSync(join(sandbox.data, 'tasks', 'abcdefgh1234.jsonl'));
    const list = await runMuster(sandbox, ['tasks', 'list', '--json']);
    expect(list.code).toBe(0);
    const ids = JSON.parse(list.stdout).map((task: { readonly id: string }) => task.id);
    expect(ids).toContain(envelopeOf(run).data.task_id);
  });

  it('a model that goes in circles is ended', async () => {
    using sandbox = new Sandbox({ 'a.txt': 'a', 'b.txt': 'b' });
    const model = await startFakeModel({
      script: (request) => {
        if (request.toolChoice === 'none') return { text: 'I went in circles' };
        const file = toolResultRounds(request) % 2 === 0 ? 'a.txt' : 'b.txt';
        return { toolCalls: [{ name: 'Read', input: { file_path: file } }] };
      },
    });
    const run = await runMuster(sandbox, ['-p', 'go', '--output-format', 'json'], {
      env: model.env('anthropic'),
    });
    await model.close();
    expectNoViolations(model);
    expect([run.code, envelopeOf(run).data.result]).toEqual([3, 'I went in circles']);
    expect(envelopeOf(run).error?.message).toContain('no_progress_calls = 8');
    expect(model.requests.length).toBe(9);
  });
});
