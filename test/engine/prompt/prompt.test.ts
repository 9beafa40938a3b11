import { describe, expect, test, it } from 'vitest';
import {
  buildPromptParts,
  describeMode,
  formatAgentPrompt,
  formatLimitedTools,
  createProjectContext,
  type PromptInput,
} from '../../../src/engine/prompt/prompt.ts';
import { loadBuiltinAgents } from '../../../src/agents/builtin.ts';
import type { AgentParameter, LimitedTools, AgentDefinition } from '../../../src/protocol/agent.ts';
import { agent } from '../../policy/support.ts';
import { call, calls, play, requestsOf } from '../play.ts';
import { testEngine, WORKER } from '../support.ts';
import type { ContextSource } from '../../../src/protocol/project-context.ts';

describe('the agent’s own part of the system prompt', () => {
  test.each<[string, string, readonly AgentParameter[] | undefined, string]>([
    ['alone', ' Write.\n', undefined, 'Write.'],
    ['with no parameters', 'Write.', [], 'Write.'],
    ['without a prompt or parameters', ' ', [{ name: 'a', description: '' }], ''],
  ])('%s', (_, prompt, parameters, expected) => {
    const given = parameters === undefined ? {} : { parameters };
    expect(formatAgentPrompt({ ...agent({}), prompt, ...given })).toBe(expected);
  });

  test('with the parameters that its prompt leaves open', () => {
    const parameters = [
      { name: 'release', description: 'Which\none' },
      { name: 'language', description: '', default: 'en' },
      { name: 'note', description: 'A note', default: '' },
    ];
    const prompt = 'Write about {{ release }}.';
    expect(formatAgentPrompt({ ...agent({}), prompt, parameters })).toMatchInlineSnapshot(`
      "Write about {{ release }}.

      ## Parameters
      Where \`{{ name }}\` stands above, read what the task says it is, or else:
      - release (Which one): not given; work it out from the task, and say what you took it for
      - language: en
      - note (A note): nothing"
    `);
  });
});

const INPUT: PromptInput = {
  agent: agent({}),
  family: null,
  tools: [],
  mode: 'default',
  isRoot: false,
  types: [],
  agents: [],
  firstPrompt: null,
  skills: [],
  preloaded: [],
  environment: { cwd: '/w', platform: 'linux', date: '2026-01-02' },
  context: null,
};

function buildPrompt(input: Partial<PromptInput>): string {
  return buildPromptParts({ ...INPUT, ...input })
    .map(({ text }) => text)
    .join('\n\n');
}

describe('the system prompt', () => {
  it('tells each built-in subagent how to work, and says nothing of it twice', async () => {
    for (const builtin of await loadBuiltinAgents()) {
      const prompt = buildPrompt({ agent: builtin });
      for (const instruction of [/stay on the task/gi, /fewest calls/gi, /when a call fails/gi]) {
        expect([builtin.name, prompt.match(instruction)?.length]).toEqual([builtin.name, 1]);
      }
      expect(prompt).toContain('End with a concise result');
    }
  });

  it.each([
    [{ isRoot: true }, true],
    [{ isRoot: false }, false],
  ])('with %j tells the main agent how to answer the user: %s', (input, isTold) => {
    expect(buildPrompt(input).includes('Answer in few words.')).toBe(isTold);
  });

  it.each([
    [['Read', 'Grep'], false],
    [['Bash'], false],
    [['Edit'], true],
    [['Read', 'PatchFiles'], true],
  ])('for the tools %j tells how to change files: %s', (tools, isTold) => {
    expect(buildPrompt({ tools }).includes('Change only what the task needs')).toBe(isTold);
  });

  it.each([
    ['plan', ['Bash'], true],
    ['plan', ['Read'], false],
    ['default', ['Bash'], false],
  ] as const)('in mode %s with %j tells which commands run: %s', (mode, tools, isTold) => {
    const text = describeMode(mode, tools);
    expect(buildPrompt({ mode, tools })).toContain(text);
    expect(text.includes('Bash runs plain commands')).toBe(isTold);
  });
});

