import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../src/protocol/events/event.ts';
import { NO_USAGE } from '../../src/protocol/model.ts';
import type { EndStatus } from '../../src/protocol/result.ts';
import type { TaskSpec } from '../../src/protocol/task.ts';
import {
  findAnswerFlags,
  formatFlags,
  formatFlag,
  findUntouchedPaths,
} from '../../src/receipts/answer-flags.ts';
import { callOf, childOf, ranCommands, stateOf } from './support.ts';

const DONE = { end: { status: 'completed' }, result: 'done' } as const;
const CHILD: Partial<TaskSpec> = { parent: 'parent000000', tools: ['Read', 'Bash'] };

const TURN: EventBody = {
  type: 'turn.started',
  turn: 1,
  inputs: [],
  model: 'm',
  toolChoice: 'auto',
};
const ANSWER: EventBody = {
  type: 'turn.ended',
  turn: 1,
  model: 'm',
  message: { role: 'assistant', content: [{ type: 'text', text: 'done' }] },
  usage: NO_USAGE,
  costUsd: 0,
  reason: 'stop',
  ms: 1,
};

function pathsIn(answer: string, events: readonly EventBody[] = []): readonly string[] {
  return findUntouchedPaths(stateOf(events, CHILD), answer);
}

describe('paths in an answer', () => {
  it.each([
    ['wrote a.txt, all tests pass', ['a.txt']],
    ['I updated `src/api/users.ts:12` and docs/x.md.', ['src/api/users.ts', 'docs/x.md']],
    ['See ./lib/b.rs, /ws/c.py and (test/d.go)', ['./lib/b.rs', '/ws/c.py', 'test/d.go']],
    ['我创建了src/a.ts文件', ['src/a.ts']],
    ['Я изменил `src/отчёт.ts`', ['src/отчёт.ts']],
    ['J’ai écrit données.txt', ['données.txt']],
    ['{"files": ["src/a.ts"]}', ['src/a.ts']],
    ['.github/workflows/ci.yml', ['.github/workflows/ci.yml']],
    ['a.ts and a.ts again', ['a.ts']],
  ])('%j: %j', (answer, expected) => {
    expect(pathsIn(answer)).toEqual(expected);
  });

  it.each([
    'Done: and/or, TCP/IP, client/server, 3/4, v1.2.3, e.g. this',
    'Use Node.js and Next.js with user.name and `console.log(x)` or res.json()',
    'https://example.com/a/b.html and example.com/docs/x.html, a@b.com',
    '@scope/pkg.js, src/**/*.ts, ~/x.ts, $HOME/x.sh, path/to/file.ts',
    '/etc/nginx/nginx.conf and ../sibling/a.ts lie elsewhere',
    'Example:\n```ts\nimport x from "./nowhere/x.ts";\n```\nDone.',
  ])('are not found in: %s', (answer) => {
    expect(pathsIn(answer)).toEqual([]);
  });

  it.each<[string, readonly EventBody[]]>([
    ['read', callOf('Read', { read: [{ path: '/ws/src/a.ts', hash: 'x' }] })],
    [
      'read below the directory that it is named relative to',
      callOf('Read', { read: [{ path: '/ws/web/src/a.ts', hash: 'x' }] }),
    ],
    ['changed', callOf('Edit', { changed: [{ path: '/ws/src/a.ts', before: 'x', after: 'y' }] })],
    [
      'deleted',
      callOf('DeleteFile', { changed: [{ path: '/ws/src/a.ts', before: 'x', after: null }] }),
    ],
    [
      'moved',
      callOf('MoveFile', {
        changed: [{ path: '/ws/b.ts', before: null, after: 'x', movedFrom: '/ws/src/a.ts' }],
      }),
    ],
    ['in a command', ranCommands(['rm src/a.ts', 0])],
    ['in a command of a subagent', childOf('c1', [{ command: 'rm src/a.ts', exitCode: 0 }])],
  ])('leaves out one that was %s', (_, events) => {
    expect(pathsIn('It is in src/a.ts.', events)).toEqual([]);
    expect(pathsIn('It is in src/b.ts.', events)).toEqual(['src/b.ts']);
  });

  it('are not checked if the answer can rest on the work of others', () => {
    const spec = { ...CHILD, branchedFrom: { task: 'other0000000', seq: 3 } };
    expect(findUntouchedPaths(stateOf([], spec), 'wrote a.txt')).toEqual([]);
    expect(findAnswerFlags(stateOf([], spec), DONE, [])).toEqual([]);
  });

  it('are found in little time in any text', () => {
    for (const part of ['a', 'a/', 'a.', '.', '/', '```\n', 'a.ts ', '`', 'é', '+'])
      expect(pathsIn(part.repeat(50_000)).length).toBeLessThanOrEqual(50);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (answer) => {
        for (const path of pathsIn(answer)) expect(answer).toContain(path);
      }),
    );
  });
});

