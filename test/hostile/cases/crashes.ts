import { inTurn, ofClass, once, read, task, write } from '../calls.ts';
import type { ProgramRun } from '../case.ts';

const LOG = 'data/tasks/@task@.jsonl';
const FIRST: ProgramRun = {
  args: ['-p', 'go', '--permission-mode', 'acceptEdits'],
  says: [/done/],
};
const RESUMED: ProgramRun = { args: ['--resume', 'last', '-p', 'more'], says: [/done/] };
const WORK = { main: inTurn(write('b.txt', 'b\n')) };
const WORKED = { 'ws/b.txt': 'b\n' };

export const CRASH_CASES = ofClass('crashes', [
  {
    name: 'a last line that was torn: the task goes on, and nothing is done twice',
    model: WORK,
    program: [FIRST, { ...RESUMED, before: [{ cut: LOG, bytes: 40 }] }],
    expect: { changes: WORKED, mostRequests: 3 },
  },
  {
    name: 'a log that is cut at its first line',
    model: WORK,
    program: [
      FIRST,
      { args: ['tasks', 'show', '@task@'], before: [{ put: LOG, entry: '{"format"' }], exit: 1 },
    ],
    expect: { changes: WORKED },
  },
  {
    name: 'a log with lines of something else in its middle and at its end',
    model: WORK,
    program: [
      FIRST,
      {
        args: ['tasks', 'show', '@task@'],
        before: [
          { append: LOG, text: '\u0000\u0000\u0000\n{"type":"evil"}\n[]\nnull\n\u001b[2J\n' },
        ],
        says: [/completed/],
        // oxlint-disable-next-line no-control-regex -- it is what must not come out
        omits: [/\u001b/],
      },
    ],
    expect: { changes: WORKED },
  },
  {
    name: 'a log that is a link to another file is not written through',
    model: WORK,
    program: [
      FIRST,
      {
        args: ['--resume', '@task@', '-p', 'more'],
        before: [
          { rename: [LOG, 'out/log.jsonl'] },
          { put: LOG, entry: { link: '@out@/log.jsonl' } },
        ],
        exit: [1, 2],
      },
    ],
    expect: { changes: { ...WORKED, 'out/log.jsonl': true } },
  },
  {
    name: 'a log that is a pipe, or a directory, holds up nothing',
    model: WORK,
    program: [
      FIRST,
      {
        args: ['tasks', 'list'],
        before: [{ put: 'data/tasks/zzzzzzzzzzz1.jsonl', entry: { fifo: true } }],
        says: [/completed/],
      },
      {
        args: ['tasks', 'list'],
        before: [{ put: 'data/tasks/zzzzzzzzzzz2.jsonl', entry: { directory: true } }],
        says: [/completed/],
      },
    ],
    expect: { changes: WORKED },
  },
  {
    name: 'ids that are paths, patterns or flags',
    model: WORK,
    program: [
      FIRST,
      { args: ['tasks', 'show', '../../out/secret'], exit: [1, 2] },
      { args: ['tasks', 'log', '@out@/secret.txt'], exit: [1, 2] },
      { args: ['tasks', 'delete', '../../../out'], exit: [1, 2] },
      { args: ['tasks', 'delete', '*'], exit: [1, 2] },
      { args: ['--resume', '../../out/secret', '-p', 'x'], exit: [1, 2] },
      { args: ['tasks', 'show', '--', '-rf'], exit: [1, 2] },
    ],
    expect: { changes: WORKED },
  },
  {
    name: 'a file of tasks from elsewhere grants nothing: its mode and rules are cut',
    model: {
      main: [
        { calls: [write('b.txt', 'b\n')] },
        { answer: { text: 'done' } },
        { calls: [write('c.txt')] },
      ],
    },
    program: [
      { args: ['-p', 'go', '--permission-mode', 'autonomous', '--allow', 'Write'], says: [/.*/] },
      { args: ['tasks', 'export', '@task@', '@tmp@/export.jsonl'] },
      { args: ['tasks', 'delete', '@task@'] },
      { args: ['tasks', 'import', '@tmp@/export.jsonl'] },
      { args: ['--resume', '@task@', '-p', 'more'] },
    ],
    expect: { changes: { ...WORKED, 'tmp/export.jsonl': true } },
  },
  {
    name: 'files to import that are none',
    program: [
      { args: ['tasks', 'import', '@out@/secret.txt'], exit: [1, 2] },
      { args: ['tasks', 'import', '/dev/null'], exit: [1, 2] },
      { args: ['tasks', 'import', '@ws@'], exit: [1, 2] },
      { args: ['tasks', 'import', '-'], stdin: '{"v":1}\n'.repeat(2_000), exit: [1, 2] },
      {
        args: ['tasks', 'import', '-'],
        stdin: `{"id":"../../../out/evil","a":"${'x'.repeat(100_000)}"}\n`,
        exit: [1, 2],
      },
    ],
    expect: {},
  },
  {
    name: 'whatever the umask: nobody else reads the state',
    model: {
      main: [{ calls: [task('child', 'Explore')] }],
      tasks: { child: [{ calls: [read('a.txt')] }] },
    },
    program: [{ ...FIRST, umask: '000' }],
    expect: { stateIsPrivate: true },
  },
  {
    name: 'a state directory that others may write to is not used',
    model: WORK,
    program: [
      {
        args: ['-p', 'go', '--permission-mode', 'acceptEdits'],
        before: [{ mode: 0o777, of: 'data' }],
        exit: [1, 2],
        says: [/data/],
      },
    ],
    expect: {},
  },
  {
    name: 'an end by a signal leaves a task that goes on (control)',
    control: true,
    model: once(read('a.txt')),
    program: [FIRST, RESUMED, { args: ['tasks', 'list'], says: [/completed/] }],
    expect: {},
  },
]);
