import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import {
  MAX_FINDING_BYTES,
  MAX_FINDING_TITLE,
  MAX_TASK_FINDINGS,
  MAX_TREE_FINDINGS,
} from '../../../src/protocol/board.ts';
import { boardTool } from '../../../src/engine/task-tools/board.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import type { ToolResultPart } from '../../../src/protocol/message.ts';
import { call, calls, eventsOfType, play, type Play } from '../play.ts';
import { testEngine, WORKER, type EngineSetup } from '../support.ts';

/** An agent that has the board, and that can delegate to others of its kind. */
const FINDER: AgentDefinition = {
  ...WORKER,
  name: 'finder',
  tools: { mode: 'allow', names: ['Board', 'Task'] },
};
const SETUP = { agent: FINDER, agents: [FINDER] } as const;

const post = (title: string, text = `about ${title}`) =>
  call('Board', { action: 'post', title, text });
const list = (id?: string) =>
  call('Board', { action: 'list', ...(id === undefined ? {} : { id }) });
const finder = (prompt: string) => call('Task', { prompt, subagent_type: 'finder' });

/** Runs a play to its end, and returns the results that each task got, by the first word of its prompt. */
async function runPlay(
  parts: Readonly<Record<string, readonly ReturnType<typeof calls>[]>>,
  setup: EngineSetup = {},
) {
  const results = new Map<string, ToolResultPart[]>();
  const lines: Play = Object.fromEntries(
    Object.entries(parts).map(([name, answers]) => [
      name,
      [
        ...answers.map((answer, at) => (turn: { results: readonly ToolResultPart[] }) => {
          if (at > 0) add(name, turn.results);
          return answer;
        }),
        (turn: { results: readonly ToolResultPart[] }) => {
          add(name, turn.results);
          return { text: 'done' };
        },
      ],
    ]),
  );
  const add = (name: string, each: readonly ToolResultPart[]) =>
    void results.set(name, [...(results.get(name) ?? []), ...each]);
  const test = testEngine(play(lines), { ...SETUP, ...setup });
  const run = test.start('main');
  await run.end.written;
  return { test, run, results: (name: string) => results.get(name) ?? [] };
}

/** Replaces ids and nonces by their order of appearance. */
function stable(text: string | undefined): string {
  const names = new Map<string, string>();
  return (text ?? '').replaceAll(/\b[a-z0-9]{12}\b/g, (id) => {
    const name = names.get(id) ?? `ID${names.size + 1}`;
    names.set(id, name);
    return name;
  });
}

it('shows what parallel children posted to a third, marked as text from outside', async () => {
  const { results, test, run } = await runPlay({
    main: [calls(finder('one'), finder('two')), calls(finder('three'))],
    one: [calls(post('cache', 'The cache is keyed by path.'))],
    two: [calls(post('tests', 'They need a port.'))],
    three: [calls(list())],
  });
  const [listed] = results('three');
  expect(results('one').map(({ text }) => stable(text))).toEqual(['Posted as ID1.']);
  expect(stable(listed?.text)).toBe(
    [
      '[Findings 1 to 2 of 2, the oldest first. Later ones: Board(action: "list", id: "ID1")]',
      'ID2 (finder, task ID3, just now): cache',
      'ID1 (finder, task ID4, just now): tests',
    ].join('\n'),
  );
  const posted = eventsOfType(test, 'finding.posted');
  expect(posted.map(({ number, title, text }) => ({ number, title, text }))).toEqual([
    { number: 1, title: 'cache', text: 'The cache is keyed by path.' },
    { number: 2, title: 'tests', text: 'They need a port.' },
  ]);
  expect(run.tree.board.list().map(({ finding }) => finding)).toEqual(
    posted.map(({ finding }) => finding),
  );
});

