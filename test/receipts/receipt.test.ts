import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildReceipt, quoteText, formatReceiptParts } from '../../src/receipts/receipt.ts';
import type { EventBody } from '../../src/protocol/events/event.ts';
import type { CommandRun, FileChange } from '../../src/protocol/tool.ts';
import { callOf, childOf, ranCommands, stateOf } from './support.ts';

const NOTHING = [
  '0 tool calls',
  'no files changed',
  'no commands',
  'tests not run',
  'build not run',
  'no commits',
  'no refusals',
];

function lineOf(events: readonly EventBody[]): readonly string[] {
  return formatReceiptParts(stateOf(events), 'full');
}

/** Returns the parts of the line that differ from the line of a task that only ran commands. */
function partsAbout(word: string, events: readonly EventBody[]): readonly string[] {
  return lineOf(events).filter((part) => part.includes(word));
}

function changed(...files: readonly FileChange[]): readonly EventBody[] {
  return callOf('Write', { changed: files });
}

function shell(id: string, command: string, exitCode: number | null): readonly EventBody[] {
  return [
    { type: 'shell.started', shell: id, callId: id, command, output: '/out' },
    ...(exitCode === null
      ? []
      : [{ type: 'shell.ended', shell: id, end: 'exited', exitCode } as const]),
  ];
}

describe('the line of a receipt', () => {
  it('names each thing that did not happen', () => {
    expect(lineOf([])).toEqual(NOTHING);
  });

  it('counts the findings that the task itself has posted', () => {
    const posted = {
      type: 'finding.posted',
      number: 1,
      title: 'The cache',
      text: 'It is keyed by path.',
      callId: 'p',
    } as const;
    const author = { task: 'task00000009', agent: 'Explore', at: 1 };
    const events = [
      { ...posted, finding: 'finding00001' },
      { ...posted, finding: 'finding00002', author },
    ];
    expect(lineOf(events)).toEqual([...NOTHING, '1 finding on the board']);
    expect(buildReceipt(stateOf(events)).findings).toEqual([
      { id: 'finding00001', title: 'The cache' },
    ]);
  });

  it('names everything that happened, in a fixed order', () => {
    const events = [
      ...changed(
        { path: '/ws/src/a.ts', before: 'x', after: 'y' },
        { path: '/ws/new.ts', before: null, after: 'y' },
        { path: '/elsewhere/old.ts', before: 'x', after: null },
      ),
      ...ranCommands(['npm test', 1], ['npm run build', 0], ['git commit -m x', 0]),
      {
        type: 'call.refused',
        callId: 'r',
        tool: 'Bash',
        text: 'no',
        error: 'PERMISSION_DENIED',
        decision: { verdict: 'deny', step: 'rule', reason: 'the rule Bash(rm *) forbids it' },
      },
    ] as const;
    expect(formatReceiptParts(stateOf(events as readonly EventBody[]), 'full')).toEqual([
      '4 tool calls (Write 1, Bash 3)',
      'changed: src/a.ts, new.ts (new), /elsewhere/old.ts (deleted)',
      'commands: "npm test" exit 1, "npm run build" exit 0, "git commit -m x" exit 0',
      'tests failed ("npm test" exit 1)',
      'build passed ("npm run build" exit 0)',
      '1 commit',
      '1 refusal: "Bash: the rule Bash(rm *) forbids it"',
    ]);
  });

  it('has no names in its short form, and the same numbers', () => {
    const events = [
      ...changed({ path: '/ws/secret.ts', before: null, after: 'y' }),
      ...ranCommands(['npm test', 1], ['ls', 0]),
    ];
    expect(formatReceiptParts(stateOf(events), 'counts')).toEqual([
      '3 tool calls',
      '1 file changed',
      '2 commands (1 did not exit with 0)',
      'tests failed',
      'no build recognized',
      'no commits',
      'no refusals',
    ]);
    expect(formatReceiptParts(stateOf([]), 'counts')).toEqual([
      '0 tool calls',
      'no files changed',
      'no commands',
      'no refusals',
    ]);
  });
});

describe('tests in the line of a receipt', () => {
  it.each<[string, readonly EventBody[], string]>([
    [
      'the last run counts',
      ranCommands(['npm test', 1], ['npm test', 0]),
      'tests passed ("npm test" exit 0)',
    ],
    [
      'other commands do not',
      ranCommands(['npm test', 1], ['ls', 0]),
      'tests failed ("npm test" exit 1)',
    ],
    [
      'an unclear run',
      ranCommands(['npm test | tail', 0]),
      'tests run with an unclear result ("npm test | tail" exit 0)',
    ],
    [
      'a signal',
      ranCommands(['npm test', null]),
      'tests run with an unclear result ("npm test" ended by a signal)',
    ],
    ['unknown commands', ranCommands(['./check-all', 0]), 'no test run recognized'],
    [
      'a subagent',
      childOf('c1', [{ command: 'npm test', exitCode: 1 }]),
      'tests in subagents or the background: 1 failed',
    ],
    [
      'a background shell',
      shell('s1', 'npm test', 0),
      'tests in subagents or the background: 1 passed',
    ],
    [
      'several tasks, which have no order among them',
      [
        ...ranCommands(['npm test', 1]),
        ...childOf('c1', [{ command: 'npm test', exitCode: 0 }]),
        ...childOf('c2', [{ command: 'npm test', exitCode: 1 }]),
      ],
      'tests failed ("npm test" exit 1), in subagents or the background: 1 passed, 1 failed',
    ],
  ])('%s', (_, events, expected) => {
    expect(partsAbout('test', events).filter((part) => !part.startsWith('commands:'))).toEqual([
      expected,
    ]);
  });
});

