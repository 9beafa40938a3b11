import { claude, gen, muster, subagent } from '../../../src/agents/formats/vendors.ts';
import { describe, expect, test } from 'vitest';
import { parseSessionAgents } from '../../../src/agents/formats/claude/reader.ts';
import { writeAgent } from '../../../src/agents/write-agent.ts';
import type { LimitedTools } from '../../../src/protocol/agent.ts';
import { agentFile, codes, plainAgent, read, readOne } from '../support.ts';

const HEAD = ['name: tester', 'description: Tests.'] as const;

const PLAIN = plainAgent('muster');

test('a Muster file with every field', async () => {
  const file = agentFile(
    ...HEAD,
    'aliases: [check, prove]',
    'tools: Read, Bash, mcp__git__log',
    'disallowed-tools: Write',
    'model: openai/some-model',
    'permission-mode: acceptEdits',
    'max-turns: 12',
    'max-tokens: 1000',
    'max-cost-usd: 0.25',
    'max-tool-bytes: 9000',
    'wall-seconds: 60',
    'result-max-tokens: "500"',
    'effort: high',
    'color: blue',
  );
  expect(await readOne(muster.agents, file)).toEqual({
    ...PLAIN,
    aliases: ['check', 'prove'],
    tools: { mode: 'allow', names: ['Read', 'Bash', 'mcp__git__log'] },
    disallowedTools: ['Write'],
    model: 'openai/some-model',
    permissionMode: 'acceptEdits',
    mode: 'acceptEdits',
    limits: {
      maxTurns: 12,
      maxTokens: 1000,
      maxCostUsd: 0.25,
      maxToolBytes: 9000,
      wallSeconds: 60,
      resultMaxTokens: 500,
    },
    effort: 'high',
    color: 'blue',
  });
});

test('a .gen file with permission-mode, max-turns and nested tools', async () => {
  const file = agentFile(
    'name: ml-engineer',
    'description: Learns.',
    'model: inherit',
    'permission-mode: dontAsk',
    'max-turns: 50',
    'tools:',
    '  mode: allowlist',
    '  allow:',
    '    - Read',
    '    - Bash',
    '    - Grep',
    '  deny: [Grep]',
  );
  expect(await readOne(gen.agents, file)).toEqual({
    ...PLAIN,
    name: 'ml-engineer',
    description: 'Learns.',
    model: 'inherit',
    tools: { mode: 'allow', names: ['Read', 'Bash'] },
    permissionMode: 'dontAsk',
    mode: 'autonomous',
    limits: { maxTurns: 50 },
    origin: { ...PLAIN.origin, vendor: 'gen' },
  });
});

test('a SUBAGENT.md with its own names of tools gets the name of its folder', async () => {
  const file = agentFile(
    'description: "Looks: reads"',
    'tools: "read_file, grep_files, http_get, notify"',
    'model: fast',
  );
  const path = '/subagents/look/SUBAGENT.md';
  expect(await read(subagent.agents, file, path)).toEqual({
    items: [
      {
        ...PLAIN,
        name: 'look',
        description: 'Looks: reads',
        tools: { mode: 'allow', names: ['Read', 'Grep', 'WebFetch', 'Notify'] },
        model: 'fast',
        origin: { scope: 'user', vendor: 'subagent', path },
        problems: [expect.objectContaining({ code: 'name-from-filename' })],
      },
    ],
    problems: [],
  });
  const renamed = await read(subagent.agents, agentFile(...HEAD), path);
  expect(renamed.items.map((agent) => [agent.name, codes(agent)])).toEqual([
    ['tester', ['name-differs-from-folder']],
  ]);
});

test('a Claude file keeps fields without effect, and reports them once', async () => {
  const file = agentFile(
    ...HEAD,
    'tools:',
    '  - Read',
    '  - AskUserQuestion',
    'disallowedTools: Write, Edit',
    'model: sonnet',
    'permissionMode: dontAsk',
    'maxTurns: 9',
    'isolation: worktree',
    'hooks: {Stop: []}',
    'version: 2',
  );
  expect(await readOne(claude.agents, file)).toEqual({
    ...PLAIN,
    tools: { mode: 'allow', names: ['Read', 'AskUser'] },
    disallowedTools: ['Write', 'Edit'],
    model: 'sonnet',
    permissionMode: 'dontAsk',
    mode: 'default',
    refusesQuestions: true,
    limits: { maxTurns: 9 },
    isolation: 'worktree',
    origin: { ...PLAIN.origin, vendor: 'claude' },
    hooks: { Stop: [] },
    extra: { version: 2 },
    problems: [
      {
        code: 'unknown-field',
        message: 'Unknown fields: version.',
        path: '/agents/tester.md',
        line: 13,
      },
    ],
  });
});

