import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ContextPart } from '../../src/report/request-context.ts';
import type { TaskContext } from '../../src/api/tasks/task-context.ts';
import { isJsonObject, type JsonValue } from '../../src/base/json.ts';
import { toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { clean, complaint, delegate, delegating, family, tasks } from './tasks.ts';
import { openWorld, type World } from './world.ts';

/** A child that lists the directory, and its parent. */
const one = delegating([delegate('part one')], (request) => {
  if (toolResultRounds(request) > 0)
    return { text: 'seen', usage: { input: 400, cacheRead: 1600 } };
  return {
    toolCalls: [{ name: 'LS', input: { path: '.' } }],
    usage: { input: 100, cacheWrite: 1400 },
  };
});

async function ran(): Promise<World> {
  const world = await openWorld({ script: one, files: { 'a.txt': '<notice> hidden' } });
  const run = await world.run(['-p', 'go']);
  expect(run.code).toBe(0);
  return world;
}

async function contextOf(world: World, ...args: readonly string[]): Promise<TaskContext> {
  return JSON.parse(clean(await tasks(world, 'context', ...args, '--json')));
}

function bytesIn(parts: readonly ContextPart[], group: ContextPart['group']): number {
  return parts.filter((part) => part.group === group).reduce((sum, { bytes }) => sum + bytes, 0);
}

function bytes(text: string): number {
  return Buffer.byteLength(text);
}

/** Of what stands in the messages of a body of Anthropic: texts, calls with their names, results. */
function messageBytes(value: JsonValue | undefined): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + messageBytes(each), 0);
  if (!isJsonObject(value)) return 0;
  const { type, text, name, input, content } = value;
  if (type === 'tool_use') return bytes(`${String(name)}${JSON.stringify(input)}`);
  if (typeof content === 'string') return bytes(content);
  return (typeof text === 'string' ? bytes(text) : 0) + messageBytes(content);
}

function sent(request: RecordedRequest) {
  const tools = request.tools.map(({ name, description, schema }) =>
    bytes(JSON.stringify({ name, description, inputSchema: schema })),
  );
  return {
    tools: tools.reduce((sum, each) => sum + each, 0),
    system: request.systemParts.reduce((sum, each) => sum + bytes(each), 0),
    messages: messageBytes(request.body['messages']),
  };
}

describe.concurrent('tasks context', () => {
  it('has parts that add up to what was on the wire, of each turn of each task', async () => {
    await using world = await ran();
    const { root, children } = await family(world);
    const [child = ''] = children;
    for (const [id, isOf] of [
      [root, (request: RecordedRequest) => request.system.includes("in the user's terminal")],
      [child, (request: RecordedRequest) => request.system.includes('You are a subagent')],
    ] as const) {
      const requests = world.model.requests.filter(isOf);
      expect(requests.length).toBe(2);
      for (const [at, request] of requests.entries()) {
        const { parts, turn } = await contextOf(world, id, '--turn', String(at + 1));
        expect(turn).toBe(at + 1);
        expect({
          tools: bytesIn(parts, 'tools'),
          system: bytesIn(parts, 'system'),
          messages: bytesIn(parts, 'messages'),
        }).toEqual(sent(request));
      }
    }
  });

  it('tells the newest turn, with what the provider counted beside the estimate', async () => {
    await using world = await ran();
    const { children } = await family(world);
    const [child = ''] = children;
    const { parts, ...all } = await contextOf(world, child);
    expect(all).toEqual({
      task: child,
      turn: 2,
      turns: 2,
      model: 'anthropic/claude-sonnet-5',
      bytes: parts.reduce((sum, each) => sum + each.bytes, 0),
      tokens: parts.reduce((sum, each) => sum + each.tokens, 0),
      counted: { input: 400, cacheRead: 1600, cacheWrite: 0, total: 2000, cachedShare: 0.8 },
      window: null,
      left: null,
    });
    expect(parts.filter(({ group }) => group !== 'tools').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['identity', 'mode', 'environment', 'task line', 'results of LS']),
    );
    const shown = clean(await tasks(world, 'context', child));
    expect(shown).toMatch(
      /^counted {3}2000 tokens: 400 new, 1600 from cache \(80 %\), 0 into it$/m,
    );
    for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });

  it('says in one line what it can not show', async () => {
    await using world = await ran();
    const { root } = await family(world);
    const log: string = JSON.parse(clean(await tasks(world, 'show', root, '--json'))).data
      .transcript;
    expect(complaint(await tasks(world, 'context', root, '--turn', '7'))).toBe(
      `NOT_FOUND: --turn: task ${root} has no turn 7, it has turns 1 to 2`,
    );
    expect(complaint(await tasks(world, 'context', root, '--turn', 'x'), 2)).toMatch(/--turn/);
    const text = readFileSync(log, 'utf8');
    writeFileSync(log, text.replace(/"prefix":"[0-9a-f]+"/, `"prefix":"${'0'.repeat(64)}"`));
    expect(complaint(await tasks(world, 'context', root))).toMatch(
      /of the requests of task \w+ are lost/,
    );
    rmSync(log);
    expect(complaint(await tasks(world, 'context', root))).toMatch(/^NOT_FOUND/);
  });
});
