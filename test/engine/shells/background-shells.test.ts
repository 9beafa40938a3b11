import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import * as fc from 'fast-check';
import { describe, expect, it, afterAll } from 'vitest';
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
import { readOutputPart } from '../../../src/engine/task-tools/read-shell.ts';
import { ShellOutput } from '../../../src/engine/shells/shell-output.ts';

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

const directory = mkdtempSync(join(tmpdir(), 'muster-shell-output-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(content: string | Buffer): string {
  const path = join(directory, 'output');
  writeFileSync(path, content);
  return path;
}

describe('the output of a shell', () => {
  it.runIf(process.platform === 'linux')('is lost on a full disk, but the shell continues', () => {
    let stops = 0;
    const output = new ShellOutput('/dev/full', 10, () => void (stops += 1));
    for (const text of ['one', 'more than ten']) output.write(Buffer.from(text));
    output.close();
    expect(output.problem).toMatch(/ENOSPC/);
    expect(stops).toBe(0);
  });

  it('is kept up to the limit, to the byte', () => {
    const path = file('');
    let stops = 0;
    const output = new ShellOutput(path, 10, () => void (stops += 1));
    for (const text of ['12345', '67890']) output.write(Buffer.from(text));
    expect([output.problem, stops]).toEqual([null, 0]);
    for (const text of ['!', '!!']) output.write(Buffer.from(text));
    output.close();
    expect([output.problem, stops]).toEqual([
      'the output is more than the limit output.spill_bytes = 10',
      1,
    ]);
    expect(readOutputPart(path, 0, 100)).toMatchObject({ text: '1234567890', size: 10 });
  });

  it('does not follow a link, which is reported before the shell begins', () => {
    const path = join(directory, 'link');
    symlinkSync(file(''), path);
    expect(() => new ShellOutput(path, 10, () => {})).toThrow(
      /^The shell was not started, since its output file can't be opened: ELOOP/,
    );
  });
});

describe('a piece of output', () => {
  it.each([
    ['all of it', 'one\ntwo\n', null, 100, { text: 'one\ntwo', start: 0, end: 8, size: 8 }],
    [
      'its end from a line on',
      'one\ntwo\nthree\n',
      null,
      10,
      { text: 'three', start: 8, end: 14, size: 14 },
    ],
    [
      'its end within a long line',
      'a'.repeat(20),
      null,
      10,
      { text: 'a'.repeat(10), start: 10, end: 20, size: 20 },
    ],
    [
      'its start up to a line',
      'one\ntwo\nthree\n',
      0,
      10,
      { text: 'one\ntwo', start: 0, end: 8, size: 14 },
    ],
    [
      'from that line on',
      'one\ntwo\nthree\n',
      8,
      10,
      { text: 'three', start: 8, end: 14, size: 14 },
    ],
    ['nothing beyond the end', 'one\n', 9, 10, { text: '', start: 9, end: 9, size: 4 }],
    ['nothing of an empty file', '', null, 10, { text: '', start: 0, end: 0, size: 0 }],
    ['nothing beyond an empty file', '', 7, 10, { text: '', start: 7, end: 7, size: 0 }],
    [
      'no half of a character at the end',
      'ééééé',
      0,
      5,
      { text: 'éé', start: 0, end: 4, size: 10 },
    ],
    [
      'no half of a character at the start',
      'ééééé',
      null,
      5,
      { text: 'éé', start: 6, end: 10, size: 10 },
    ],
    [
      'no control characters for a terminal',
      'a\u001b[31mb\u0007\n',
      0,
      50,
      { text: 'ab', start: 0, end: 9, size: 9 },
    ],
  ])('%s', (_, content, offset, most, piece) => {
    expect(readOutputPart(file(content), offset, most)).toEqual({ ok: true, ...piece });
  });

  it('of a missing file says so', () => {
    expect(readOutputPart(join(directory, 'gone'), 0, 10)).toEqual({
      ok: false,
      problem: expect.stringContaining('ENOENT'),
    });
  });

  it('of a file that was cut says so', () => {
    const path = file('one\ntwo\n');
    truncateSync(path, 3);
    expect(readOutputPart(path, 4, 10)).toMatchObject({ text: '', size: 3 });
  });

  it('reads any text completely, piece by piece, and stays within the limit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 30 })),
        fc.integer({ min: 12, max: 60 }),
        (lines, most) => {
          const text = lines.map((line) => line.replace(/[\p{Cc}\u2028]/gu, '')).join('\n');
          const path = file(text);
          const pieces: string[] = [];
          for (let at = 0; at < Buffer.byteLength(text);) {
            const piece = readOutputPart(path, at, most);
            if (!piece.ok) throw new Error(piece.problem);
            expect(piece.start).toBe(at);
            expect(piece.end).toBeGreaterThan(at);
            pieces.push(piece.text);
            at = piece.end;
          }
          const bare = (all: string) => all.replace(/\s/g, '');
          expect(bare(pieces.join(''))).toBe(bare(text));
        },
      ),
    );
  });

  it('stays within the limit for bytes that are not text', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 3, max: 90 }),
        (bytes, most) => {
          const path = file(Buffer.from(bytes));
          let at = 0;
          while (at < bytes.length) {
            const piece = readOutputPart(path, at, most);
            if (!piece.ok) throw new Error(piece.problem);
            expect(Buffer.byteLength(piece.text)).toBeLessThanOrEqual(most);
            expect(piece.end).toBeGreaterThan(at);
            at = piece.end;
          }
        },
      ),
    );
  });
});