describe('flags', () => {
  const IDLE = { kind: 'done', claim: '', why: 'the task made no tool call' };
  const failed = (name: string, command: string) => ({
    kind: 'check',
    claim: '',
    why: `the last ${name} failed: "${command}" exit 1`,
  });

  it.each<[string, readonly EventBody[], Partial<TaskSpec>, readonly object[]]>([
    ['a subagent without any call', [], CHILD, [IDLE]],
    ['a main agent without any call', [], { tools: ['Read'] }, []],
    ['a subagent without tools', [], { ...CHILD, tools: [] }, []],
    ['a subagent with a call', callOf('Read'), CHILD, []],
    ['tests that failed', ranCommands(['npm test', 1]), CHILD, [failed('test run', 'npm test')]],
    ['tests that passed at last', ranCommands(['npm test', 1], ['npm test', 0]), CHILD, []],
    ['tests with an unclear result', ranCommands(['npm test | tail', 1]), CHILD, []],
    ['a build that failed', ranCommands(['make', 1]), CHILD, [failed('build', 'make')]],
    [
      'tests that failed here and passed in a subagent, before or after',
      [...ranCommands(['npm test', 1]), ...childOf('c1', [{ command: 'npm test', exitCode: 0 }])],
      CHILD,
      [],
    ],
    [
      'tests that failed in a subagent',
      childOf('c1', [{ command: 'npm test', exitCode: 1 }]),
      { tools: ['Task'] },
      [failed('test run', 'npm test')],
    ],
  ])('%s', (_, events, spec, expected) => {
    expect(findAnswerFlags(stateOf(events, spec), DONE, [])).toEqual(expected);
  });

  it.each<[string, EndStatus, readonly EventBody[], string, readonly object[]]>([
    ['gave an empty answer', 'completed', [], ' ', []],
    ['failed in the middle of its answer', 'failed', [TURN], 'I will', []],
    ['failed after an answer', 'failed', [TURN, ANSWER], 'done', []],
    ['was stopped', 'stopped', [TURN, ANSWER], 'done', []],
    ['reached a limit in the middle of its answer', 'partial', [TURN], 'I will', []],
    ['reached a limit with its answer', 'partial', [TURN, ANSWER], 'done', [IDLE]],
  ])('of a task without any call that %s', (_, status, events, result, expected) => {
    const ending = { end: { status }, result };
    expect(findAnswerFlags(stateOf(events, CHILD), ending, [])).toEqual(expected);
  });

  it('of paths are at most 20', () => {
    const paths = Array.from({ length: 30 }, (_, at) => `f${at}.ts`);
    const flags = findAnswerFlags(stateOf(callOf('Read'), CHILD), DONE, paths);
    expect(flags.length).toBe(20);
    expect(flags[0]).toEqual({
      kind: 'file',
      claim: 'f0.ts',
      why: 'it does not exist, and the task did not touch it',
    });
  });
});

describe('the text of flags', () => {
  const CHECK = { kind: 'check', claim: '', why: 'the last build failed: "make" exit 2' } as const;
  const file = (claim: string) => ({ kind: 'file', claim, why: 'it does not exist' }) as const;

  it.each([
    [[], ''],
    [[CHECK], 'The last build failed: "make" exit 2'],
    [[file('a.ts')], 'The log does not support this claim: "a.ts" (it does not exist)'],
    [
      [CHECK, file('a.ts'), file('b.ts'), file('c.ts')],
      'The last build failed: "make" exit 2; the log does not support this claim: "a.ts" (it does not exist); the log does not support this claim: "b.ts" (it does not exist); and 1 more',
    ],
  ])('%j', (flags, expected) => {
    expect(formatFlags(flags)).toBe(expected);
  });

  it('shows the flags of older logs, which quote sentences', () => {
    const flag = { kind: 'command', claim: 'I ran\nit.', why: '"x" was not run' } as const;
    expect(formatFlag(flag)).toBe(
      'the log does not support this claim: "I ran it." ("x" was not run)',
    );
  });

  it('stays on one line, whatever it quotes', () => {
    const strings = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(strings, strings, (claim, why) => {
        expect(formatFlag({ kind: 'file', claim, why })).not.toMatch(/[\p{Cc}\u2028\u2029\u202e]/u);
      }),
    );
  });
});
