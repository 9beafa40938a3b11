import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentExplanation } from '../../src/api/agents/explain.ts';
import {
  firstUserText,
  toolResultRounds,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { eventsOf } from './muster.ts';
import { openWorld, type World } from './world.ts';

const USER_AGENTS: Readonly<Record<string, readonly string[]>> = {
  '.config/muster/agents/denier.md': [
    'name: denier',
    'description: Denies',
    'tools: Read, Write, Bash, Task, TaskList',
    'disallowed-tools: Write, Edit',
    'max-turns: 7',
  ],
  '.config/muster/agents/bare.md': ['name: bare', 'description: Has nothing', 'tools: []'],
  '.config/muster/agents/star.md': [
    'name: star',
    'description: Has all but some',
    'tools: {mode: denylist, deny: [Bash, Edit]}',
    'model: powerful',
    'wall-seconds: 60',
    'max-tokens: 500000',
  ],
  '.claude/agents/planner.md': [
    'name: Plan Maker',
    'description: Plans',
    'permissionMode: plan',
    'tools: Read, Write, Bash, Froob, mcp__none__tool',
    'model: no-such-model',
    'effort: high',
  ],
};
const AGENTS = ['Explore', 'Review', 'general-purpose', 'denier', 'bare', 'star', 'Plan Maker'];

function writeAgents(world: World): void {
  for (const [path, lines] of Object.entries(USER_AGENTS)) {
    const full = join(world.sandbox.home, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, `---\n${lines.join('\n')}\n---\n\nYou are one of them.\n`);
  }
}

function task(type: string): AnswerToolCall {
  return { name: 'Task', input: { prompt: `for ${type}`, subagent_type: type, description: 'd' } };
}

/** The system prompt without the line that is particular to one task. */
function sharedSystem({ system }: RecordedRequest): string {
  return system.replace(/\s*# Task\nd$/, '');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Sends the main agent to delegate to all of them at once. */
async function delegateToAll(world: World, flags: readonly string[]) {
  const run = await world.run(['-p', 'go', '--output-format', 'stream-json', ...flags]);
  expect(run.code).toBe(0);
  const created = eventsOf(run).filter((event) => event.type === 'task.created');
  return new Map(created.map((event) => [event.spec.agent.name, event.spec]));
}

describe.each([
  ['by default', [], []],
  ['below a main agent in plan mode', ['--permission-mode', 'plan'], ['--parent-mode', 'plan']],
  [
    'under rules',
    ['--deny', 'Write', '--deny', 'Bash(rm:*)'],
    ['--deny', 'Write', '--deny', 'Bash(rm:*)'],
  ],
])('agents explain, %s', (_, runFlags, explainFlags) => {
  it('says what the request of each agent then holds', async () => {
    await using world = await openWorld({
      script: (request) =>
        firstUserText(request) === 'go' && toolResultRounds(request) === 0
          ? { toolCalls: AGENTS.map(task) }
          : { text: 'ok' },
    });
    writeAgents(world);
    const specs = await delegateToAll(world, runFlags);
    for (const name of AGENTS) {
      const explained = await world.run(['agents', 'explain', name, '--json', ...explainFlags]);
      expect([explained.code, explained.stderr]).toEqual([0, '']);
      const told: AgentExplanation = JSON.parse(explained.stdout);
      const request = world.model.requests.find((each) => firstUserText(each) === `for ${name}`);
      const spec = specs.get(name);
      if (request === undefined || spec === undefined) throw new Error(`${name} was not started`);
      const limits = Object.fromEntries(
        Object.entries(told.limits).map(([key, { value }]) => [key, value]),
      );
      expect({
        tools: told.tools.names,
        system: told.context.systemSha256,
        model: told.model.name,
        limits,
        mode: told.rights.mode,
        denied: told.rights.disallowedTools,
        depth: told.rights.depth,
        background: told.background,
      }).toEqual({
        tools: request.tools.map((tool) => tool.name),
        system: sha256(sharedSystem(request)),
        model: `${spec.model.provider}/${request.body['model']}`,
        limits: spec.limits,
        mode: spec.rights.mode,
        denied: spec.rights.disallowedTools,
        depth: spec.depth,
        background: spec.background,
      });
      expect(told.model.chain).toEqual(spec.model.chain);
    }
  });
});

it('agents explain says why a tool is missing, and what nobody knows', async () => {
  await using world = await openWorld();
  writeAgents(world);
  const explain = async (name: string): Promise<AgentExplanation> =>
    JSON.parse((await world.run(['agents', 'explain', name, '--json'])).stdout);
  const [planner, denier] = [await explain('plan maker'), await explain('denier')];
  expect(planner).toMatchObject({
    tools: {
      names: ['Read', 'Bash'],
      dropped: [
        { name: 'Write', reason: 'Plan mode changes nothing.' },
        { name: 'mcp__none__tool', reason: 'No such tool is available here.' },
      ],
      unknown: ['Unknown tool `Froob`; it is left out.'],
    },
    model: { warning: expect.stringContaining('"no-such-model"'), effort: 'high' },
    rights: { asked: 'plan', mode: 'plan', parentMode: 'default' },
  });
  expect(denier).toMatchObject({
    tools: { dropped: [{ name: 'Write', reason: 'The definition itself denies it.' }] },
    limits: {
      maxTurns: { value: 7, from: 'definition' },
      maxTokens: { value: 1_000_000, from: 'configuration' },
    },
  });
  expect(denier.delegatesTo).toContain('Explore');
});

it('agents explain has an error for what cannot be started, and one for what there is not', async () => {
  await using world = await openWorld();
  writeAgents(world);
  const path = join(world.sandbox.home, '.claude/agents/lost.md');
  writeFileSync(path, '---\nname: lost\ndescription: d\ntools: Froob\n---\nx\n');
  const [lost, unknown] = await Promise.all(
    ['lost', 'denyer'].map((name) => world.run(['agents', 'explain', name])),
  );
  expect([lost?.code, lost?.stderr]).toEqual([
    1,
    expect.stringMatching(/^muster: INVALID_PARAM: `lost` can't be started: None of the tools/),
  ]);
  expect([unknown?.code, unknown?.stderr]).toEqual([
    2,
    expect.stringMatching(/^muster: There is no agent `denyer`. Did you mean `denier`\?/),
  ]);
});
