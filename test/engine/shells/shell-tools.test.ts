import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { needs } from '../../needs.ts';
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
  taskOutput,
  taskStop,
  until,
} from './support.ts';
import { promptOf } from '../support.ts';
import { withoutNonce } from '../../nonce.ts';

const HAS_SETSID = process.platform === 'linux' && needs('setsid', 'util-linux');

describe('TaskOutput of a shell', () => {
  const READ_ON = (id: string, end: number) =>
    `  - Read on: TaskOutput(task_id: "${id}", block: false, offset: ${end})`;

  it.each([
    ['does not block', { block: false }],
    ['may not wait', { timeout: 0 }],
    ['waits in vain', { timeout: 30 }],
  ])('of a running shell that %s gives its state and the options', async (_, input) => {
    const { model, start } = shellEngine([
      [inBackground('echo one; sleep 300')],
      async (request) => {
        await until(() => readFileSync(outputPath(run.state), 'utf8') === 'one\n');
        return [taskOutput(shellId(request), input)];
      },
    ]);
    const run = start('go');
    await run.end.written;
    const id = shellId(model.requests[1]);
    const [report = ''] = results(model.requests[2]);
    expect(report.replace(/(?<=Duration: ).*/, '…')).toBe(
      [
        'Shell: echo one; sleep 300',
        'Status: still running',
        'Duration: …',
        `Output file: ${outputPath(run.state)}`,
        '',
        'Output:',
        'one',
        '',
        'Options:',
        `  - Wait longer: TaskOutput(task_id: "${id}", timeout: 60000)`,
        `  - Check: TaskOutput(task_id: "${id}", block: false)`,
        `  - Stop: TaskStop(task_id: "${id}")`,
        READ_ON(id, 4),
      ].join('\n'),
    );
  });

  it.each([
    ['sleep 0.1; echo done', 'ended with exit code 0', 'Output:\ndone'],
    ['sleep 0.1; exit 9', 'ended with exit code 9', 'Output: none'],
    ['sleep 0.1; kill -SEGV $$', 'ended by a signal', 'Output: none'],
  ])(
    'of %s waits for the end, whose notice is not needed any more',
    async (command, status, output) => {
      const { model, start } = shellEngine([
        [inBackground(command)],
        (request) => [taskOutput(shellId(request))],
        'The end.',
      ]);
      const run = start('go');
      await run.end.written;
      expect(model.requests.length).toBe(3);
      expect(notices(model.requests[2])).toEqual([]);
      const [report = ''] = results(model.requests[2]);
      expect(report.replace(/(?<=Duration: ).*/, '…')).toBe(
        [
          `Shell: ${command}`,
          `Status: ${status}`,
          'Duration: …',
          `Output file: ${outputPath(run.state)}`,
          '',
          output,
        ].join('\n'),
      );
      expect(run.state.conversation.queued).toEqual([]);
    },
  );

  it('pages through a long output without a gap', async () => {
    const settings = {
      caps: { resultBytes: 3_000, readBytes: 10_000, spillBytes: 100_000, toolMs: 600_000 },
    };
    const pages: string[] = [];
    const readOn = (report: string) => {
      const [, from = '', to = '', size = ''] = /bytes (\d+) to (\d+) of (\d+)/.exec(report) ?? [];
      return { from: Number(from), to: Number(to), size: Number(size) };
    };
    const { start } = scriptedEngine(
      (request) => {
        const [report = ''] = results(request);
        if (report === '') return [inBackground('seq 1 2000; exit 0')];
        const id = shellId(request);
        if (report.includes('runs in the background')) return [taskOutput(id, { offset: 0 })];
        pages.push(report);
        const { to, size } = readOn(report);
        return to < size ? [taskOutput(id, { offset: to })] : 'done';
      },
      { settings },
    );
    const run = start('go');
    await run.end.written;
    const whole = pages.map((page) => /of \d+:\n([\d\n]*)/.exec(page)?.[1]?.trim()).join('\n');
    expect(whole).toBe(Array.from({ length: 2000 }, (_, n) => n + 1).join('\n'));
    const spans = pages.map(readOn);
    expect(spans.map(({ from }) => from)).toEqual([0, ...spans.slice(0, -1).map(({ to }) => to)]);
  });

  it('shows the end of a long output, and says which offsets are valid', async () => {
    const { model, start } = shellEngine([
      [inBackground('seq 1 20000')],
      (request) => [taskOutput(shellId(request))],
      (request) => [taskOutput(shellId(request), { offset: 1_000_000 })],
      (request) => [taskOutput(shellId(request), { offset: -1 })],
    ]);
    const run = start('go');
    await run.end.written;
    const id = shellId(model.requests[1]);
    const [end = ''] = results(model.requests[2]);
    expect(end).toMatch(/Output, bytes \d+ to 108894 of 108894:\n\d+\n[^]*\n20000\n\nOptions:\n/);
    expect(end).toContain(`  - From the start: TaskOutput(task_id: "${id}", offset: 0)`);
    expect(results(model.requests[3])[0]).toContain(
      'Output: nothing from byte 1000000 on; it has 108894 bytes',
    );
    expect(results(model.requests[4])[0]).toMatch(
      /Output, bytes 0 to \d+ of 108894:[^]*\n\[offset: -1 is below the minimum, 0 was used\]$/,
    );
  });

  it('of a child’s shell informs the parent, and the child is still notified', async () => {
    let id = '';
    const { model, start } = scriptedEngine((request) => {
      const told = results(request);
      if (promptOf(request) === 'part') {
        if (told.length === 0) return [inBackground('sleep 0.2; echo found; exit 5')];
        id = shellId(request);
        if (notices(request).length > 0) return 'It has ended.';
        return [{ name: 'Bash', input: { command: 'sleep 0.5' } }];
      }
      if (told.length === 0) {
        return [{ name: 'Task', input: { prompt: 'part', run_in_background: true } }];
      }
      if (told[0]?.startsWith('Shell') === true) return 'Read.';
      return async () => {
        await until(() => id !== '');
        return [taskOutput(id)];
      };
    });
    const run = start('go');
    await run.end.written;
    const read = model.requests.flatMap((request) =>
      promptOf(request) === 'go' ? results(request).filter((text) => text.startsWith('Shell')) : [],
    );
    expect(read[0]).toContain('Status: ended with exit code 5\n');
    expect(read[0]).toMatch(/Output:\nfound$/);
    const last = model.requests.findLast((request) => promptOf(request) === 'part');
    expect(notices(last)).toEqual([expect.stringContaining('ended with exit code 5')]);
  });
});

