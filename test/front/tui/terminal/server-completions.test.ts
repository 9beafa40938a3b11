import { describe, expect, it } from 'vitest';
import type { ServerContent } from '../../../../src/api/index.ts';
import { ServerCompletions } from '../../../../src/front/tui/terminal/server-completions.ts';

const FOREVER = new AbortController().signal;

const REVIEW = {
  name: 'review',
  original: 'review',
  usage: 'FILE [STYLE]',
  description: '',
  arguments: [
    { name: 'file', description: 'the file', isRequired: true },
    { name: 'style', isRequired: false },
  ],
};

interface Asked {
  readonly server: string;
  readonly argument: string;
  readonly known: object | undefined;
}

/** Creates completions of the connected server `notes` and of `idle`, which does not run. */
function create(parts: Partial<ServerContent> = {}) {
  const asked: Asked[] = [];
  const listed: string[] = [];
  const server = { hasResources: true, hasCompletion: true, prompts: [REVIEW] };
  const content: Partial<ServerContent> = {
    servers: [
      { name: 'notes', isConnected: true, ...server },
      { name: 'idle', isConnected: false, ...server },
    ],
    listResources: async (name) => {
      listed.push(name);
      return {
        resources: [
          { uri: 'notes://style', name: 'style', description: 'x' },
          { uri: 'bad\u001B[31m', name: 'bad' },
        ],
        templates: [{ uriTemplate: 'issue://{number}', name: 'issue' }],
        isComplete: true,
      };
    },
    complete: async (name, { argument, value, known }) => {
      asked.push({ server: name, argument, known });
      return [`${value}1`, 'with space', 'bad\u001B[31m'];
    },
    ...parts,
  };
  const completions = new ServerCompletions(content as ServerContent, {
    now: () => 0,
    signal: FOREVER,
  });
  return { completions, asked, listed };
}

const valuesOf = (items: readonly { readonly value: string }[] | undefined) =>
  items?.map(({ value }) => value) ?? null;

describe('the completions of resources', () => {
  it('are those of connected servers, and of a server that is named', async () => {
    const { completions, listed } = create();
    const complete = async (typed: string) =>
      valuesOf(await completions.completeResource(typed, FOREVER));
    expect(await complete('')).toEqual(['@notes:', '@idle:']);
    expect(await complete('not')).toEqual(['@notes:', '@notes:notes://style']);
    expect(await complete('sty')).toEqual(['@notes:notes://style']);
    expect(listed).toEqual(['notes']);
    expect(await complete('idle:')).toEqual(['@idle:notes://style', '@idle:issue://']);
    expect(listed).toEqual(['notes', 'idle']);
    expect(await complete('notes:issue://2')).toEqual([
      '@notes:issue://21',
      '@"notes:issue://with space"',
    ]);
  });

  it('do not end the word where more is to be typed', async () => {
    const { completions } = create();
    const items = await completions.completeResource('notes:', FOREVER);
    expect(items.map((item) => [item.value, completions.isPartial(item)])).toEqual([
      ['@notes:notes://style', false],
      ['@notes:issue://', true],
    ]);
  });

  it('wait no longer when a key is pressed, and are none if the server fails', async () => {
    const { completions } = create({ listResources: () => new Promise(() => {}) });
    const key = new AbortController();
    const waiting = completions.completeResource('notes:', key.signal);
    key.abort();
    expect(await waiting).toEqual([]);
    const failing = create({ listResources: () => Promise.reject(new Error('gone')) });
    expect(await failing.completions.completeResource('notes:', FOREVER)).toEqual([]);
  });
});

describe('the completions of arguments', () => {
  it.each<readonly [string, readonly string[] | null, Asked | null]>([
    ['/notes:review a', ['a1', '"with space"'], { server: 'notes', argument: 'file', known: {} }],
    [
      '/notes:review a.ts ',
      ['1', '"with space"', 'style='],
      { server: 'notes', argument: 'style', known: { file: 'a.ts' } },
    ],
    [
      '/notes:review file=b',
      ['file=b1', 'file="with space"'],
      { server: 'notes', argument: 'file', known: {} },
    ],
    ['/notes:review', null, null],
    ['/notes:other a', null, null],
    ['/none:review a', null, null],
    ['/notes:review a b ', null, null],
  ])('of %j are %j', async (before, values, request) => {
    const { completions, asked } = create();
    const found = await completions.completeArgument(before, FOREVER);
    expect([valuesOf(found?.items), asked]).toEqual([values, request === null ? [] : [request]]);
  });

  it('are not asked for while the user types', async () => {
    const { completions, asked } = create();
    const key = new AbortController();
    const waiting = completions.completeArgument('/notes:review file=', key.signal);
    key.abort();
    expect([await waiting, asked]).toEqual([null, []]);
  });
});