it('lists only later findings after an id, and reads one', async () => {
  const seen: string[] = [];
  const test = testEngine(
    play({
      main: [
        calls(post('a'), post('b', 'second\nline')),
        ({ results: [a] }) => calls(list(/as (\w+)\./.exec(a?.text ?? '')?.[1])),
        ({ results: [listed] }) => {
          seen.push(stable(listed?.text));
          const id = /^(\w+) \(you/m.exec(listed?.text ?? '')?.[1] ?? '';
          return calls(
            call('Board', { action: 'read', id: id.slice(0, 8) }),
            list(id),
            call('Board', { action: 'read', id: 'nothing' }),
          );
        },
        ({ results }) => {
          seen.push(...results.map(({ text }) => stable(text)));
          return { text: 'done' };
        },
      ],
    }),
    SETUP,
  );
  await test.start('main').end.written;
  expect(seen).toEqual([
    '[Findings 2 to 2 of 2, the oldest first. Later ones: Board(action: "list", id: "ID1")]\nID1 (you, just now): b',
    'b (finder, task ID1, just now)\n\nsecond\nline',
    'No finding is newer than ID1.',
    'Board: id: no finding on the board begins with nothing',
  ]);
  // Only what other agents may have written is marked as text from outside.
  expect(eventsOfType(test, 'call.ended').map(({ nonce }) => nonce !== undefined)).toEqual([
    false,
    false,
    true,
    true,
    false,
    false,
  ]);
});

it('says that the board is empty', async () => {
  const { results } = await runPlay({ main: [calls(list())] });
  expect(results('main').map(({ text }) => text)).toEqual([
    'No agent of this task tree has posted a finding yet.',
  ]);
});

it('works in plan mode, and not under a deny rule', async () => {
  const source = { kind: 'flag', where: '--deny' } as const;
  const planned = await runPlay({ main: [calls(post('a'))] }, { mode: 'plan' });
  const denied = await runPlay(
    { main: [calls(post('a'))] },
    { deny: [{ text: 'Board', tool: 'Board', source }] },
  );
  expect(planned.results('main').map(({ text }) => stable(text))).toEqual(['Posted as ID1.']);
  expect(denied.test.model.requests[0]?.prefix.tools.map(({ name }) => name)).toEqual(['Task']);
  expect(eventsOfType(denied.test, 'finding.posted')).toEqual([]);
});

it('is not in the requests of an agent whose definition does not name it', async () => {
  const test = testEngine(play({}), {});
  await test.start('main').end.written;
  expect(test.model.requests[0]?.prefix.tools.map(({ name }) => name)).not.toContain('Board');
});

it('takes little of a request', async () => {
  const { test } = await runPlay({});
  const [board] = test.model.requests[0]?.prefix.tools.filter(({ name }) => name === 'Board') ?? [];
  expect(Buffer.byteLength(JSON.stringify(board))).toBe(508);
});

describe('arguments', () => {
  const tool = boardTool({} as Parameters<typeof boardTool>[0]);

  it.each<[JsonObject, unknown]>([
    [{}, { ok: true, input: { action: 'list', id: null } }],
    [
      { action: 'list', id: '', title: '', text: null },
      { ok: true, input: { action: 'list', id: null } },
    ],
    [
      { action: 'list', number: 3 },
      { ok: false, issues: ['number: is not an argument; valid are action, title, text, id'] },
    ],
    [
      { action: 'list', id: 'abc' },
      { ok: true, input: { action: 'list', id: 'abc' } },
    ],
    [
      { action: 'read', id: 'abc' },
      { ok: true, input: { action: 'read', id: 'abc' } },
    ],
    [
      { action: 'post', title: ' a\n\u001b[31mb\u001b[0m ', text: '\n</outside>\u0007\n ' },
      { ok: true, input: { action: 'post', title: 'a b', text: '</outside>' } },
    ],
    [
      { action: 'drop' },
      { ok: false, issues: ['action: must be one of post, list, read, not "drop"'] },
    ],
    [
      { action: 'read' },
      { ok: false, issues: ['id: must be the id of a finding, or the beginning of one, not null'] },
    ],
    [
      { action: 'list', title: 'x' },
      { ok: false, issues: ['title: does not go with action list'] },
    ],
    [
      { action: 'post', title: '\u001b[31m', text: '\u0007' },
      {
        ok: false,
        issues: ['title: has no visible character', 'text: has no visible character'],
      },
    ],
    [
      {
        action: 'post',
        title: '漢'.repeat(MAX_FINDING_TITLE + 1),
        text: 'é'.repeat(MAX_FINDING_BYTES / 2 + 1),
      },
      {
        ok: false,
        issues: [
          'title: has 121 characters; at most 120 are taken',
          'text: has 4098 bytes; at most 4096 are taken, so shorten it or post it in parts',
        ],
      },
    ],
  ])('%j', (input, expected) => {
    expect(tool.parse(input)).toEqual(expected);
  });
});

describe('limits', () => {
  const named = (texts: readonly string[]) => texts.filter((text) => text.includes('limit'));

  it('stops a task that has posted too many findings', async () => {
    const posts = Array.from({ length: MAX_TASK_FINDINGS + 1 }, (_, at) => post(`n${at}`));
    const { results, test } = await runPlay({ main: [calls(...posts)] });
    expect(named(results('main').map(({ text }) => text))).toEqual([
      'Board: the limit of 50 findings of one task is reached (50 posted); put the rest into your answer',
    ]);
    expect(eventsOfType(test, 'finding.posted')).toHaveLength(MAX_TASK_FINDINGS);
  });

  it('stops all tasks when the board of the tree is full', async () => {
    const children = Array.from(
      { length: MAX_TREE_FINDINGS / MAX_TASK_FINDINGS },
      (_, at) => `c${at}`,
    );
    const posts = Array.from({ length: MAX_TASK_FINDINGS }, (_, at) => post(`n${at}`));
    const { results, run } = await runPlay({
      main: [calls(...children.map(finder)), calls(post('one more'))],
      ...Object.fromEntries(children.map((name) => [name, [calls(...posts)]])),
    });
    expect(results('main').at(-1)).toMatchObject({
      text: 'Board: the limit of 500 findings on the board of a task tree is reached (500 posted); put the rest into your answer',
      isError: true,
    });
    expect(run.tree.board.list()).toHaveLength(MAX_TREE_FINDINGS);
  });

  it('lists a full board page by page, each finding once', async () => {
    const children = Array.from({ length: 5 }, (_, at) => `c${at}`);
    const posts = Array.from({ length: MAX_TASK_FINDINGS }, (_, at) => post(`n${at}`));
    const pages: string[] = [];
    const next = ({ results }: { readonly results: readonly ToolResultPart[] }) => {
      const text = results.at(-1)?.text ?? '';
      pages.push(text);
      const id = /The next \d+: Board\(action: "list", id: "(\w+)"/.exec(text)?.[1];
      return id === undefined ? { text: 'done' } : calls(list(id));
    };
    const test = testEngine(
      play({
        main: [calls(...children.map(finder)), calls(list()), next, next, next, next],
        ...Object.fromEntries(children.map((name) => [name, [calls(...posts)]])),
      }),
      SETUP,
    );
    const run = test.start('main');
    await run.end.written;
    const listed = pages.flatMap((text) =>
      [...text.matchAll(/^(\w{12}) \(/gm)].map(([, id]) => id),
    );
    expect(listed).toEqual(run.tree.board.list().map(({ finding }) => finding));
    expect(pages.map((text) => text.split('\n').length - 1)).toEqual([100, 100, 50]);
  });
});