const STOPS = [
  ['obeys', 'echo go; sleep 300', 'stopped', 'stopped'],
  ['has left its group', 'setsid sleep 300 & echo go; wait', 'stopped', 'stopped'],
  [
    'traps TERM',
    "trap '' TERM; echo go; sleep 300; sleep 300",
    'killed',
    'killed, since it did not stop when asked',
  ],
] as const;

describe('TaskStop of a shell', () => {
  it.each(STOPS.filter(([, command]) => HAS_SETSID || !command.includes('setsid')))(
    'that %s ends it, and its output is kept',
    async (_, command, how, status) => {
      const { engine, model, events, start } = shellEngine([
        [inBackground(command)],
        async (request) => {
          await until(() => readFileSync(outputPath(run.state), 'utf8') === 'go\n');
          return [taskStop(shellId(request).slice(0, 8))];
        },
        (request) => {
          expect(leftOf(run.spec.id)).toEqual([]);
          return [taskStop(shellId(request))];
        },
        'The end.',
      ]);
      const run = start('go');
      await run.end.written;
      const id = shellId(model.requests[1]);
      const [report = ''] = results(model.requests[2]);
      expect(report).toMatch(new RegExp(`^Shell ${id} is stopped\\.\n\nShell: `));
      expect(report).toContain(`Status: ${status}\n`);
      expect(report).toMatch(/Output:\ngo$/);
      expect(results(model.requests[3])[0]).toMatch(new RegExp(`^Shell ${id} had ended before\\.`));
      expect(notices(model.requests.at(-1))).toEqual([]);
      expect(endsOf(events)).toEqual([[command, how, null]]);
      // The task itself was not stopped: it completes, even if the shell had to be killed.
      expect(engine.result(run).data.status).toBe('completed');
    },
  );

  it('by a task above is reported to the task that started it', async () => {
    let id = '';
    const { model, start, events } = scriptedEngine((request) => {
      const told = results(request);
      if (promptOf(request) === 'part') {
        if (told.length === 0) return [inBackground('sleep 300')];
        id = shellId(request);
        if (notices(request).length > 0) return 'It was stopped.';
        return [{ name: 'Bash', input: { command: 'sleep 0.3' } }];
      }
      if (told.length === 0) {
        return [{ name: 'Task', input: { prompt: 'part', run_in_background: true } }];
      }
      if (told[0]?.startsWith('Shell') === true) return 'Stopped.';
      return async () => {
        await until(() => id !== '');
        return [taskStop(id)];
      };
    });
    const run = start('go');
    await run.end.written;
    expect(endsOf(events)).toEqual([['sleep 300', 'stopped', null]]);
    const last = model.requests.findLast((request) => promptOf(request) === 'part');
    expect(notices(last).map(withoutNonce)).toEqual([
      `<notice>Ended in the background:\n<outside N>\n- Shell ${id} (sleep 300): stopped. Its output: TaskOutput(task_id: "${id}")\n</outside N>\n</notice>`,
    ]);
  });
});
