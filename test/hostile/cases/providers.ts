import {
  ACCEPT_EDITS,
  AUTONOMOUS,
  bash,
  inTurn,
  ofClass,
  once,
  read,
  task,
  write,
} from '../calls.ts';
import type { JsonValue } from '../../../src/base/json.ts';

/** As it comes over the wire: an object literal would set a prototype here. */
const json = (text: string): JsonValue => JSON.parse(text);
const NO_RETRIES = { MUSTER_PROVIDER_RETRIES: '0' };

export const PROVIDER_CASES = ofClass('providers', [
  ...[301, 302, 307, 308].map((status) => ({
    name: `a redirect (${status}) to another server is not followed with the key`,
    env: { ...NO_RETRIES, ANTHROPIC_API_KEY: 'key-@canary@' },
    model: {
      main: [
        {
          answer: {
            fault: { kind: 'status' as const, status, headers: { location: '@url@/v1/messages' } },
          },
        },
      ],
    },
    expect: { status: 'failed' as const },
  })),
  {
    name: 'an error that repeats the key does not get it into logs, results or notices',
    env: { ...NO_RETRIES, ANTHROPIC_API_KEY: 'key-@canary@' },
    model: {
      main: [
        {
          answer: {
            fault: { kind: 'status', status: 401, message: 'invalid x-api-key: key-@canary@' },
          },
        },
      ],
    },
    expect: { status: 'failed' },
  },
  {
    name: 'an error page of another server',
    env: NO_RETRIES,
    model: { main: [{ answer: { fault: { kind: 'wrong_content_type' } } }] },
    expect: { status: 'failed' },
  },
  {
    name: 'an answer of 15 MB is given up half way, and takes no such memory for long',
    env: NO_RETRIES,
    model: { main: [{ answer: { fault: { kind: 'huge', megabytes: 15 } } }] },
    expect: { status: 'partial', mostMegabytes: 400 },
  },
  {
    name: 'arguments that are cut off are not run',
    env: NO_RETRIES,
    settings: AUTONOMOUS,
    model: {
      main: [
        { calls: [write('b.txt', 'half of it')], answer: { fault: { kind: 'broken_tool_json' } } },
      ],
    },
    expect: { calls: [{ end: 'stopped', error: 'INVALID_PARAM' }] },
  },
  {
    name: 'arguments that end for length are not run',
    env: NO_RETRIES,
    settings: AUTONOMOUS,
    model: {
      main: [{ calls: [write('b.txt', 'half of it')], answer: { fault: { kind: 'length_stop' } } }],
    },
    expect: { calls: ['stopped'] },
  },
  {
    name: 'a call of an answer that broke off runs once, in the answer that did not',
    settings: { person: 'allow' },
    model: {
      main: [
        {
          calls: [bash('echo once >> count.txt')],
          answer: { fault: { kind: 'truncate' } },
          again: { toolCalls: [bash('echo once >> count.txt')] },
        },
      ],
    },
    expect: { changes: { 'ws/count.txt': 'once\n' } },
  },
  {
    name: 'calls of one id are not run as one another',
    env: NO_RETRIES,
    settings: ACCEPT_EDITS,
    model: {
      main: [
        {
          calls: [write('b.txt', 'b\n'), write('.git/config')],
          answer: { fault: { kind: 'duplicate_tool_ids' } },
        },
      ],
    },
    expect: { changes: { 'ws/b.txt': 'b\n' } },
  },
  {
    name: 'ids of calls that are paths make no files',
    env: { MUSTER_OUTPUT_TOOL_RESULT_BYTES: '2000' },
    settings: { person: 'allow' },
    model: {
      main: [
        {
          answer: {
            toolCalls: [
              { ...bash('seq 1 5000'), id: '../../../out/evil' },
              { ...bash('seq 1 5001'), id: '@out@/evil' },
              { ...bash('seq 1 5002'), id: '__proto__' },
            ],
          },
        },
      ],
    },
    expect: { calls: ['ran', 'ran', 'ran'] },
  },
  {
    name: 'arguments with prototypes in them change no prototype and grant nothing',
    settings: {},
    model: once(
      { name: 'Read', input: json('{"__proto__": {"file_path": "a.txt"}}') },
      { name: 'Read', input: json('{"file_path": "a.txt", "__proto__": {"toString": 1}}') },
      {
        name: 'Read',
        input: json('{"file_path": "a.txt", "constructor": {"prototype": {"polluted": true}}}'),
      },
      {
        name: 'Write',
        input: json('{"file_path": "b.txt", "content": "x", "__proto__": {"permission": "allow"}}'),
      },
      {
        name: 'Task',
        input: json('{"prompt": "[child] x", "__proto__": {"subagent_type": "general-purpose"}}'),
      },
    ),
    expect: {},
  },
  {
    name: 'arguments of every wrong type',
    settings: AUTONOMOUS,
    model: once(
      { name: 'Read', input: json('null') },
      { name: 'Read', input: json('[]') },
      { name: 'Read', input: json('"a.txt"') },
      { name: 'Read', input: json('{"file_path": ["a.txt"]}') },
      { name: 'Read', input: json('{"file_path": {"toString": "a.txt"}}') },
      { name: 'Read', input: json('{"file_path": "a.txt", "offset": -1}') },
      { name: 'Read', input: json('{"file_path": "a.txt", "limit": 1e308}') },
      { name: 'Bash', input: json('{"command": ["rm", "-rf", "."]}') },
      { name: 'Bash', input: json('{"command": "true", "timeout": -5}') },
      { name: 'Write', input: json('{"file_path": "b.txt", "content": {"a": 1}}') },
    ),
    // A number out of range is brought into it, which the result says.
    expect: {
      calls: [
        ...Array.from({ length: 5 }, () => 'stopped' as const),
        'ran',
        'ran',
        'stopped',
        'ran',
        'stopped',
      ],
    },
  },
  {
    name: 'arguments a thousand levels deep',
    settings: AUTONOMOUS,
    model: once(
      { name: 'Read', input: json(`{"file_path": ${'['.repeat(1_000)}${']'.repeat(1_000)}}`) },
      {
        name: 'Task',
        input: json(
          `{"prompt": "[child] x", "output_schema": ${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}}`,
        ),
      },
    ),
    expect: { calls: ['stopped', 'stopped'] },
  },
  {
    name: 'names and texts with NUL, lone surrogates and a megabyte of length',
    settings: AUTONOMOUS,
    model: {
      main: [
        {
          calls: [
            { name: 'R\u0000ead', input: {} },
            { name: 'x'.repeat(100_000), input: {} },
            read('\ud800.txt'),
          ],
        },
        { answer: { text: 'half \ud83d of an emoji \u0000' } },
      ],
    },
    expect: { calls: ['stopped', 'stopped', 'stopped'] },
  },
  {
    name: 'usage that pays back does not lift the budget',
    env: { MUSTER_BUDGET_TREE_TOKENS: '20000' },
    settings: AUTONOMOUS,
    model: {
      main: Array.from({ length: 60 }, (_, index) => ({
        calls: [read(`f${index}.txt`)],
        answer: { usage: { input: -1_000_000, output: 900 } },
      })),
    },
    expect: { status: 'partial', mostRequests: 45 },
  },
  {
    name: 'usage without measure ends the tree, and breaks no sum',
    env: { MUSTER_BUDGET_TREE_TOKENS: '1000000' },
    settings: AUTONOMOUS,
    model: {
      main: [
        { calls: [read('a.txt')], answer: { usage: { input: 1e300, output: 1 } } },
        { calls: [read('readme.md')] },
      ],
    },
    expect: { status: 'partial', mostRequests: 3 },
  },
  {
    name: 'nothing, again and again',
    env: NO_RETRIES,
    model: {
      main: Array.from({ length: 30 }, () => ({ answer: { fault: { kind: 'empty' as const } } })),
    },
    expect: { status: 'failed', mostRequests: 12 },
  },
  {
    name: 'a child’s dead provider does not break its parent (control)',
    control: true,
    env: NO_RETRIES,
    model: {
      main: [{ calls: [task('child', 'Explore')] }],
      tasks: { child: [{ answer: { fault: { kind: 'status', status: 500 } } }] },
    },
    expect: { calls: [{ end: 'failed', error: 'PROVIDER_ERROR' }], answer: 'done' },
  },
  {
    name: 'a stream in many small pieces with pings, thinking and emoji (control)',
    control: true,
    settings: ACCEPT_EDITS,
    model: {
      main: [
        {
          calls: [write('b.txt', '🎉 ünï\n')],
          answer: { thinking: 'hm 🤔', text: 'so: ', chunks: 40 },
        },
        { answer: { text: 'fertig 🎉', chunks: 9 } },
      ],
    },
    expect: { calls: ['ran'], answer: 'fertig 🎉', changes: { 'ws/b.txt': '🎉 ünï\n' } },
  },
  {
    name: 'a broken file name in the model’s text is no file (control)',
    control: true,
    model: { main: inTurn(read('does-not-exist.txt')) },
    expect: { calls: [{ end: 'failed', error: 'NOT_FOUND' }] },
  },
]);
