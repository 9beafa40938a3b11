import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AgentExplanation } from '../../src/api/explain/explain-agent.ts';
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
  '.claude/agents/skilled.md': [
    'name: skilled',
    'description: Knows a skill',
    'skills: [notes, none-such]',
    'background: true',
    'effort: low',
  ],
  '.config/muster/agents/picky.md': [
    'name: picky',
    'description: Chooses whom it asks',
    'tools: Read, Bash',
    'delegates-to: [Explore, denier, none-such]',
    'deny-rules: ["Bash(git push:*)", WebFetch]',
    'ask-rules: [Read]',
    'refuses-questions: true',
  ],
  '.config/muster/agents/auto.md': ['name: auto-searcher', 'description: Finds', 'model: auto'],
  '.copilot/agents/displayed.agent.md': [
    'name: displayed',
    'description: Has a display name for a model',
    "tools: ['search', 'web']",
    'model: Claude Sonnet 4.5 (copilot)',
  ],
};
const SKILL = '---\nname: notes\ndescription: Writes notes\n---\n\nWrite them well.\n';
const AGENTS = [
  'Explore',
  'Review',
  'general-purpose',
  'denier',
  'bare',
  'star',
  'Plan Maker',
  'skilled',
  'picky',
  'auto-searcher',
  'displayed',
];

function writeAgents(world: World): void {
  for (const [path, lines] of Object.entries(USER_AGENTS)) {
    const full = join(world.sandbox.home, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, `---\n${lines.join('\n')}\n---\n\nYou are one of them.\n`);
  }
  const skill = join(world.sandbox.home, '.claude/skills/notes');
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, 'SKILL.md'), SKILL);
}

function task(type: string): AnswerToolCall {
  return { name: 'Task', input: { prompt: `for ${type}`, subagent_type: type, description: 'd' } };
}

/** The system prompt without the line that is particular to one task. */
function sharedSystem({ system }: RecordedRequest): string {
  return system.replace(/\s*# Task\nd$/, '');
}

function ruleTexts(rules: readonly { readonly rule: string }[]): readonly string[] {
  return rules.map(({ rule }) => rule);
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
        rules: [told.rights.rules.ask, told.rights.rules.deny].map(ruleTexts),
        refusesQuestions: told.rights.refusesQuestions,
        effort: told.model.effort,
        warning: told.model.warning,
      }).toEqual({
        tools: request.tools.map((tool) => tool.name),
        system: sha256(sharedSystem(request)),
        model: `${spec.model.provider}/${request.body['model']}`,
        limits: spec.limits,
        mode: spec.rights.mode,
        denied: spec.rights.disallowedTools,
        depth: spec.depth,
        background: spec.background,
        rules: [spec.rights.rules.ask, spec.rights.rules.deny].map((rules) =>
          ruleTexts(rules.map(({ text }) => ({ rule: text }))),
        ),
        refusesQuestions: spec.rights.refusesQuestions === true,
        effort: spec.agent.effort ?? null,
        warning: spec.model.warning ?? null,
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
        { name: 'mcp__none__tool', reason: 'No MCP server none is configured.' },
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

it('agents explain tells of what cannot be started, or may not be, what it would be if it could', async () => {
  await using world = await openWorld();
  writeAgents(world);
  const path = join(world.sandbox.home, '.claude/agents/lost.md');
  writeFileSync(
    path,
    '---\nname: lost\ndescription: d\ntools: Froob\npermissionMode: zork\n---\nx\n',
  );
  const explain = async (...argv: readonly string[]) => {
    const { code, stdout } = await world.run(['agents', 'explain', ...argv, '--json']);
    const { call, tools, warnings }: AgentExplanation = JSON.parse(stdout);
    return { code, call, tools: tools.names, warnings };
  };
  expect(
    await Promise.all([
      explain('lost'),
      explain('denier', '--deny', 'Task(denier)'),
      explain('Review', '--deny', 'Task(code-reviewer)'),
      explain('bare', '--ask', 'Task'),
      explain('picky'),
      explain('skilled'),
    ]),
  ).toEqual([
    {
      code: 1,
      call: {
        verdict: 'deny',
        reason: `\`lost\` can't be started: None of the tools that it requests can be used (Froob). Fix ${path}, or name another agent.`,
      },
      tools: [],
      warnings: [expect.stringMatching(/^`zork` is not a permission mode/)],
    },
    {
      code: 1,
      call: {
        verdict: 'deny',
        reason: 'The deny rule `Task(denier)` (--deny) forbids this Task call.',
      },
      tools: ['Read', 'Bash', 'Task', 'TaskList'],
      warnings: [],
    },
    {
      code: 1,
      call: {
        verdict: 'deny',
        reason: 'The deny rule `Task(code-reviewer)` (--deny) forbids this Task call.',
      },
      tools: ['Read', 'Glob', 'Grep', 'Bash', 'Notify'],
      warnings: [],
    },
    {
      code: 0,
      call: {
        verdict: 'ask',
        reason: 'The ask rule `Task` (--ask) wants this Task call to be asked about.',
      },
      tools: [],
      warnings: ['The list of tools is empty: the agent has no tools.'],
    },
    {
      code: 0,
      call: { verdict: 'allow', reason: expect.any(String) },
      tools: ['Read', 'Bash', 'Task'],
      warnings: ['It may delegate to `none-such`, but there is no such agent.'],
    },
    {
      code: 0,
      call: { verdict: 'allow', reason: expect.any(String) },
      tools: expect.any(Array),
      warnings: [expect.stringContaining('none-such')],
    },
  ]);
  const { stdout } = await world.run(['agents', 'explain', 'lost']);
  expect(stdout).toMatch(/^refused {8}`lost` can't be started: /m);
  expect(stdout).toMatch(/^note {11}`zork` is not a permission mode/m);
});

it('agents explain has an error for what there is not', async () => {
  await using world = await openWorld();
  writeAgents(world);
  const unknown = await world.run(['agents', 'explain', 'denyer']);
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    expect.stringMatching(/^muster: There is no agent `denyer`. Did you mean `denier`\?/),
  ]);
});