it('commits of the task and of its subagents are counted together', () => {
  const commit = { command: 'git commit -m x', exitCode: 0 };
  const events = [
    ...ranCommands(['git commit -m a && git log | cat', 0]),
    ...childOf('c1', [commit]),
  ];
  expect(partsAbout(' commit', events).at(-1)).toBe('1 commit, 1 with an unclear result');
});

it('subagents, and missing information about them, are named', () => {
  const events = [...childOf('c1', [{ command: 'ls x', exitCode: 2 }]), ...childOf('c2', null)];
  expect(lineOf(events).at(-1)).toBe(
    '2 subagents with 1 command (1 did not exit with 0), 1 without a receipt',
  );
});

it('a call whose process died has an unknown outcome', () => {
  const events: readonly EventBody[] = [
    { type: 'call.started', callId: 'c', tool: 'Bash', input: {} },
    { type: 'task.claimed', pid: 1, host: 'here' },
  ];
  expect(lineOf(events).at(-1)).toBe('1 call with an unknown outcome');
});

it('background shells are listed next to the commands', () => {
  const events = [
    ...ranCommands(['ls', 0]),
    ...shell('s1', 'npm run dev', null),
    ...shell('s2', 'make', 2),
  ];
  expect(partsAbout('commands', events)).toEqual([
    'commands: "ls" exit 0, "npm run dev" in the background: running, "make" exit 2 in the background',
  ]);
});

describe('the parts that are left out', () => {
  it('of the commands are counted, including those that failed', () => {
    const runs = Array.from({ length: 9 }, (_, at) => [`run ${at}`, at === 0 ? 3 : 0] as const);
    expect(partsAbout('commands', ranCommands(...runs))).toEqual([
      '9 commands (1 did not exit with 0): "run 3" exit 0, "run 4" exit 0, "run 5" exit 0, "run 6" exit 0, "run 7" exit 0, "run 8" exit 0 and 3 earlier',
    ]);
  });

  it('of the files are counted', () => {
    const files = Array.from({ length: 10 }, (_, at) => ({
      path: `/ws/${at}`,
      before: 'x',
      after: 'y',
    }));
    expect(partsAbout('changed', changed(...files))).toEqual([
      'changed: 0, 1, 2, 3, 4, 5, 6, 7 and 2 more',
    ]);
  });

  it('of a text are not mentioned if nothing is left out', () => {
    expect(quoteText('🙂'.repeat(100))).toBe(`"${'🙂'.repeat(100)}"`);
  });

  it('of a long command are mentioned', () => {
    expect(quoteText(`echo ${'x'.repeat(500)}`)).toBe(
      `"echo ${'x'.repeat(95)}…" (cut, 505 characters)`,
    );
  });
});

const runs = fc.array(
  fc.record<CommandRun>({
    command: fc.string({ unit: 'binary' }),
    exitCode: fc.option(fc.nat(255)),
  }),
);
const files = fc.array(fc.string({ unit: 'binary', minLength: 1 }));

describe('text of a task', () => {
  it.each([
    ['a\nb', '"a␊b"'],
    ['\u001b[2Jx', '"⟨U+001B⟩[2Jx"'],
    ['a\u202eb', '"a⟨U+202E⟩b"'],
    ['x" · tests passed', '"x\\" · tests passed"'],
    ['C:\\x', '"C:\\\\x"'],
  ])('%j is quoted as %s', (text, expected) => {
    expect(quoteText(text)).toBe(expected);
  });

  it('leaves the receipt one line of limited length, in which each part occurs once', () => {
    const PART =
      /^(?:\d+ tool calls?|no files changed|changed:|(?:\d+ )?(?:no )?commands?|tests |no test run|build |no build|\d+ commits?|no commits|no refusals)/;
    fc.assert(
      fc.property(runs, files, (commands, paths) => {
        const events = [
          ...callOf('Bash', { commands }),
          ...changed(...paths.map((path) => ({ path: `/ws/${path}`, before: 'x', after: 'y' }))),
        ];
        const parts = lineOf(events);
        const line = parts.join(' · ');
        expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]/u);
        expect(line.length).toBeLessThan(8_000);
        // A text of the task can't add a part to the line outside of quotes.
        const unquoted = line.replaceAll(/"(?:[^"\\]|\\.)*"/g, '"');
        expect(unquoted.split(' · ').length).toBe(7);
        for (const part of parts) expect(part).toMatch(PART);
      }),
    );
  });
});
