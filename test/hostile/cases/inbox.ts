import { bash, inTurn, ofClass, once, read, task, write } from '../calls.ts';

const PADDED = `echo harmless ${' '.repeat(3_000)}; touch b.txt # \u202e`;

export const INBOX_CASES = ofClass('agent inheritance', [
  {
    name: 'a child that is denied three times in a row is ended, and its parent told so',
    settings: { person: 'deny' },
    model: {
      main: [{ calls: [task('child', 'general-purpose')] }],
      tasks: {
        child: inTurn(
          write('1.txt'),
          write('2.txt'),
          write('3.txt'),
          write('4.txt'),
          write('5.txt'),
        ),
      },
    },
    expect: {
      calls: [{ end: 'failed', error: 'PERMISSION_DENIED' }],
      tasks: { child: ['refused', 'refused', 'refused'] },
      asked: ['1', '2', '3'].map((name) => ({
        chain: 'main > general-purpose',
        subject: `@ws@/${name}.txt`,
      })),
    },
  },
  {
    name: 'an answer "always" gives a sibling only what its rule names',
    settings: { person: 'always' },
    model: {
      main: [
        { calls: [task('one', 'general-purpose')] },
        { calls: [task('two', 'general-purpose')] },
      ],
      tasks: {
        one: [{ calls: [write('1.txt', 'a\n')] }],
        two: [{ calls: [write('1.txt'), bash('touch 2.txt')] }],
      },
    },
    expect: {
      asked: [
        { chain: 'main > general-purpose', subject: '@ws@/1.txt' },
        { chain: 'main > general-purpose', subject: 'touch 2.txt' },
      ],
      changes: { 'ws/1.txt': true, 'ws/2.txt': '' },
    },
  },
  {
    name: 'a question shows all that would run, however far to the right it stands',
    settings: { person: 'deny' },
    model: once(bash(PADDED)),
    expect: { calls: ['refused'], asked: [{ chain: 'main', subject: PADDED }] },
  },
  {
    name: 'a parked question is no yes: not by a resume, not by an answer to something else',
    model: once(write('b.txt', 'b\n')),
    program: [
      { args: ['-p', 'go', '--on-ask', 'park'], exit: 5 },
      { args: ['tasks', 'answer', '@task@', 'always', '--scope', 'everything'], exit: [1, 2] },
      { args: ['tasks', 'answer', '../../out', 'yes'], exit: [1, 2] },
      { args: ['--resume', '@task@'], exit: [0, 1, 3, 5] },
    ],
    expect: {},
  },
  {
    name: 'a parked question that is answered with no is not done',
    model: once(write('b.txt', 'b\n')),
    program: [
      { args: ['-p', 'go', '--on-ask', 'park'], exit: 5 },
      { args: ['tasks', 'answer', '@task@', 'no'] },
    ],
    expect: {},
  },
  {
    name: 'a parked question that is answered with yes is done, once (control)',
    control: true,
    model: { main: inTurn(read('a.txt'), bash('echo once >> count.txt')) },
    program: [
      { args: ['-p', 'go', '--on-ask', 'park'], exit: 5 },
      { args: ['tasks', 'answer', '@task@', 'yes'] },
    ],
    expect: { changes: { 'ws/count.txt': 'once\n' } },
  },
]);
