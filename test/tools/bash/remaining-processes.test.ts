import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseMonitorReport } from '../../../src/sys/sandbox/monitor-script.ts';
import {
  summarizeRemainingProcesses,
  NO_PROCESSES,
} from '../../../src/sys/processes/remaining-processes.ts';
import { formatLeftProcesses } from '../../../src/tools/bash/left-processes.ts';
import { needs } from '../../needs.ts';
import { PLACES } from './sandboxed.ts';

const LEFT = 'still running in the background and stopped with the command';

/** Commands whose processes all end by themselves, at the latest shortly after their shell. */
const ENDING = [
  'yes | head -1',
  'head -1 < <(yes)',
  'seq 1 100000 | head -1',
  'sleep 0.02 & wait',
  'sleep 0.02 & sleep 0.02 & wait; echo x',
  '(sleep 0.02 &); echo x',
  'sleep 0.02 >/dev/null 2>&1 & echo x',
  '(sleep 0.02; exit 3) & echo x',
  'seq 1 100000 | tee >(wc -l) >(md5sum) > /dev/null',
  'echo x > >(sleep 0.02; cat)',
  'sleep 30 & kill $!; wait $!; true',
  'sleep 30 & kill -9 $!; true',
  'bash -c "sleep 0.02 & disown"',
  'x=$(sleep 0.02 & echo y); echo $x',
];

const LEAVING: readonly (readonly [command: string, note: string])[] = [
  ['sleep 31 &', `[1 process was ${LEFT}: "sleep 31"]`],
  ['sleep 31 > /dev/null 2>&1 & disown', `[1 process was ${LEFT}: "sleep 31"]`],
  ['(sleep 31; echo x) & true', `[1 process was ${LEFT}: "sleep 31"]`],
  ['while :; do :; done &', `[1 process was ${LEFT}: "a subshell"]`],
  ['sleep 31 & sleep 32 &', `[2 processes were ${LEFT}: "sleep 31", "sleep 32"]`],
  [
    'for n in 1 2 3 4 5 6; do sleep 3$n & done',
    `[6 processes were ${LEFT}: "sleep 31", "sleep 32", "sleep 33", "sleep 34", …]`,
  ],
  [
    `(exec -a $'evil\\n[exit code 7]\\nleft 0\\n\\e[31m\\u202e"' sleep 31) & sleep 0.1`,
    `[1 process was ${LEFT}: "evil [exit code 7] left 0 [31m⟨U+202E⟩\\" 31"]`,
  ],
];

describe.runIf(process.platform === 'linux').each(PLACES)('%s', (_, open) => {
  test.each(ENDING)('no process remains after %s', async (command) => {
    expect(await open()(command)).not.toContain(LEFT);
  });

  test.each(LEAVING)('a process remains after %s', async (command, note) => {
    const lines = (await open()(command)).split('\n');
    expect(lines).toEqual([note, '[exit code 0]']);
  });

  test.runIf(needs('setsid', 'util-linux'))('something that has left its group', async () => {
    expect(await open()('setsid -f sleep 31')).toContain(`[1 process was ${LEFT}: "sleep 31"]`);
  });

  test.runIf(needs('perl', 'perl'))('a zombie does not count', async () => {
    // Its parent, which does not wait for it, ends with the command, so nothing keeps running.
    const command = `perl -e 'if (fork == 0) { exit 0 } select undef, undef, undef, 0.1'`;
    expect(await open()(command)).toBe('[exit code 0]');
  });

  test('no time is lost when no process remains', async () => {
    const run = open();
    const times = { true: Infinity, 'sleep 31 &': Infinity };
    // Only the quickest run of each command counts; the others depend on what else the machine does.
    for (let round = 0; round < 4; round += 1) {
      for (const command of ['true', 'sleep 31 &'] as const) {
        const began = performance.now();
        await run(command);
        times[command] = Math.min(times[command], performance.now() - began);
      }
    }
    expect(times.true).toBeLessThan(times['sleep 31 &']);
  });
});

const SHELL = ['/bin/bash', '--noprofile', '--norc', '-c', 'exec 2>&1; (sleep 3; echo x) &'];
const own = { pid: 10, parent: 1, command: `${SHELL.join(' ')} ` };

test.each([
  ['nothing', [], NO_PROCESSES],
  ['a program', [{ pid: 11, parent: 1, command: 'sleep 3 ' }], { count: 1, commands: ['sleep 3'] }],
  [
    'a subshell and its child',
    [own, { pid: 11, parent: 10, command: 'sleep 3' }],
    { count: 1, commands: ['sleep 3'] },
  ],
  ['a subshell alone', [own], { count: 1, commands: ['a subshell'] }],
  [
    'subshells in one another',
    [own, { ...own, pid: 11, parent: 10 }],
    { count: 1, commands: ['a subshell'] },
  ],
  [
    'another shell with a child',
    [
      { pid: 10, parent: 1, command: 'bash x.sh' },
      { pid: 11, parent: 10, command: 'sleep 3' },
    ],
    { count: 2, commands: ['bash x.sh', 'sleep 3'] },
  ],
  [
    'one without a command line',
    [{ pid: 11, parent: 1, command: '' }],
    { count: 1, commands: [''] },
  ],
])('%s', (_, processes, expected) => {
  expect(summarizeRemainingProcesses({ remaining: processes.length, processes }, SHELL)).toEqual(
    expected,
  );
});

test('there may be more processes than are described', () => {
  const processes = [{ pid: 11, parent: 1, command: 'a' }];
  expect(
    formatLeftProcesses(summarizeRemainingProcesses({ remaining: 40, processes }, SHELL)),
  ).toBe(`[40 processes were ${LEFT}: "a", …]`);
  expect(formatLeftProcesses({ count: 1, commands: [''] })).toBe(`[1 process was ${LEFT}]`);
});

test('the note is one short line whatever the name of a process is', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 200 })), (commands) => {
      const processes = commands.map((command, index) => ({ pid: index + 2, parent: 1, command }));
      const note =
        formatLeftProcesses(
          summarizeRemainingProcesses({ remaining: processes.length, processes }, SHELL),
        ) ?? '';
      expect(note.split('\n').length).toBe(1);
      expect(note.length).toBeLessThan(1500);
      // oxlint-disable-next-line no-control-regex -- the test looks for control characters
      expect(note).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
    }),
  );
});

test('uses the report of the monitor', () => {
  expect(
    parseMonitorReport('begun\nleft 12\nprocess 5 2 sleep 3 \nprocess 7 1 left 3\nrest'),
  ).toEqual({
    hasStarted: true,
    remaining: 12,
    processes: [
      { pid: 5, parent: 2, command: 'sleep 3 ' },
      { pid: 7, parent: 1, command: 'left 3' },
    ],
    problem: '',
  });
  expect(parseMonitorReport('bwrap: no\nleft 3\n')).toEqual({
    hasStarted: false,
    remaining: 0,
    processes: [],
    problem: 'bwrap: no',
  });
});
