import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stopOrder } from '../../../src/engine/task/stop-order.ts';
import {
  endsOf,
  inBackground,
  leftOf,
  notices,
  outputPath,
  results,
  scriptedEngine,
  shellEngine,
  shellId,
  shellIds,
  taskOutput,
  tempDirectory,
  until,
} from './support.ts';
import { promptOf } from '../support.ts';
import { withoutNonce } from '../../nonce.ts';
import { bashTool } from '../../../src/tools/bash/bash.ts';

describe('a background shell', () => {
  it('lets the task continue; its output grows in a private file, and its end is reported', async () => {
    const go = join(tempDirectory(), 'go');
    const command = `echo one; until [ -e ${go} ]; do sleep 0.02; done; echo two; exit 3`;
    const { engine, model, events, start } = shellEngine([
      [inBackground(command)],
      async (request) => {
        const path = outputPath(run.state);
        expect(statSync(path).mode & 0o777).toBe(0o600);
        await until(() => readFileSync(path, 'utf8') === 'one\n');
        writeFileSync(go, '');
        await until(() => run.state.shells.get(shellId(request))?.end !== null);
        expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
        return [{ name: 'Bash', input: { command: 'true' } }];
      },
      'The end.',
    ]);
    const run = start('go');
    await run.end.written;
    const id = shellId(model.requests[1]);
    expect(notices(model.requests[1])).toEqual([]);
    expect(notices(model.requests[2]).map(withoutNonce)).toEqual([
      `<notice>Ended in the background:\n<outside N>\n- Shell ${id} (${command.slice(0, 80)}…): ended with exit code 3. Its output: TaskOutput(task_id: "${id}")\n</outside N>\n</notice>`,
    ]);
    expect(endsOf(events)).toEqual([[command, 'exited', 3]]);
    const { data } = engine.result(run);
    expect(data).toMatchObject({ status: 'completed', result: 'The end.' });
    expect(data.receipt.shells).toEqual([{ id, command, end: 'exited', exitCode: 3 }]);
    expect(leftOf(run.spec.id)).toEqual([]);
  });

  it('that runs when the model ends its answer is reported once, then stopped', async () => {
    const { engine, model, events, start } = shellEngine([
      [inBackground('sleep 300')],
      'It runs.',
      'Then the end.',
    ]);
    const run = start('go');
    await run.end.written;
    const id = shellId(model.requests[1]);
    expect(model.requests.length).toBe(3);
    expect(notices(model.requests[2])).toEqual([
      expect.stringContaining(`Still running in the background: ${id}.`),
    ]);
    expect(endsOf(events)).toEqual([['sleep 300', 'stopped', null]]);
    const { data } = engine.result(run);
    expect(data).toMatchObject({ status: 'completed', result: 'Then the end.' });
    expect(data.receipt.shells).toEqual([
      { id, command: 'sleep 300', end: 'stopped', exitCode: null },
    ]);
    expect(leftOf(run.spec.id)).toEqual([]);
  });

  it('that could not be started is an error of its call, and no shell exists', async () => {
    const broken = {
      ...bashTool,
      run: async (_: unknown, context: Parameters<typeof bashTool.run>[1]) =>
        await bashTool.run(
          { command: 'true', run_in_background: true },
          { ...context, cwd: '/etc/passwd' },
        ),
    };
    const { model, events, start, store } = shellEngine([[inBackground('true')]], {
      tools: [broken],
    });
    const run = start('go');
    await run.end.written;
    expect(results(model.requests[1])).toEqual(['/etc/passwd is a file, not a directory']);
    expect(events.map(({ type }) => type)).not.toContain('shell.started');
    expect(run.state.shells.size).toBe(0);
    const spill = dirname(store.createSpillFile(run.spec.id, 'another'));
    expect(readdirSync(spill).length).toBe(1);
  });

  it('is one of at most 16', async () => {
    const calls = Array.from({ length: 17 }, (_, n) => inBackground(`sleep 30${n}`));
    const { model, events, start } = shellEngine([calls]);
    const run = start('go');
    await run.end.written;
    expect(shellIds(model.requests[1]).length).toBe(16);
    expect(results(model.requests[1]).at(-1)).toBe(
      'run_in_background: a task may have at most 16 background shells at a time; end one with TaskStop first',
    );
    expect(endsOf(events).map(([, how]) => how)).toEqual(Array(16).fill('stopped'));
    expect(leftOf(run.spec.id)).toEqual([]);
  });

  it('ends when it writes more than spill_bytes, and the file is no larger', async () => {
    const { model, events, start } = shellEngine([
      [inBackground('yes')],
      (request) => [taskOutput(shellId(request))],
    ]);
    const run = start('go');
    await run.end.written;
    expect(endsOf(events)).toEqual([['yes', 'output_limit', null]]);
    const [report = ''] = results(model.requests[2]);
    expect(report).toContain('Status: stopped: it wrote more than the limit output.spill_bytes\n');
    expect(report).toContain(
      '[Not all of its output is in the file: the output is more than the limit output.spill_bytes = 1000000]',
    );
    expect(statSync(outputPath(run.state)).size).toBe(1_000_000);
  });

  it.each([
    ['obeys', 'sleep 300', 'stopped', 'stopped'],
    ['traps TERM', "trap '' TERM; echo go; sleep 300; sleep 300", 'killed', 'killed'],
  ])('that %s ends with its task', async (_, command, how, status) => {
    const { engine, events, start } = shellEngine([
      [inBackground(command)],
      async () => {
        if (how === 'killed') {
          await until(() => readFileSync(outputPath(run.state), 'utf8') === 'go\n');
        }
        run.stop(stopOrder('user', 'enough'));
        return 'never told';
      },
    ]);
    const run = start('go');
    await run.end.written;
    expect(endsOf(events)).toEqual([[command, how, null]]);
    expect(events.at(-1)?.type).toBe('task.ended');
    expect(engine.result(run).data.status).toBe(status);
    expect(leftOf(run.spec.id)).toEqual([]);
  });

  it('of a child ends with the child, and with a parent that is stopped', async () => {
    const { events, start } = scriptedEngine((request) => {
      if (promptOf(request) !== 'part') return [{ name: 'Task', input: { prompt: 'part' } }];
      if (results(request).length === 0) return [inBackground('sleep 300')];
      return () => {
        run.stop(stopOrder('user', 'enough'));
        return 'never told';
      };
    });
    const run = start('go');
    await run.end.written;
    expect(endsOf(events)).toEqual([['sleep 300', 'stopped', null]]);
    const [child = ''] = run.state.children.keys();
    expect(leftOf(child)).toEqual([]);
  });

  it('and another that ends at the same time are reported in one notice', async () => {
    const go = join(tempDirectory(), 'go');
    const wait = (code: number) => `until [ -e ${go} ]; do sleep 0.02; done; exit ${code}`;
    const { model, start } = shellEngine([
      [inBackground(wait(1)), inBackground(wait(2))],
      async () => {
        writeFileSync(go, '');
        await until(() => [...run.state.shells.values()].every(({ end }) => end !== null));
        return 'I wait.';
      },
      'The end.',
    ]);
    const run = start('go');
    await run.end.written;
    expect(model.requests.length).toBe(3);
    const [notice = '', ...more] = notices(model.requests[2]);
    expect(more).toEqual([]);
    expect(notice.match(/ended with exit code \d/g)?.toSorted()).toEqual([
      'ended with exit code 1',
      'ended with exit code 2',
    ]);
  });

  it('is judged by the rules of a foreground command', async () => {
    const there = join(tempDirectory(), 'there');
    const { model, start } = shellEngine([[inBackground(`touch ${there}`)]], { ask: ['Bash'] });
    const run = start('go');
    await run.end.written;
    expect(run.state.shells.size).toBe(0);
    expect(run.state.refusals.length).toBe(1);
    expect(results(model.requests[1])).not.toEqual([]);
    expect(existsSync(there)).toBe(false);
  });

  it('does not start in plan mode', async () => {
    const { model, start } = shellEngine([[inBackground('true')]], { mode: 'plan' });
    const run = start('go');
    await run.end.written;
    expect(run.state.shells.size).toBe(0);
    expect(results(model.requests[1])).toEqual([
      expect.stringContaining('it would keep running in the background'),
    ]);
  });

  it('is refused if the Task tools are off', async () => {
    const { model, start } = shellEngine([[inBackground('true')]], {
      settings: { taskTools: false },
    });
    const run = start('go');
    await run.end.written;
    expect(results(model.requests[1])).toEqual([
      "run_in_background: needs TaskOutput and TaskStop, which this task does not have (see its agent's tools and task_tool.enabled). Run the command in the foreground.",
    ]);
    expect(run.state.shells.size).toBe(0);
  });
});
