import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  assertAppendOnly,
  lastUserText,
  startFakeModel,
  toolResultRounds,
  type Answer,
  type FakeModel,
  type RecordedRequest,
  type WireProtocol,
} from '../../src/testing/index.ts';
import { expectNoViolations } from '../no-violations.ts';
import { envelopeOf, eventsOf, runMuster, Sandbox } from './muster.ts';

/** Whether it is a request of the main agent. */
function isMain(request: RecordedRequest): boolean {
  return request.systemParts.join('\n').includes("in the user's terminal");
}

let sandbox: Sandbox;
let model: FakeModel;

beforeEach(() => {
  sandbox = new Sandbox({ 'a.txt': 'CANARY-CHILD-TOOL', 'main.txt': 'CANARY-MAIN-TOOL' });
});

afterEach(async () => {
  sandbox[Symbol.dispose]();
  await model.close();
  expectNoViolations(model);
});

async function serve(
  script: (request: RecordedRequest) => Answer | Promise<Answer>,
): Promise<FakeModel> {
  model = await startFakeModel({ script });
  return model;
}

const ORDER = [5, 2, 7, 0, 3, 6, 1, 4];

describe.each(['anthropic', 'responses', 'chat', 'google'] as const)('over %s', (protocol) => {
  it('runs eight Task calls of one message at once and returns the results in call order', async () => {
    let children = 0;
    const all = Promise.withResolvers<void>();
    const server = await serve(async (request) => {
      if (isMain(request)) {
        if (toolResultRounds(request) > 0) return { text: 'done' };
        return {
          toolCalls: ORDER.map((n) => ({
            name: 'Task',
            input: { prompt: `part ${n}`, subagent_type: 'Explore', description: `Part ${n}` },
          })),
        };
      }
      children += 1;
      if (children === ORDER.length) all.resolve();
      await all.promise;
      const n = Number(lastUserText(request).slice('part '.length));
      return { delayMs: (8 - n) * 10, text: `result of part ${n}` };
    });
    const run = await runMuster(
      sandbox,
      ['-p', 'go', '--output-format', 'json', ...wire(protocol)],
      {
        env: server.env(protocol),
      },
    );
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(server.maxInFlight).toBe(ORDER.length);
    const results = server.requests.findLast(isMain)?.messages.at(-1)?.toolResults ?? [];
    expect(results.map(({ text }) => text.split('\n')[0])).toEqual(
      ORDER.map((n) => `result of part ${n}`),
    );
    expect(envelopeOf(run)).toMatchObject({
      status: 'success',
      data: { status: 'completed', result: 'done', tool_summary: [{ tool: 'Task', count: 8 }] },
      error: null,
    });
  });

  it('keeps the contexts apart, both ways', async () => {
    const server = await serve((request) => {
      const rounds = toolResultRounds(request);
      if (isMain(request)) {
        if (rounds === 0) {
          return {
            text: 'CANARY-MAIN-TEXT',
            toolCalls: [{ name: 'Read', input: { file_path: 'main.txt' } }],
          };
        }
        if (rounds === 1) {
          return {
            toolCalls: [{ name: 'Task', input: { prompt: 'look', subagent_type: 'explore' } }],
          };
        }
        return { text: 'all done' };
      }
      if (rounds === 0) {
        return {
          text: 'CANARY-CHILD-TEXT',
          toolCalls: [{ name: 'Read', input: { file_path: 'a.txt' } }],
        };
      }
      return { text: 'CHILD-ANSWER' };
    });
    const run = await runMuster(sandbox, ['-p', 'CANARY-MAIN-PROMPT', ...wire(protocol)], {
      env: server.env(protocol),
    });
    expect([run.code, run.stdout]).toEqual([0, 'all done\n']);
    const main = server.requests.filter(isMain);
    const child = server.requests.filter((request) => !isMain(request));
    expect([main.length, child.length]).toEqual([3, 2]);
    const ofMain = main.map(({ rawBody }) => rawBody).join('\n');
    const ofChild = child.map(({ rawBody }) => rawBody).join('\n');
    expect(ofMain).toContain('CHILD-ANSWER');
    expect(ofMain).toContain('CANARY-MAIN-TOOL');
    expect(ofChild).toContain('CANARY-CHILD-TOOL');
    expect(ofMain).not.toMatch(/CANARY-CHILD|You are a subagent/);
    expect(ofChild).not.toMatch(/CANARY-MAIN/);
    for (const requests of [main, child]) {
      for (const [index, later] of requests.entries()) {
        const earlier = requests[index - 1];
        if (earlier !== undefined) assertAppendOnly(earlier, later);
      }
    }
  });
});

