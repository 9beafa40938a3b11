import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readCommandEnd,
  toProgramAnswer,
  toToolCalls,
  type ProgramRequest,
} from '../../../src/remote/acp/translate.ts';
import { REDACTED } from '../../../src/protocol/redaction.ts';
import { takeLines } from '../../../src/tools/read/verbatim.ts';

const NOTHING_EXISTS = (): boolean => false;
const ALL_EXIST = (): boolean => true;

const STEP = { title: 'Edit a.ts', kind: 'edit', paths: ['/w/a.ts'], edits: [], input: null };

describe('a request of a program', () => {
  it.each<readonly [string, ProgramRequest, (path: string) => boolean, readonly unknown[]]>([
    [
      'reads a file as it is',
      { kind: 'read', path: '/w/a.ts', line: null, limit: null },
      ALL_EXIST,
      [{ name: 'Read', input: { file_path: '/w/a.ts', verbatim: true } }],
    ],
    [
      'reads some lines',
      { kind: 'read', path: '/w/a.ts', line: 3, limit: 2 },
      ALL_EXIST,
      [{ name: 'Read', input: { file_path: '/w/a.ts', verbatim: true, offset: 3, limit: 2 } }],
    ],
    [
      'reads from the beginning for line 0',
      { kind: 'read', path: '/w/a.ts', line: 0, limit: 0 },
      ALL_EXIST,
      [{ name: 'Read', input: { file_path: '/w/a.ts', verbatim: true } }],
    ],
    [
      'creates a file',
      { kind: 'write', path: '/w/a.ts', content: 'x' },
      NOTHING_EXISTS,
      [{ name: 'Write', input: { file_path: '/w/a.ts', content: 'x' } }],
    ],
    [
      'replaces a file after the task has read it',
      { kind: 'write', path: '/w/a.ts', content: 'x' },
      ALL_EXIST,
      [
        { name: 'Read', input: { file_path: '/w/a.ts', limit: 1 } },
        { name: 'Write', input: { file_path: '/w/a.ts', content: 'x' } },
      ],
    ],
    [
      'runs a command line as it is',
      { kind: 'run', command: 'ls | wc', args: [], env: [], cwd: null, outputBytes: null },
      ALL_EXIST,
      [{ name: 'Bash', input: { command: 'ls | wc' } }],
    ],
    [
      'quotes arguments, variables and a directory',
      {
        kind: 'run',
        command: 'echo',
        args: ['a b', '$(id)'],
        env: [
          { name: 'A', value: "it's" },
          { name: 'bad name', value: 'x' },
        ],
        cwd: '/w/sub',
        outputBytes: 10,
      },
      ALL_EXIST,
      [
        {
          name: 'Bash',
          input: { command: "A='it'\\''s' echo 'a b' '$(id)'", workdir: '/w/sub' },
        },
      ],
    ],
    [
      'sets variables for the whole line',
      {
        kind: 'run',
        command: 'a; b',
        args: [],
        env: [{ name: 'A', value: '1' }],
        cwd: null,
        outputBytes: null,
      },
      ALL_EXIST,
      [{ name: 'Bash', input: { command: 'export A=1; a; b' } }],
    ],
    [
      'asks for a step with all that it says',
      {
        kind: 'step',
        options: [],
        step: {
          ...STEP,
          kind: null,
          edits: [{ path: '/w/a.ts', before: null, after: 'x' }],
          input: { command: ['git', 'push', 'a b'], url: 'https://x.test/', more: 1 },
        },
      },
      ALL_EXIST,
      [
        {
          name: 'RemoteStep',
          input: {
            step: 'Edit a.ts',
            kind: 'unknown',
            paths: ['/w/a.ts'],
            command: "git push 'a b'",
            url: 'https://x.test/',
            edits: [{ path: '/w/a.ts', after: 'x' }],
            details: '{"more":1}',
          },
        },
      ],
    ],
  ])('%s', (_, request, exists, expected) => {
    expect(toToolCalls(request, exists)).toEqual(expected);
  });
});

const text = fc.string({ unit: 'binary', maxLength: 40 });
const request: fc.Arbitrary<ProgramRequest> = fc.oneof(
  fc.record({
    kind: fc.constant('read' as const),
    path: text,
    line: fc.option(fc.integer()),
    limit: fc.option(fc.integer()),
  }),
  fc.record({ kind: fc.constant('write' as const), path: text, content: text }),
  fc.record({
    kind: fc.constant('run' as const),
    command: text,
    args: fc.array(text),
    env: fc.array(fc.record({ name: text, value: text })),
    cwd: fc.option(text),
    outputBytes: fc.option(fc.nat()),
  }),
  fc.record({
    kind: fc.constant('step' as const),
    options: fc.array(fc.record({ id: text, kind: text })),
    step: fc.record({
      title: text,
      kind: fc.option(text),
      paths: fc.array(text),
      edits: fc.array(fc.record({ path: text, before: fc.option(text), after: text })),
      input: fc.jsonValue() as fc.Arbitrary<null>,
    }),
  }),
);

/** The tools that may do what a request asks for. Nothing else may ever be called for it. */
const TOOLS: Readonly<Record<ProgramRequest['kind'], readonly string[]>> = {
  read: ['Read'],
  write: ['Read', 'Write'],
  run: ['Bash'],
  step: ['RemoteStep'],
};