describe('tools', () => {
  const none = { mode: 'allow', names: [] };
  const all = { mode: 'all', names: [] };
  const allow = (...names: string[]): object => ({ mode: 'allow', names });
  test.each([
    ['absent', [], all, []],
    ['star', ['tools: "*"'], all, []],
    ['a star that is not valid YAML', ['tools: *'], all, ['invalid-yaml']],
    ['star in a list', ['tools: ["*"]'], all, []],
    ['star and more', ['tools: "*, Task"'], all, ['tools-beside-star']],
    ['flat', ['tools: Read, Grep'], allow('Read', 'Grep'), []],
    ['twice the same', ['tools: Read, read_file'], allow('Read'), []],
    ['flow list', ['tools: [Read, Grep]'], allow('Read', 'Grep'), []],
    ['quoted list', ['tools: ["Read", "Grep"]'], allow('Read', 'Grep'), []],
    ['block list', ['tools:', '- Read', '- Grep'], allow('Read', 'Grep'), []],
    [
      'open list',
      ['tools: [Read, "Grep"]x'],
      none,
      ['invalid-yaml', 'unknown-tool', 'unknown-tool', 'no-known-tools'],
    ],
    ['group word', ['tools: Read, search'], allow('Read', 'Grep', 'Glob'), []],
    ['another spelling', ['allowed-tools: Read'], allow('Read'), []],
    ['empty', ['tools:'], none, ['no-tools']],
    ['empty list', ['tools: []'], none, ['no-tools']],
    ['unknown next to known', ['tools: Read, Fly'], allow('Read'), ['unknown-tool']],
    ['unknown only', ['tools: Fly'], none, ['unknown-tool', 'no-known-tools']],
    ['pattern', ['tools: Read, "Bash(git log:*, x)"'], allow('Read', 'Bash'), []],
    [
      'a pattern that no rule can express',
      ['tools: Read, TodoWrite(x)'],
      allow('Read'),
      ['tool-pattern'],
    ],
    ['pattern for a server', ['tools: Read, mcp__a__b(x)'], allow('Read'), ['tool-pattern']],
    ['empty brackets', ['tools: Read, Bash()'], allow('Read'), ['tool-pattern']],
    [
      'a name with a narrower meaning',
      ['tools: Read, TodoRead'],
      allow('Read'),
      ['too-wide-alias'],
    ],
    ['such a name next to its tool', ['tools: TodoRead, TodoWrite'], allow('TodoWrite'), []],
    ['only such a name', ['tools: TodoRead'], none, ['too-wide-alias', 'no-known-tools']],
    ['a number', ['tools: 3'], none, ['invalid-tools']],
    ['a list of maps', ['tools: [{a: b}]'], none, ['invalid-tools']],
    ['nested allow', ['tools: {mode: allow, allow: "Read, LS"}'], allow('Read', 'LS'), []],
    ['nested without mode', ['tools: {allow: [Read]}'], allow('Read'), []],
    [
      'nested deny',
      ['tools: {mode: denylist, deny: [Bash]}'],
      { mode: 'deny', names: ['Bash'] },
      [],
    ],
    ['nested deny alone', ['tools: {deny: [Bash]}'], { mode: 'deny', names: ['Bash'] }, []],
    [
      'nested star without some tools',
      ['tools: {allow: "*", deny: [Bash]}'],
      { mode: 'deny', names: ['Bash'] },
      [],
    ],
    ['nested without lists', ['tools: {mode: denylist}'], none, ['invalid-tools']],
    ['nested empty', ['tools: {mode: allowlist}'], none, ['no-tools']],
    ['nested unknown mode', ['tools: {mode: some, allow: [Read]}'], none, ['invalid-tools']],
    ['nested unreadable deny', ['tools: {mode: denylist, deny: 3}'], none, ['invalid-tools']],
    ['nested unreadable allow', ['tools: {allow: 3}'], none, ['invalid-tools']],
    ['unreadable denial', ['disallowedTools: 3'], none, ['invalid-tools']],
    ['hostile server', ['tools: "mcp__a b"'], none, ['unknown-tool', 'no-known-tools']],
  ])('%s', async (_, lines, tools, expected) => {
    const agent = await readOne(muster.agents, agentFile(...HEAD, ...lines));
    expect({ tools: agent.tools, codes: codes(agent) }).toEqual({ tools, codes: expected });
  });

  const ONLY_GIT = ['Bash(git diff:*)', 'Bash(git log:*)'];
  const NOTEBOOKS = { tool: 'Edit', rules: ['Edit(//**/*.ipynb)'] };
  test.each<[string, string, LimitedTools | undefined]>([
    [
      'several rules',
      'tools: Read, Bash(git diff:*), Bash(git log:*)',
      { limits: [{ tool: 'Bash', rules: ONLY_GIT }], unlimited: ['Read'] },
    ],
    [
      'a list',
      'tools: ["Bash(git diff:*)", "Bash(git log:*)", "Read"]',
      { limits: [{ tool: 'Bash', rules: ONLY_GIT }], unlimited: ['Read'] },
    ],
    [
      'names of other vendors',
      'tools: run_shell_command(git diff:*), run_shell_command(git log:*)',
      { limits: [{ tool: 'Bash', rules: ONLY_GIT }], unlimited: [] },
    ],
    [
      'paths, domains and skills',
      'tools: Edit(src/**), WebFetch(domain:docs.rs), Skill(deploy)',
      {
        limits: [
          { tool: 'Edit', rules: ['Edit(src/**)'] },
          { tool: 'WebFetch', rules: ['WebFetch(domain:docs.rs)'] },
          { tool: 'Skill', rules: ['Skill(deploy)'] },
        ],
        unlimited: [],
      },
    ],
    [
      'a bracket in a rule',
      String.raw`tools: [ 'Bash(echo \(:*)', Read]`,
      { limits: [{ tool: 'Bash', rules: [String.raw`Bash(echo \(:*)`] }], unlimited: ['Read'] },
    ],
    ['the full tool next to it', 'tools: Bash(git diff:*), Bash', undefined],
    [
      'several in the same brackets',
      'tools: [Read, "Bash(git diff:*, git log:*)"]',
      { limits: [{ tool: 'Bash', rules: ONLY_GIT }], unlimited: ['Read'] },
    ],
    [
      'with blanks between the tools',
      'tools: Bash(git diff:*) Bash(git log:*) Read',
      { limits: [{ tool: 'Bash', rules: ONLY_GIT }], unlimited: ['Read'] },
    ],
    [
      'a comma in quotation marks',
      `tools: ['Bash(echo "a, b":*)']`,
      { limits: [{ tool: 'Bash', rules: ['Bash(echo "a, b":*)'] }], unlimited: [] },
    ],
    ['every call', 'tools: "Bash(:*)"', undefined],
    ['every call', 'tools: Bash(*)', undefined],
    ['notebooks', 'tools: NotebookEdit', { limits: [NOTEBOOKS], unlimited: [] }],
    ['notebooks next to the tool', 'tools: NotebookEdit, Edit', undefined],
    [
      'notebooks and a path',
      'tools: NotebookEdit, Edit(src/**)',
      {
        limits: [{ tool: 'Edit', rules: ['Edit(//**/*.ipynb)', 'Edit(src/**)'] }],
        unlimited: [],
      },
    ],
    [
      'new files',
      'tools: create_file, edit_file',
      { limits: [{ tool: 'Write', rules: [], newFiles: true }], unlimited: ['Edit'] },
    ],
    [
      'nested',
      'tools: {mode: allowlist, allow: ["Bash(git diff:*)", Read, LS], deny: [LS]}',
      { limits: [{ tool: 'Bash', rules: ['Bash(git diff:*)'] }], unlimited: ['Read', 'LS'] },
    ],
    ['a switch', 'tools: {"*": false, notebookedit: true}', { limits: [NOTEBOOKS], unlimited: [] }],
  ])('are limited by %s', async (_, line, expected) => {
    const agents = await Promise.all(
      [muster.agents, claude.agents].map((format) => readOne(format, agentFile(...HEAD, line))),
    );
    const limited = expected === undefined ? undefined : [expected];
    expect(agents.map(({ limitedTools }) => limitedTools)).toEqual([limited, limited]);
    const written = await writeAgent(agents[0]!);
    const again = await readOne(muster.agents, written.text);
    expect(again.limitedTools?.map(({ limits }) => limits)).toEqual(
      limited?.map(({ limits }) => limits),
    );
  });

  test('a denied name for a part of a tool denies only that part', async () => {
    const lines = ['disallowedTools: NotebookEdit, Bash', 'deny-rules: [Read(a)]'];
    const agent = await readOne(muster.agents, agentFile(...HEAD, ...lines));
    expect([agent.disallowedTools, agent.rules]).toEqual([
      ['Bash'],
      { ask: [], deny: ['Edit(//**/*.ipynb)', 'Read(a)'] },
    ]);
  });

  test('a denied pattern denies the tool completely', async () => {
    const agent = await readOne(claude.agents, agentFile(...HEAD, 'disallowedTools: Bash(rm *)'));
    expect([agent.disallowedTools, codes(agent)]).toEqual([['Bash'], ['tool-pattern']]);
  });
});