/** Chat has no variables of a vendor of its own: there `LLM_*` names the model. */
function wire(protocol: WireProtocol): readonly string[] {
  return protocol === 'responses' ? ['--model', 'openai/gpt-test'] : [];
}

describe('siblings', () => {
  it('share every byte up to the last system line', async () => {
    const server = await serve((request) => {
      if (!isMain(request)) return { text: 'ok' };
      if (toolResultRounds(request) > 0) return { text: 'done' };
      const call = (part: string) => ({
        name: 'Task',
        input: {
          prompt: `look at ${part}`,
          description: `Look at ${part}`,
          subagent_type: 'Explore',
        },
      });
      return { toolCalls: [call('one'), call('two')] };
    });
    const run = await runMuster(sandbox, ['-p', 'go'], { env: server.env('anthropic') });
    expect(run.code).toBe(0);
    const children = server.requests.filter((request) => !isMain(request));
    const shared = children.map(({ tools, systemParts }) =>
      JSON.stringify([tools, systemParts.slice(0, -1)]),
    );
    expect(new Set(shared).size).toBe(1);
    expect(children.map(({ systemParts }) => systemParts.at(-1)).toSorted()).toEqual([
      '# Task\nLook at one',
      '# Task\nLook at two',
    ]);
    expect(children.map(lastUserText).toSorted()).toEqual(['look at one', 'look at two']);
  });
});

describe('the two layers', () => {
  it('neither offer Write to Explore nor run it', async () => {
    const server = await serve((request) => {
      const rounds = toolResultRounds(request);
      if (isMain(request)) {
        if (rounds > 0) return { text: 'done' };
        return { toolCalls: [{ name: 'Task', input: { prompt: 'x', subagent_type: 'Explore' } }] };
      }
      if (rounds > 0) return { text: 'tried' };
      return {
        toolCalls: [
          { name: 'Write', input: { file_path: 'new.txt', content: 'x' } },
          { name: 'Bash', input: { command: 'touch new.txt' } },
          { name: 'write_file', input: { path: 'new.txt', content: 'x' } },
        ],
      };
    });
    const run = await runMuster(
      sandbox,
      ['-p', 'go', '--permission-mode', 'autonomous', '--output-format', 'stream-json'],
      { env: server.env('anthropic') },
    );
    expect(run.code).toBe(0);
    const child = server.requests.filter((request) => !isMain(request));
    expect(child[0]?.tools.map(({ name }) => name).join(' ')).toBe(
      'Read LS Glob Grep WebFetch WebSearch Notify TaskList TaskReplay MemoryList MemoryRead',
    );
    const results = child[1]?.messages.at(-1)?.toolResults ?? [];
    expect(results.map(({ isError }) => isError)).toEqual([true, true, true]);
    expect(existsSync(join(sandbox.workspace, 'new.txt'))).toBe(false);
    const refused = eventsOf(run).filter((event) => event.type === 'call.refused');
    expect(refused.map(({ tool, error }) => [tool, error])).toEqual([
      ['Write', 'PERMISSION_DENIED'],
      ['Bash', 'PERMISSION_DENIED'],
      ['Write', 'PERMISSION_DENIED'],
    ]);
  });

  it('take the Task tools off the wire when task_tool.enabled is false', async () => {
    const server = await serve(() => ({ text: 'ok' }));
    const run = await runMuster(sandbox, ['-p', 'go'], {
      env: { ...server.env('anthropic'), MUSTER_TASK_TOOL_ENABLED: 'false' },
    });
    expect(run.code).toBe(0);
    const [request] = server.requests;
    expect(request?.tools.map(({ name }) => name).join(' ')).toBe(
      'Read Write Edit MultiEdit LS Glob Grep Bash TodoWrite WebFetch WebSearch AskUser Notify',
    );
    expect(request?.system).not.toContain('# Delegation');
  });
});