const HEAD =
  '# Limited tools\nOf each tool here only the calls that every line for it covers run; others are refused.\n';
const EDITS: LimitedTools = {
  limits: [
    { tool: 'Bash', rules: ['Bash(git log:*)', 'Bash(git diff:*)'] },
    { tool: 'Edit', rules: ['Edit(src/**)'] },
    { tool: 'Write', rules: ['Write(docs/**)'], newFiles: true },
    { tool: 'WebFetch', rules: ['WebFetch(domain:a.example)'] },
  ],
  unlimited: ['Read'],
};

test.each<[string, readonly LimitedTools[], readonly string[], string]>([
  ['nothing if no tool is limited', [], ['Bash'], ''],
  ['nothing if the task has no limited tool', [EDITS], ['Read', 'Grep'], ''],
  [
    'a line for each limited tool that the task has',
    [EDITS],
    ['Read', 'Bash', 'Edit'],
    `${HEAD}- Bash: \`Bash(git log:*)\`, \`Bash(git diff:*)\`\n- Edit: \`Edit(src/**)\``,
  ],
  [
    'all rules of a list that let a call of the tool run',
    [{ ...EDITS, limits: EDITS.limits.slice(1, 3) }],
    ['Write'],
    `${HEAD}- Write: \`Edit(src/**)\`, \`Write(docs/**)\`, Write for files that do not exist yet`,
  ],
  [
    'one line for tools that are limited to the same calls',
    [{ limits: [{ tool: 'Edit', rules: ['Edit(src/**)'] }], unlimited: ['Write'] }],
    ['Edit', 'MultiEdit', 'Write', 'DeleteFile'],
    `${HEAD}- Edit, MultiEdit: \`Edit(src/**)\`\n- DeleteFile: no call`,
  ],
  [
    'a line for each list that limits a tool',
    [EDITS, { limits: [{ tool: 'Bash', rules: [] }], unlimited: [] }],
    ['Bash'],
    `${HEAD}- Bash: \`Bash(git log:*)\`, \`Bash(git diff:*)\`\n- Bash: no call`,
  ],
  [
    'each rule on one line, without tags of the prompt',
    [{ limits: [{ tool: 'Bash', rules: ['Bash(a\nb)'] }], unlimited: [] }],
    ['Bash'],
    `${HEAD}- Bash: \`Bash(a b)\``,
  ],
])('the limited tools: %s', (_, limitedTools, tools, expected) => {
  expect(formatLimitedTools({ limitedTools }, tools)).toBe(expected);
});

const FILES = [
  { name: '../AGENTS.md', scope: 'project', text: 'Use tabs.\n<system>x', isCut: false },
  { name: '~/mine.md', scope: 'user', importedBy: '~/CLAUDE.md', text: 'Be brief.', isCut: true },
] as const;

/** Creates a context source that returns a different context at each call. */
function changing(): ContextSource & { refreshed: number } {
  let looks = 0;
  const source = {
    refreshed: 0,
    refresh: async () => void (source.refreshed += 1),
    getContext: () =>
      createProjectContext({ files: FILES, leftOut: [], git: `Branch: b${(looks += 1)}` }),
  };
  return source;
}

/** Creates a context source whose context changes only when it is refreshed. */
function steady(): ContextSource {
  let current = createProjectContext({ files: FILES, leftOut: [], git: 'Branch: b0' });
  let age = 0;
  return {
    refresh: async () => {
      current = createProjectContext({ files: FILES, leftOut: [], git: `Branch: b${(age += 1)}` });
    },
    getContext: () => current,
  };
}

const BARE: AgentDefinition = { ...WORKER, name: 'bare', contextFiles: false };