describe('permission modes', () => {
  test.each([
    ['plan', 'plan', 'plan'],
    ['default', null, null],
    ['acceptEdits', 'acceptEdits', 'acceptEdits'],
    ['manual', 'default', 'default'],
    ['auto', 'default', 'default'],
    ['bypassPermissions', 'autonomous', 'autonomous'],
    ['dontAsk', 'autonomous', 'default'],
  ])('%s is %s for Muster and %s for Claude', async (word, ourMode, theirMode) => {
    for (const spelling of ['permission-mode', 'permissionMode', 'permission_mode']) {
      const file = agentFile(...HEAD, `${spelling}: ${word}`);
      const ours = await readOne(muster.agents, file);
      const theirs = await readOne(claude.agents, file);
      expect([ours.mode, theirs.mode]).toEqual([ourMode, theirMode]);
      expect([ours.permissionMode, theirs.permissionMode]).toEqual([word, word]);
      expect(codes(theirs)).toEqual([]);
    }
  });

  test.each([
    ['autonomous', claude.agents],
    ['PLAN', claude.agents],
    ['PLAN', muster.agents],
  ])('%s, which is not recognized, is reported and capped at default', async (word, format) => {
    const agent = await readOne(format, agentFile(...HEAD, `permissionMode: ${word}`));
    expect([agent.permissionMode, agent.mode, codes(agent)]).toEqual([
      null,
      'default',
      ['invalid-permission-mode'],
    ]);
  });

  test('invalid YAML after the mode does not lose a narrow mode', async () => {
    const file = agentFile(...HEAD, 'permissionMode: plan', 'note: a: b', 'maxTurns: 3', 'x: y: z');
    const agent = await readOne(claude.agents, file);
    expect([agent.mode, agent.limits, codes(agent)]).toEqual([
      'plan',
      { maxTurns: 3 },
      ['invalid-yaml'],
    ]);
  });

  test('two modes in one value are invalid, and the agent gets at most the narrower one', async () => {
    const agent = await readOne(
      claude.agents,
      agentFile(...HEAD, 'permission-mode: dontAsk, plan'),
    );
    expect([agent.permissionMode, agent.mode, codes(agent)]).toEqual([
      null,
      'plan',
      ['invalid-permission-mode'],
    ]);
  });
});