describe('any request', () => {
  it('becomes calls of the tools for its kind, the last of which does what it asks for', () => {
    fc.assert(
      fc.property(request, fc.boolean(), (asked, exists) => {
        const calls = toToolCalls(asked, () => exists);
        expect(calls.every(({ name }) => TOOLS[asked.kind].includes(name))).toBe(true);
        expect(calls.at(-1)?.name).toBe(TOOLS[asked.kind].at(-1));
        expect(JSON.parse(JSON.stringify(calls))).toEqual(calls);
        const input = calls.at(-1)?.input ?? {};
        if (asked.kind === 'write') expect(input['content']).toBe(asked.content);
        if (asked.kind === 'write' || asked.kind === 'read')
          expect(input['file_path']).toBe(asked.path);
        // The title of a step stands on one line of the question.
        if (asked.kind === 'step') expect(/\p{Cc}/u.test(String(input['step']))).toBe(false);
      }),
    );
  });

  it('is never answered with more than the task allows', () => {
    fc.assert(
      fc.property(request, text, (asked, refusal) => {
        if (asked.kind === 'run') return;
        const answer = toProgramAnswer(asked, [{ text: refusal, isError: true }]);
        if (asked.kind !== 'step') {
          expect(answer).toEqual({ ok: false, message: refusal });
          return;
        }
        const chosen = answer.ok ? answer.result['outcome'] : null;
        const rejections = asked.options
          .filter(({ kind }) => kind.startsWith('reject_'))
          .map(({ id }) => ({ outcome: 'selected', optionId: id }));
        expect([...rejections, { outcome: 'cancelled' }]).toContainEqual(chosen);
      }),
    );
  });
});

describe('the answer to a question', () => {
  const all = ['allow_always', 'allow_once', 'reject_always', 'reject_once'].map((kind) => ({
    id: kind,
    kind,
  }));
  const answerTo = (options: readonly { id: string; kind: string }[], isError: boolean) =>
    toProgramAnswer({ kind: 'step', options, step: STEP }, [{ text: '', isError }]);
  const selected = (optionId: string) => ({
    ok: true,
    result: { outcome: { outcome: 'selected', optionId } },
  });

  it.each([
    ['a yes holds once', all, false, selected('allow_once')],
    ['a no holds once', all, true, selected('reject_once')],
    [
      'a yes for all times is never given',
      [
        { id: 'a', kind: 'allow_always' },
        { id: 'r', kind: 'reject_always' },
      ],
      false,
      selected('r'),
    ],
    [
      'without a fitting option the question is cancelled',
      [{ id: 'a', kind: 'allow_always' }],
      true,
      { ok: true, result: { outcome: { outcome: 'cancelled' } } },
    ],
  ])('%s', (_, options, isError, expected) => {
    expect(answerTo(options, isError)).toEqual(expected);
  });
});

describe('the answer to a read', () => {
  it('has no content that a secret was removed from, because the program might write it back', () => {
    const asked = { kind: 'read', path: '/w/a', line: null, limit: null } as const;
    expect(toProgramAnswer(asked, [{ text: `key=${REDACTED}`, isError: false }])).toEqual({
      ok: false,
      message:
        'The file holds a secret that Muster keeps out of its logs, so it cannot pass the content on.',
    });
  });

  it('keeps the lines as they are', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 5 }), (content, at) => {
        expect(takeLines(content, {})).toBe(content);
        const [head, tail] = [
          takeLines(content, { limit: at }),
          takeLines(content, { offset: at + 1 }),
        ];
        expect(head + tail).toBe(content);
      }),
    );
  });
});

describe('the end of a command', () => {
  it.each([
    ['an exit code', 'out\n[exit code 3]', false, { output: 'out', exitCode: 3, signal: null }],
    ['no output', '[exit code 0]', false, { output: '', exitCode: 0, signal: null }],
    [
      'a line of the output that looks like an end',
      '[exit code 0]\n[exit code 1]',
      false,
      { output: '[exit code 0]', exitCode: 1, signal: null },
    ],
    [
      'notes after the end',
      'out\n[exit code 1]\n[the sandbox refused x]',
      false,
      { output: 'out\n[the sandbox refused x]', exitCode: 1, signal: null },
    ],
    [
      'a signal',
      '[ended by SIGSEGV]',
      false,
      { output: '[ended by SIGSEGV]', exitCode: null, signal: 'SIGSEGV' },
    ],
    [
      'a timeout',
      'out\n[stopped: not finished after 2 min; …]',
      true,
      { output: 'out\n[stopped: not finished after 2 min; …]', exitCode: null, signal: 'SIGKILL' },
    ],
  ])('%s', (_, result, isError, expected) => {
    expect(readCommandEnd({ text: result, isError }, null)).toEqual({
      ...expected,
      truncated: false,
    });
  });

  it('is an error if the command was refused', () => {
    expect(readCommandEnd({ text: 'Not run: no.', isError: true }, null)).toBe('Not run: no.');
  });

  it('keeps the end of a long output, in whole characters', () => {
    fc.assert(
      fc.property(text, fc.nat(50), (output, bytes) => {
        const end = readCommandEnd({ text: `${output}\n[exit code 0]`, isError: false }, bytes);
        if (typeof end === 'string') throw new Error(end);
        expect(output.endsWith(end.output) || !output.isWellFormed()).toBe(true);
        expect(Buffer.byteLength(end.output)).toBeLessThanOrEqual(Math.max(bytes, 0) + 2);
        expect(end.truncated).toBe(Buffer.byteLength(output) > bytes);
      }),
    );
  });
});