describe('a Task call that can not be', () => {
  const names = 'Explore, Plan, Bash, Review, Summary, general-purpose';
  it.each([
    ['an unknown type', { prompt: 'x', subagent_type: 'nobody' }, ['subagent_type', names]],
    ['an empty prompt', { prompt: '' }, ['prompt: must not be empty']],
    ['no prompt', {}, ['prompt: is missing']],
    ['a prompt of the wrong type', { prompt: 7 }, ['prompt: must be a text']],
    ['an unusable model', { prompt: 'x', model: 'nobody/nothing' }, ['model: ', 'valid are']],
    ['an argument that is not there', { prompt: 'x', colour: 'red' }, ['colour', 'valid are']],
    ['turns below one', { prompt: 'x', max_turns: 0 }, ['max_turns']],
  ])('with %s is an error result and no request', async (_, input, words) => {
    const server = await serve((request) =>
      toolResultRounds(request) === 0 ? { toolCalls: [{ name: 'Task', input }] } : { text: 'ok' },
    );
    const run = await runMuster(sandbox, ['-p', 'go'], { env: server.env('anthropic') });
    expect(run.code).toBe(0);
    expect(server.requests.length).toBe(2);
    const [result] = server.requests[1]?.messages.at(-1)?.toolResults ?? [];
    expect(result?.isError).toBe(true);
    for (const word of words) expect(result?.text).toContain(word);
  });

  it('names another model where the definition’s is binding', async () => {
    const server = await serve((request) =>
      toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'Task', input: { prompt: 'x', model: 'powerful' } }] }
        : { text: 'ok' },
    );
    const run = await runMuster(sandbox, ['-p', 'go', '--output-format', 'stream-json'], {
      env: { ...server.env('anthropic'), MUSTER_TASK_TOOL_ALLOW_MODEL_OVERRIDE: 'false' },
    });
    expect(server.requests.length).toBe(2);
    const ended = eventsOf(run).find((event) => event.type === 'call.ended');
    expect(ended).toMatchObject({ error: 'INVALID_PARAM' });
  });
});

describe('nesting', () => {
  const agents = JSON.stringify({
    boss: { description: 'Delegates', prompt: 'Delegate.', tools: 'Task, Read' },
  });

  it('goes down to max_depth, where Task is neither offered nor run', async () => {
    const server = await serve((request) =>
      toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'Task', input: { prompt: 'down', subagent_type: 'boss' } }] }
        : { text: 'up' },
    );
    const run = await runMuster(
      sandbox,
      ['-p', 'go', '--agents', agents, '--output-format', 'stream-json'],
      { env: server.env('anthropic') },
    );
    expect(run.code).toBe(0);
    const firsts = server.requests.filter((request) => toolResultRounds(request) === 0);
    const offersTask = firsts.map(({ tools }) => tools.some(({ name }) => name === 'Task'));
    expect(offersTask).toEqual([true, true, false]);
    const depths = eventsOf(run).flatMap((event) =>
      event.type === 'task.created' ? [event.spec.depth] : [],
    );
    expect(depths).toEqual([0, 1, 2]);
    expect(eventsOf(run).find((event) => event.type === 'call.refused')).toMatchObject({
      tool: 'Task',
      error: 'PERMISSION_DENIED',
    });
  });
});