describe('other fields', () => {
  test.each([
    ['max-turns: 7', { maxTurns: 7 }, []],
    ['maxTurns: "7"', { maxTurns: 7 }, []],
    ['max_turns: 7', { maxTurns: 7 }, []],
    ['max-turns: 0', {}, ['invalid-limit']],
    ['max-turns: -1', {}, ['invalid-limit']],
    ['max-turns: 1.5', {}, ['invalid-limit']],
    ['max-turns: many', {}, ['invalid-limit']],
    ['max-turns: ""', {}, ['invalid-limit']],
    ['max-turns:', {}, []],
  ])('%s', async (line, limits, expected) => {
    const agent = await readOne(muster.agents, agentFile(...HEAD, line));
    expect({ limits: agent.limits, codes: codes(agent) }).toEqual({ limits, codes: expected });
  });

  test.each([
    ['model: [gpt-x, gpt-y]', { model: 'gpt-x', models: ['gpt-x', 'gpt-y'] }, []],
    ['model: [3, {}, "", gpt-y]', { model: '3', models: ['3', 'gpt-y'] }, []],
    ['model: [{}, gpt-y]', { model: 'gpt-y' }, []],
    ['model: {a: b}', {}, ['invalid-model']],
    ['model:', {}, []],
    ['effort: extreme', {}, ['invalid-effort']],
    ['color: "#0af"', { color: '#0af' }, []],
    ['color: "\\e[31m"', {}, ['invalid-color']],
    ['aliases: a, b', { aliases: ['a', 'b'] }, []],
    ['aliases: 3', {}, []],
    ['note: 1', { extra: { note: 1 } }, ['unknown-field']],
    ['Description: Another', { extra: { Description: 'Another' } }, ['unknown-field']],
  ])('%s', async (line, fields, expected) => {
    const agent = await readOne(muster.agents, agentFile(...HEAD, line));
    expect(agent).toEqual({ ...PLAIN, ...fields, problems: expect.any(Array) });
    expect(codes(agent)).toEqual(expected);
  });

  test('a name is taken as written, without control characters, on one line', async () => {
    const agent = await readOne(
      muster.agents,
      agentFile('name: "My\\n \\e[2JTester"', 'description: T'),
    );
    expect(agent.name).toBe('My Tester');
  });

  test('a literal \\n in a description is a line end, and a missing description is reported', async () => {
    const agent = await readOne(muster.agents, agentFile('name: a', 'description: One.\\nTwo.'));
    expect(agent.description).toBe('One.\nTwo.');
    const bare = await readOne(muster.agents, agentFile('model: fast'));
    expect([bare.name, bare.description, codes(bare)]).toEqual([
      'tester',
      '',
      ['name-from-filename', 'missing-description'],
    ]);
  });
});

