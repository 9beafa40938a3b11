import { AGENTS } from '../../../src/agents/kinds.ts';
import { discoverDefinitions } from '../../../src/agents/loader/discover.ts';
import { qwen } from '../../../src/agents/formats/vendors.ts';
import { expect, test } from 'vitest';
import { TRUST_ALL } from '../../../src/sys/files/project-file.ts';
import { agentFile, codes, plainAgent, readOne, workTree } from '../support.ts';

const HEAD = ['name: tester', 'description: Tests.'] as const;
const PLAIN = plainAgent('qwen');

test('every field', async () => {
  const file = agentFile(
    ...HEAD,
    'tools: [read_file, write_file, todo_write]',
    'disallowedTools: mcp__hub',
    'approvalMode: auto-edit',
    'modelConfig: {model: some-model, temp: 0.3}',
    'runConfig: {max_turns: 12, max_time_minutes: 5}',
    'background: true',
    'effort: med',
    'color: purple',
    'hooks: {}',
    'mcpServers: {}',
  );
  expect(await readOne(qwen.agents, file)).toEqual({
    ...PLAIN,
    tools: { mode: 'allow', names: ['Read', 'Write', 'TodoWrite'] },
    disallowedTools: ['mcp__hub', 'mcp__*'],
    model: 'some-model',
    permissionMode: 'acceptEdits',
    mode: 'acceptEdits',
    limits: { maxTurns: 12, wallSeconds: 300 },
    background: true,
    effort: 'medium',
    color: 'purple',
    extra: { modelConfig: { temp: 0.3 }, hooks: {} },
    problems: [
      {
        code: 'inactive-field',
        message: 'These fields have no effect yet: modelConfig, hooks.',
        path: '/agents/tester.md',
        line: 7,
      },
    ],
  });
});

test.each([
  ['plan', 'plan', 'plan'],
  ['default', 'default', null],
  ['auto-edit', 'acceptEdits', 'acceptEdits'],
  ['auto', 'auto', 'default'],
  ['bubble', 'default', 'default'],
  ['yolo', 'bypassPermissions', 'autonomous'],
])('approvalMode %s asks for %s, which is %s', async (word, permissionMode, mode) => {
  const agent = await readOne(qwen.agents, agentFile(...HEAD, `approvalMode: ${word}`));
  expect([agent.permissionMode, agent.mode, codes(agent)]).toEqual([permissionMode, mode, []]);
});

test("Claude Code's dontAsk keeps its meaning, and of two modes the narrower counts", async () => {
  const silent = await readOne(qwen.agents, agentFile(...HEAD, 'permissionMode: dontAsk'));
  expect([silent.mode, silent.refusesQuestions]).toEqual(['default', true]);
  const two = agentFile(...HEAD, 'approvalMode: yolo', 'permissionMode: plan');
  expect((await readOne(qwen.agents, two)).mode).toBe('plan');
});

test('a model next to modelConfig counts, and the smaller of two limits', async () => {
  const file = agentFile(
    ...HEAD,
    'model: inherit',
    'modelConfig: {model: other}',
    'maxTurns: 9',
    'runConfig: {max_turns: 12}',
  );
  const agent = await readOne(qwen.agents, file);
  expect(agent).toEqual({ ...PLAIN, model: 'inherit', limits: { maxTurns: 9 } });
});

test.each(['{kind: acp, command: other-agent}', 'nonsense', ''])(
  'one for another program (%s) is kept and cannot be started',
  async (executor) => {
    const agent = await readOne(qwen.agents, agentFile(...HEAD, `executor: ${executor}`));
    expect(agent.unusable).toBe(
      'It runs in another program (`executor`), which Muster cannot do yet.',
    );
    expect(codes(agent)).toEqual(['inactive-field']);
  },
);

test('locations of Qwen Code, Gemini CLI and pi: project, user, environment variable, extensions', async () => {
  const agent = agentFile('description: Does.');
  const tree = workTree({
    '.git/HEAD': '',
    '.gemini/agents/a.md': agent,
    '.qwen/agents/b.md': agent,
    'sub/.pi/agents/c.md': agent,
    'home/.gemini/agents/d.md': agent,
    'qwen/agents/e.md': agent,
    'home/.pi/agent/agents/f.md': agent,
    'home/.gemini/extensions/x/agents/g.md': agent,
    'qwen/extensions/y/agents/h.md': agent,
  });
  try {
    const environment = { HOME: tree.path('home'), QWEN_HOME: tree.path('qwen') };
    const found = await discoverDefinitions(AGENTS, {
      cwd: tree.path('sub'),
      environment,
      trust: TRUST_ALL,
    });
    const own = found.items.filter(({ origin }) => origin.scope !== 'builtin');
    expect(own.map(({ name, origin }) => [name, origin.vendor, origin.scope])).toEqual([
      ['a', 'gemini', 'project'],
      ['b', 'qwen', 'project'],
      ['c', 'pi', 'project'],
      ['d', 'gemini', 'user'],
      ['e', 'qwen', 'user'],
      ['f', 'pi', 'user'],
      ['g', 'gemini', 'plugin'],
      ['h', 'qwen', 'plugin'],
    ]);
  } finally {
    tree.remove();
  }
});