describe('a child that fails', () => {
  it('leaves its parent running with the error and what was found', async () => {
    const server = await serve((request) => {
      const rounds = toolResultRounds(request);
      if (isMain(request)) {
        return rounds === 0
          ? { toolCalls: [{ name: 'Task', input: { prompt: 'x', subagent_type: 'Explore' } }] }
          : { text: 'went on' };
      }
      if (rounds === 0) {
        return {
          text: 'FOUND-SO-FAR',
          toolCalls: [{ name: 'Read', input: { file_path: 'a.txt' } }],
        };
      }
      return { fault: { kind: 'status', status: 400, message: 'no such thing' } };
    });
    const run = await runMuster(sandbox, ['-p', 'go'], { env: server.env('anthropic') });
    expect([run.code, run.stdout]).toEqual([0, 'went on\n']);
    const [result] = server.requests.filter(isMain).at(1)?.messages.at(-1)?.toolResults ?? [];
    expect(result?.isError).toBe(true);
    expect(result?.text).toContain('PROVIDER_ERROR');
    expect(result?.text).toContain('no such thing');
    expect(result?.text).toContain('FOUND-SO-FAR');
  });

  it('gives a long answer in pages, through TaskOutput', async () => {
    const paragraphs = Array.from(
      { length: 400 },
      (_, n) => `Paragraph ${n}: ${'word '.repeat(40)}`,
    );
    const pages: string[] = [];
    const server = await serve((request) => {
      if (!isMain(request)) return { text: paragraphs.join('\n\n') };
      const text = request.messages.at(-1)?.toolResults[0]?.text;
      if (text === undefined) {
        return { toolCalls: [{ name: 'Task', input: { prompt: 'x', subagent_type: 'Summary' } }] };
      }
      pages.push(text);
      const rest = /TaskOutput\(task_id: "(\w+)", offset: (\d+)\)/.exec(text);
      if (rest === null) return { text: 'read it all' };
      const [, id = '', offset] = rest;
      return {
        toolCalls: [
          { name: 'TaskOutput', input: { task_id: id.slice(0, 6), offset: Number(offset) } },
        ],
      };
    });
    const run = await runMuster(sandbox, ['-p', 'go'], { env: server.env('anthropic') });
    expect([run.code, run.stdout]).toEqual([0, 'read it all\n']);
    expect(pages.length).toBeGreaterThan(5);
    for (const [n] of paragraphs.entries()) {
      expect(pages.filter((page) => page.includes(`Paragraph ${n}:`)).length).toBe(1);
    }
  });
});

describe('effects', () => {
  it('happen where the mode or a rule lets them, in a child as in the main agent', async () => {
    const server = await serve((request) => {
      const rounds = toolResultRounds(request);
      if (isMain(request)) {
        return rounds === 0
          ? { toolCalls: [{ name: 'Task', input: { prompt: 'write it' } }] }
          : { text: 'done' };
      }
      if (rounds > 0) return { text: 'written' };
      return {
        toolCalls: [
          { name: 'Write', input: { file_path: 'new.txt', content: 'hello\n' } },
          { name: 'Bash', input: { command: 'cat new.txt' } },
          { name: 'Bash', input: { command: 'touch forbidden.txt' } },
        ],
      };
    });
    const run = await runMuster(
      sandbox,
      '-p go --output-format json --permission-mode acceptEdits --allow'
        .split(' ')
        .concat('Bash(cat:*)'),
      { env: server.env('anthropic') },
    );
    expect(run.code).toBe(0);
    expect(readFileSync(join(sandbox.workspace, 'new.txt'), 'utf8')).toBe('hello\n');
    expect(existsSync(join(sandbox.workspace, 'forbidden.txt'))).toBe(false);
    const results =
      server.requests
        .filter((request) => !isMain(request))
        .at(1)
        ?.messages.at(-1)?.toolResults ?? [];
    expect(results.map(({ isError }) => isError)).toEqual([false, false, true]);
    expect(results[1]?.text).toContain('hello');
    expect(results[2]?.text).toContain('--allow');
    const envelope = envelopeOf(run);
    expect(envelope.data.receipt.children.length).toBe(1);
  });
});