describe('files without an agent', () => {
  test.each([
    ['/agents/README.md', '# Agents\n', 'not-an-agent', undefined],
    ['/agents/notes.md', 'Some notes.\n', 'frontmatter-missing', undefined],
    ['/agents/empty.md', '', 'frontmatter-missing', undefined],
    ['/agents/open.md', '---\nname: a\n', 'front-matter-unclosed', 1],
  ])('%s', async (path, text, code, line) => {
    expect(await read(muster.agents, text, path)).toEqual({
      items: [],
      problems: [
        { code, message: expect.any(String), path, ...(line === undefined ? {} : { line }) },
      ],
    });
  });
});

describe('--agents', () => {
  test('reads Claude Code’s JSON; the key is the name', () => {
    const json = JSON.stringify({
      one: {
        name: 'other',
        description: 'Does.',
        prompt: ' Do.\r\nIt. ',
        tools: ['Read', 'Fly'],
        model: 'haiku',
        permissionMode: 'dontAsk',
        maxTurns: 3,
      },
    });
    expect(parseSessionAgents(json)).toEqual({
      items: [
        {
          ...PLAIN,
          name: 'one',
          description: 'Does.',
          prompt: 'Do.\nIt.',
          tools: { mode: 'allow', names: ['Read'] },
          model: 'haiku',
          permissionMode: 'dontAsk',
          mode: 'default',
          refusesQuestions: true,
          limits: { maxTurns: 3 },
          origin: { scope: 'session', vendor: 'claude', path: 'session:one' },
          problems: [
            {
              code: 'unknown-tool',
              message: 'Unknown tool `Fly`; it is left out.',
              tool: 'Fly',
              path: 'session:one',
            },
          ],
        },
      ],
      problems: [],
    });
  });

  test.each([
    ['{', 'session:', 'not valid JSON'],
    ['[]', 'session:', 'must be a JSON object'],
    ['null', 'session:', 'must be a JSON object'],
    ['{"a": 1}', 'session:a', '`a` must be an object'],
    ['{"a": {"prompt": " "}}', 'session:a', '`prompt`'],
    ['{"__proto__": {"prompt": 1}}', 'session:__proto__', '`prompt`'],
  ])('%s is reported', (json, path, message) => {
    expect(parseSessionAgents(json)).toEqual({
      items: [],
      problems: [
        { code: 'invalid-session-agent', message: expect.stringContaining(message), path },
      ],
    });
  });
});

test('a __proto__ field is dropped', async () => {
  const agent = await readOne(
    claude.agents,
    agentFile(...HEAD, '__proto__: {polluted: "yes"}', 'x: 1'),
  );
  expect(Object.keys(agent.extra)).toEqual(['x']);
  expect('polluted' in agent.extra).toBe(false);
});

test('quoted texts are short and cannot control a terminal, and the number of problems is limited', async () => {
  const long = await readOne(
    claude.agents,
    agentFile(...HEAD, `tools: "\\e[2J${'x'.repeat(10_000)}"`),
  );
  for (const { message } of long.problems) {
    expect(message.length).toBeLessThanOrEqual(420);
    expect(message).not.toContain('\u001b');
  }
  const unknown = Array.from({ length: 5000 }, (_, index) => `t${index}`).join(', ');
  const many = await readOne(claude.agents, agentFile(...HEAD, `tools: ${unknown}`));
  expect([many.problems.length, codes(many).at(-1)]).toEqual([100, 'too-many-problems']);
});