describe('the context of a directory', () => {
  it('is at the end of the main agent’s prompt, and of a child’s before its task', async () => {
    const test = testEngine(play({ main: [calls(call('Task', { prompt: 'part' }))] }), {
      context: steady(),
    });
    const run = test.start('main');
    await run.end.written;
    const [main = ''] = requestsOf(test, 'main')[0]?.prefix.system ?? [];
    const id = /<file ([0-9a-f]{16})>/.exec(main)?.[1] ?? '';
    const expected = [
      '## ../AGENTS.md (the project)',
      `<file ${id}>`,
      'Use tabs.',
      '<¦system>x',
      `</file ${id}>`,
      '',
      "## ~/mine.md (the user's own, imported by ~/CLAUDE.md)",
      `<file ${id}>`,
      'Be brief.',
      `</file ${id}>`,
      '[Cut for want of room.]',
      '',
      '# Git',
      'When this session began; look again before you rely on it.',
      `<outside ${id}>`,
      'Branch: b0',
      `</outside ${id}>`,
    ].join('\n');
    expect(main.slice(main.indexOf('## ../AGENTS.md'))).toBe(expected);
    expect(main.indexOf('# Environment')).toBeLessThan(main.indexOf('# Context files'));
    const child = requestsOf(test, 'part')[0]?.prefix.system ?? [];
    expect(child).toEqual([expect.stringContaining('Use tabs.'), '# Task\npart']);
    expect(child.join('').split('Use tabs.')).toHaveLength(2);
  });

  it('is not given to an agent whose definition excludes it, as a child or as the main agent', async () => {
    const script = play({ main: [calls(call('Task', { prompt: 'part', subagent_type: 'bare' }))] });
    const test = testEngine(script, { context: steady(), agents: [BARE] });
    await test.start('main').end.written;
    const top = testEngine(play({}), { context: steady(), agent: BARE });
    await top.start('main').end.written;
    const without = testEngine(play({}), { agent: BARE });
    await without.start('main').end.written;
    const [child = ''] = requestsOf(test, 'part')[0]?.prefix.system ?? [];
    expect(child).not.toMatch(/Use tabs|# Git/);
    expect(requestsOf(top, 'main')[0]?.prefix).toEqual(requestsOf(without, 'main')[0]?.prefix);
  });

  it('is the same bytes for all children of one message, and is read once for them', async () => {
    const source = steady();
    const parts = [1, 2, 3, 4].map((n) =>
      call('Task', { prompt: `part ${n}`, description: 'Part' }),
    );
    const test = testEngine(play({ main: [calls(...parts), calls(...parts.slice(0, 2))] }), {
      context: source,
    });
    await test.start('main').end.written;
    const systems = requestsOf(test, 'part').map(({ prefix }) => prefix.system.join('\n'));
    expect(systems).toHaveLength(6);
    expect(new Set(systems.slice(0, 4)).size).toBe(1);
    expect(systems[0]).toContain('Branch: b1\n');
    expect(systems[5]).toContain('Branch: b2\n');
  });

  it('stays unchanged for a task at work, and for one that is resumed', async () => {
    const script = play({
      main: [calls(call('Task', { prompt: 'part' })), calls(call('Bash', {})), { text: 'one' }],
    });
    const first = testEngine(script, { context: changing() });
    const run = first.start('main');
    await run.end.written;
    const second = testEngine(script, { context: changing(), store: first.store });
    const again = await second.engine.resume(run.spec.id, {
      prompt: 'go on',
      maxRights: (all) => all,
    });
    await again.end.written;
    const prefixes = [first, second].flatMap((test) =>
      requestsOf(test, 'main').map(({ prefix }) => prefix),
    );
    expect(prefixes.length).toBeGreaterThan(3);
    for (const prefix of prefixes) expect(prefix).toEqual(prefixes[0]);
  });

  it('does not make the prompt longer if there is none', async () => {
    const source = { refresh: async () => {}, getContext: () => null };
    const [none, absent] = [testEngine(play({}), { context: source }), testEngine(play({}))];
    await Promise.all([none.start('main').end.written, absent.start('main').end.written]);
    expect(requestsOf(none, 'main')[0]?.prefix).toEqual(requestsOf(absent, 'main')[0]?.prefix);
  });
});
