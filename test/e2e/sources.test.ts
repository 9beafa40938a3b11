import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import {
  firstUserText,
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { runMuster } from './muster.ts';
import { clean, family, tasks } from './tasks.ts';
import { openWorld, type World } from './world.ts';

/** What the source documents promise of agent types, each proved on the built program. */

function isMain(request: RecordedRequest): boolean {
  return firstUserText(request) === 'go';
}

function ofChild(world: World, prompt: string): readonly RecordedRequest[] {
  return world.model.requests.filter((request) => firstUserText(request) === prompt);
}

/** What a task was told of its calls, in order. */
function told(requests: readonly RecordedRequest[]): readonly string[] {
  const messages = requests.at(-1)?.messages ?? [];
  return messages.flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
}

/** The main agent makes these calls at once; a child makes those that stand under its prompt. */
function script(
  calls: readonly AnswerToolCall[],
  children: Readonly<Record<string, readonly AnswerToolCall[]>> = {},
) {
  return (request: RecordedRequest): Answer => {
    const toolCalls = isMain(request) ? calls : children[firstUserText(request)];
    return toolCalls === undefined || toolResultRounds(request) > 0
      ? { text: 'ok' }
      : { toolCalls };
  };
}

function spawn(input: JsonObject): AnswerToolCall {
  return { name: 'Task', input };
}

function file(fields: readonly string[], prompt: string): string {
  return ['---', 'description: x', ...fields, '---', prompt, ''].join('\n');
}

function toolsOf(requests: readonly RecordedRequest[]): readonly string[] {
  return (requests[0]?.tools ?? []).map(({ name }) => name);
}

const GO = ['-p', 'go', '--trust-project'];

describe.concurrent('S0', () => {
  it('S0: an agent type is a folder with a SUBAGENT.md, and one in data/subagents has precedence', async () => {
    await using world = await openWorld({
      files: {
        'subagents/look/SUBAGENT.md': file(
          ['name: look', 'tools: "read_file"'],
          'The shipped one.',
        ),
        'subagents/more/SUBAGENT.md': file(['name: more', 'tools: "*"'], 'All tools.'),
        'data/subagents/look/SUBAGENT.md': file(
          ['name: look', 'tools: "read_file, list_files, grep_files, notify, no_such_tool"'],
          "The user's own.",
        ),
      },
      script: script([
        { name: 'spawn_subagent', input: { type: 'look', description: 'Look', input: 'at this' } },
        { name: 'spawn_subagent', input: { type: 'more', description: 'More', input: 'of that' } },
      ]),
    });
    expect((await world.run(GO)).code).toBe(0);
    const look = ofChild(world, 'at this');
    expect(look[0]?.system).toContain("The user's own.");
    expect(toolsOf(look)).toEqual(['Read', 'LS', 'Grep', 'Notify']);
    expect(toolsOf(ofChild(world, 'of that'))).toContain('Write');
  });

  it('S0: `type` and `input` are arguments, and the type is the general one where none is named', async () => {
    await using world = await openWorld({
      script: script([
        { name: 'spawn_subagent', input: { type: 'explore', description: 'A', input: 'one' } },
        { name: 'spawn_subagent', input: { type: 'general', description: 'B', input: 'two' } },
        { name: 'spawn_subagent', input: { description: 'C', input: 'three' } },
        spawn({ task: 'four', type: 'PLAN' }),
        spawn({ input: 'five', fork: false }),
      ]),
    });
    expect((await world.run(GO)).code).toBe(0);
    const types = ['one', 'two', 'three', 'four', 'five'].map((prompt) => {
      const [request] = ofChild(world, prompt);
      return /# Agent type: (\S+)/.exec(request?.system ?? '')?.[1];
    });
    expect(types).toEqual([
      'Explore',
      'general-purpose',
      'general-purpose',
      'Plan',
      'general-purpose',
    ]);
  });

  it('S0: `fork: true` goes on from the whole conversation', async () => {
    await using world = await openWorld({ script: script([spawn({ input: 'x', fork: true })]) });
    await world.run(GO);
    const [main, child] = world.model.requests;
    expect(child?.system).toBe(main?.system);
    expect(child?.messages.slice(0, 1)).toEqual(main?.messages);
  });

  it('S0: a model is a tier, `fast`, `balanced` or `powerful`, or provider/model', async () => {
    const wishes = ['fast', 'balanced', 'powerful', 'anthropic/claude-opus-4-6'];
    const files = Object.fromEntries(
      wishes.map((wish, n) => [
        `subagents/of${n}/SUBAGENT.md`,
        file([`name: of${n}`, `model: ${wish}`], 'You.'),
      ]),
    );
    const calls = wishes.map((_, n) => spawn({ type: `of${n}`, input: `as ${n}` }));
    const named = spawn({ type: 'of0', input: 'as called', model: 'powerful' });
    await using world = await openWorld({ files, script: script([...calls, named]) });
    expect((await world.run([...GO, '--model', 'claude-sonnet-5'])).code).toBe(0);
    const model = (prompt: string) => ofChild(world, prompt)[0]?.model;
    expect([...wishes.map((_, n) => model(`as ${n}`)), model('as called')]).toEqual([
      'claude-haiku-4-5',
      'claude-sonnet-5',
      'claude-opus-5-5',
      'claude-opus-4-6',
      'claude-opus-5-5',
    ]);
  });

  it('S0: a tool that the type does not have is neither offered nor run', async () => {
    await using world = await openWorld({
      script: script([spawn({ type: 'explore', input: 'look' })], {
        look: [{ name: 'write_file', input: { file_path: 'a', content: 'x' } }],
      }),
    });
    expect((await world.run([...GO, '--permission-mode', 'autonomous'])).code).toBe(0);
    const look = ofChild(world, 'look');
    expect(toolsOf(look)).not.toContain('Write');
    expect(told(look)).toEqual([expect.stringMatching(/^write_file is not among your tools: /)]);
  });

  it('S0: a log event without a type replays as general-purpose', async () => {
    await using world = await openWorld({
      script: script([spawn({ type: 'explore', input: 'look' })]),
    });
    expect((await world.run(GO)).code).toBe(0);
    const { children } = await family(world);
    const [id = ''] = children;
    const shown = JSON.parse(clean(await tasks(world, 'show', id, '--json')));
    expect(shown.data.subagent_type).toBe('Explore');
    withoutType(shown.data.transcript);
    const again = JSON.parse(clean(await tasks(world, 'show', id, '--json')));
    expect(again).toEqual({
      ...shown,
      data: { ...shown.data, subagent_type: 'general-purpose' },
      text: shown.text.replace('Explore', 'general-purpose'),
      tree: JSON.parse(JSON.stringify(shown.tree).replaceAll('"Explore"', '"general-purpose"')),
    });
  });
});

describe.concurrent('S2', () => {
  it('S2: an unknown type is an error that lists the valid ones, and costs no request', async () => {
    await using world = await openWorld({
      script: script([
        spawn({ prompt: 'x', subagent_type: 'exploer' }),
        spawn({ prompt: 'x', subagent_type: '' }),
        spawn({ prompt: ' ', subagent_type: 'Explore' }),
      ]),
    });
    expect((await world.run(GO)).code).toBe(0);
    const [unknown, empty, blank] = told(world.model.requests);
    expect(unknown).toMatch(/^Task: subagent_type: There is no agent `exploer`\./);
    for (const name of ['Explore', 'Plan', 'Bash', 'Review', 'Summary', 'general-purpose']) {
      expect(unknown).toContain(name);
    }
    expect([empty, blank]).toEqual([
      'Task: subagent_type: must not be empty',
      'Task: prompt: must not be empty',
    ]);
    expect(world.model.requests.length).toBe(2);
  });

  it("S2: the prompt is the user message; the type's prompt and the description are the system's", async () => {
    await using world = await openWorld({
      script: script([
        spawn({ prompt: 'Where is it?', subagent_type: 'Explore', description: 'Find it' }),
      ]),
    });
    expect((await world.run(GO)).code).toBe(0);
    const [request] = ofChild(world, 'Where is it?');
    expect(request?.systemParts.at(-1)).toMatch(/# Task\nFind it$/);
    expect(request?.system).toMatch(/# Agent type: Explore\n/);
    expect(request?.messages.length).toBe(1);
  });
});

describe.concurrent('S3', () => {
  it('S3: .gen has precedence over .claude, and the project over the user', async () => {
    const same = (where: string) => file(['name: same'], `From ${where}.`);
    const own = (where: string) => file([`name: ${where}`], `From ${where}.`);
    const places = [
      ['gen', '.gen/agents'],
      ['my-gen', '../home/.gen/agents'],
      ['claude', '.claude/agents'],
      ['my-claude', '../home/.claude/agents'],
    ] as const;
    for (const [index, [first]] of places.entries()) {
      const files = places.slice(index).flatMap(([where, place]) => [
        [`${place}/same.md`, same(where)],
        [`${place}/own.md`, own(where)],
      ]);
      const types = ['same', ...places.slice(index).map(([where]) => where)];
      // oxlint-disable-next-line no-await-in-loop -- one world after another
      await using world = await openWorld({
        files: Object.fromEntries(files),
        script: script(types.map((type) => spawn({ prompt: `as ${type}`, subagent_type: type }))),
      });
      // oxlint-disable-next-line no-await-in-loop -- one world after another
      expect((await world.run(GO)).code).toBe(0);
      const froms = types.map(
        (type) => /From (\S+)\./.exec(ofChild(world, `as ${type}`)[0]?.system ?? '')?.[1],
      );
      expect(froms).toEqual([first, ...types.slice(1)]);
    }
  });

  it.each([
    ['plan', 'autonomous', 'Write is not among your tools'],
    ['default', 'acceptEdits', null],
    ['acceptEdits', 'autonomous', null],
    ['dontAsk', 'autonomous', null],
    ['dontAsk', 'default', 'neither a rule nor default mode lets it run unasked'],
  ])('S3: permission-mode: %s below %s', async (mode, parent, refusal) => {
    const agent = file(['name: worker', `permission-mode: ${mode}`], 'You.');
    const write = { name: 'Write', input: { file_path: 'new.txt', content: 'x' } };
    await using world = await openWorld({
      files: { '.gen/agents/worker.md': agent },
      script: script([spawn({ prompt: 'work', subagent_type: 'worker' })], { work: [write] }),
    });
    expect((await world.run([...GO, '--permission-mode', parent])).code).toBe(0);
    expect(told(ofChild(world, 'work'))[0]).toContain(refusal ?? 'new.txt');
    expect(existsSync(join(world.sandbox.workspace, 'new.txt'))).toBe(refusal === null);
  });

  it('S3: nested tools are an allowlist or a denylist; max-turns ends it', async () => {
    await using world = await openWorld({
      files: {
        '.gen/agents/few.md': file(
          [
            'name: few',
            'max-turns: 1',
            'tools:',
            '  mode: allowlist',
            '  allow:',
            '    - Read',
            '    - Grep',
          ],
          'You.',
        ),
        '.gen/agents/most.md': file(
          ['name: most', 'tools:', '  mode: denylist', '  deny:', '    - Bash', '    - Write'],
          'You.',
        ),
      },
      script: script(
        [
          spawn({ prompt: 'little', subagent_type: 'few' }),
          spawn({ prompt: 'much', subagent_type: 'most' }),
        ],
        { little: [{ name: 'Grep', input: { pattern: 'x' } }] },
      ),
    });
    expect((await world.run(GO)).code).toBe(0);
    expect(toolsOf(ofChild(world, 'little'))).toEqual(['Read', 'Grep']);
    const much = toolsOf(ofChild(world, 'much'));
    expect(much).toEqual(expect.arrayContaining(['Read', 'Edit', 'Glob']));
    expect(much.filter((name) => ['Bash', 'Write', 'Task'].includes(name))).toEqual([]);
    const main = told(world.model.requests.filter(isMain));
    expect(main[0]).toContain('the limit max_turns = 1 is reached');
  });
});

it("a project definition that takes a built-in's name cannot widen it, and the listing shows it", async () => {
  const write = { name: 'Write', input: { file_path: 'new.txt', content: 'x' } };
  await using world = await openWorld({
    files: {
      '.git/HEAD': '',
      '.muster/agents/explore.md': file(
        ['name: explore', 'permissionMode: autonomous', 'tools: "*"'],
        'Taken over.',
      ),
    },
    script: script([spawn({ prompt: 'look', subagent_type: 'Explore' })], { look: [write] }),
  });
  expect((await world.run(GO)).code).toBe(0);
  const look = ofChild(world, 'look');
  expect(look[0]?.system).toContain('Taken over.');
  expect(told(look)[0]).toContain('neither a rule nor default mode lets it run unasked');
  expect(existsSync(join(world.sandbox.workspace, 'new.txt'))).toBe(false);
  const args = ['agents', 'list', '--json', '--trust-project'];
  const { agents } = JSON.parse((await runMuster(world.sandbox, args)).stdout);
  const ours = agents.filter(({ id }: { readonly id: string }) => id.toLowerCase() === 'explore');
  expect(ours).toMatchObject([
    { permissionMode: 'autonomous', effectiveMode: 'default', shadows: ['builtin:explore'] },
    { scope: 'builtin', effectiveMode: 'plan', shadowedBy: ours[0].path },
  ]);
});

/** Makes a log one of before there were types. */
function withoutType(path: string): void {
  const [header = '', created = '', ...rest] = readFileSync(path, 'utf8').split('\n');
  const event: unknown = JSON.parse(created);
  if (!isJsonObject(event) || !isJsonObject(event['spec'])) throw new Error('no created event');
  const { agent: _, ...spec } = event['spec'];
  writeFileSync(path, [header, JSON.stringify({ ...event, spec }), ...rest].join('\n'));
}
