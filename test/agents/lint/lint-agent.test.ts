import { loadBuiltinAgents } from '../../../src/agents/builtin.ts';
import { claude, muster } from '../../../src/agents/formats/vendors.ts';
import { describe, expect, it } from 'vitest';
import type { LintContext } from '../../../src/agents/lint/findings.ts';
import { lintAgent } from '../../../src/agents/lint/lint-agent.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import { agentFile, readOne } from '../support.ts';

const PLAIN: LintContext = {
  text: null,
  effectiveMode: 'default',
  parentMode: 'default',
  model: { warning: null, isConfigured: true },
  secrets: [],
  outputSchemaProblem: null,
  missingDelegates: [],
  shadowedBy: null,
  clash: null,
  shadows: [],
};
const USE = 'description: Reviews migrations. Use after a change to the schema.';

/** `severity line code` of all findings, in order. */
async function lint(
  lines: readonly string[],
  context: Partial<LintContext> = {},
  format = muster.agents,
): Promise<readonly string[]> {
  const text = agentFile(...lines);
  const agent = await readOne(format, text);
  return lintAgent(agent, { ...PLAIN, text, ...context }).map(
    ({ severity, line, code }) => `${severity} ${line ?? '-'} ${code}`,
  );
}

async function agentNamed(name: string, path: string): Promise<AgentDefinition> {
  const agent = await readOne(muster.agents, agentFile(`name: ${name}`));
  const scope = path.startsWith('builtin:') ? 'builtin' : 'user';
  return { ...agent, origin: { scope, vendor: 'muster', path } };
}

describe('lintAgent', () => {
  it('reports nothing about the built-in agents', async () => {
    const agents = await loadBuiltinAgents();
    expect(
      agents.flatMap((agent) =>
        lintAgent(agent, { ...PLAIN, effectiveMode: agent.mode ?? 'default' }),
      ),
    ).toEqual([]);
  });

  it('gives the line, the problem and the advice', async () => {
    const text = agentFile('name: a', USE, 'tools: Read, Gerp');
    const agent = await readOne(muster.agents, text);
    expect(lintAgent(agent, { ...PLAIN, text })).toEqual([
      {
        code: 'unknown-tool',
        severity: 'warning',
        path: '/agents/tester.md',
        line: 4,
        agent: 'a',
        message: 'Unknown tool `Gerp`; it is left out.',
        fix: "Write Muster's name of the tool, or remove it.",
      },
    ]);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ['nothing is wrong', ['name: a', USE, 'tools: Read'], []],
    ['no description', ['name: a'], ['warning - missing-description']],
    ['an empty one', ['name: a', 'description: ""'], ['warning 3 missing-description']],
    [
      'the name again',
      ['name: Rust Expert', 'description: rust-expert'],
      ['warning 3 vague-description'],
    ],
    ['very short', ['name: a', 'description: Knows Rust'], ['warning 3 vague-description']],
    [
      'no verb',
      ['name: a', 'description: Senior Rust backend expert'],
      ['warning 3 vague-description'],
    ],
    ['a verb', ['name: a', 'description: Optimizes slow SQL queries'], []],
    ['when to use it', ['name: a', 'description: The expert for slow queries'], []],
    ['another language', ['name: a', 'description: Prüft alle Änderungen am Schema'], []],
    ['another script', ['name: a', 'description: 审查数据库迁移和模式更改'], []],
    ['a short one in it', ['name: a', 'description: 审查'], ['warning 3 vague-description']],
    ['a very long one', ['name: a', `${USE} ${'x'.repeat(2100)}`], ['note 3 long-description']],
    [
      'broken YAML',
      ['name: a', 'description: Use: for: this and that'],
      ['warning 3 invalid-yaml'],
    ],
    ['a key twice', ['name: a', USE, 'color: red', 'color: blue'], ['warning 5 duplicate-key']],
    ['no name', [USE], ['note - name-from-filename']],
    [
      'no tools that are known',
      ['name: a', USE, 'tools: Foo'],
      ['warning 4 unknown-tool', 'error 4 no-known-tools'],
    ],
    ['no tools', ['name: a', USE, 'tools: []'], ['note 4 no-tools']],
    ['unreadable tools', ['name: a', USE, 'tools: 7'], ['error 4 invalid-tools']],
    [
      'fields that change what it does, and others',
      ['name: a', USE, 'response: x', 'x: 1', 'retry: x', 'y: 2'],
      ['warning 4 inactive-field', 'note 5 unknown-field', 'warning 6 inactive-field'],
    ],
  ])('%s', async (_, lines, expected) => {
    expect(await lint(lines)).toEqual(expected);
  });

  it.each<[string, readonly string[], boolean]>([
    ['only reads and has all tools', ['description: Only reads code for questions'], true],
    [
      'only reads, in plan mode',
      ['description: Only reads code for questions', 'mode: plan'],
      false,
    ],
    ['never edits, and has Bash', ['description: Never edits files', 'tools: Read, Bash'], true],
    [
      'never edits, all but writing',
      ['description: Never edits files', 'disallowedTools: Write, Edit, Bash'],
      false,
    ],
    ['reviews, with Bash', ['description: Reviews a diff for bugs', 'tools: Read, Bash'], false],
    ['reviews, with Write', ['description: Reviews a diff for bugs', 'tools: Read, Write'], true],
    [
      'reviews and fixes',
      ['description: Reviews a diff and fixes bugs', 'tools: Read, Write'],
      false,
    ],
    [
      'only reads, but just in an example',
      ['description: Implements plans <example>without changing it</example>', 'tools: Write'],
      false,
    ],
    ['does not change itself', ['description: Tests what is not changed', 'tools: Write'], false],
    ['writes', ['description: Implements what a plan says', 'tools: Read, Write'], false],
  ])('too wide tools: %s', async (_, lines, expected) => {
    const front = ['name: a', ...lines].map((line) => line.replace(/^mode:/, 'permissionMode:'));
    const codes = (await lint(front)).filter((each) => each.endsWith('too-wide-tools'));
    expect(codes.length > 0).toBe(expected);
  });

  it('reports an empty prompt', async () => {
    const agent = await readOne(muster.agents, `---\nname: a\n${USE}\n---\n`);
    expect(lintAgent(agent, PLAIN).map(({ code }) => code)).toEqual(['empty-prompt']);
  });

  it('reports a mode that the agent will not get', async () => {
    const lines = ['name: a', USE, 'permissionMode: bypassPermissions'];
    expect(await lint(lines, {}, claude.agents)).toEqual(['note 4 mode-not-granted']);
    expect(await lint(lines, { effectiveMode: 'autonomous' }, claude.agents)).toEqual([]);
  });

  it('reports an unknown model, as a note if no provider is configured', async () => {
    const lines = ['name: a', USE, 'model: big-1'];
    const warning = 'a asks for the model "big-1", which is not usable';
    const told = (isConfigured: boolean) => lint(lines, { model: { warning, isConfigured } });
    expect(await told(true)).toEqual(['warning 4 unknown-model']);
    expect(await told(false)).toEqual(['note 4 unknown-model']);
  });

  it('reports a secret without its text', async () => {
    const secrets = [{ line: 7, what: 'a key' }];
    expect(await lint(['name: a', USE], { secrets })).toEqual(['error 7 secret']);
  });

  it('reports an agent to delegate to that does not exist', async () => {
    const lines = ['name: a', USE, 'delegates-to: [Explore, nobody]'];
    expect(await lint(lines, { missingDelegates: ['nobody'] })).toEqual([
      'warning 4 unknown-agent',
    ]);
  });

  it('reports an agent that cannot be started', async () => {
    const agent = await readOne(muster.agents, agentFile('name: a', USE));
    const findings = lintAgent({ ...agent, unusable: 'It is remote.' }, PLAIN);
    expect(findings).toMatchObject([
      { code: 'unusable', severity: 'error', message: 'It cannot be started: It is remote.' },
    ]);
  });

  it.each([
    ['a2a: https://far.example/card', []],
    ['a2a: {card: https://far.example/card, auth: {type: apiKey, key: $KEY}}', []],
    ['a2a: {card: http://127.0.0.1:4000/card, auth: {type: apiKey, key: $KEY}}', []],
    [
      'a2a: {card: http://far.example/card, auth: {type: apiKey, key: $KEY}}',
      ['warning 4 plain-http'],
    ],
    ['a2a: far.example', ['error 4 invalid-remote']],
  ])('%s, without a prompt', async (line, findings) => {
    const text = agentFile('name: a', USE, line).replace('Test.', '');
    const agent = await readOne(muster.agents, text);
    const shown = lintAgent(agent, { ...PLAIN, text })
      .filter(({ code }) => code !== 'empty-prompt')
      .map((each) => `${each.severity} ${each.line ?? '-'} ${each.code}`);
    expect(shown).toEqual(findings);
    expect(
      agent.remote === undefined ||
        lintAgent(agent, PLAIN).every(({ code }) => code !== 'empty-prompt'),
    ).toBe(true);
  });

  it('reports agents with the same name', async () => {
    const lines = ['name: a', USE];
    const beside = await agentNamed('A', '/agents/b.md');
    const elsewhere = await agentNamed('A', '/other/b.md');
    const builtin = await agentNamed('A', 'builtin:a');
    expect(await lint(lines, { shadowedBy: beside })).toEqual(['warning 2 same-name']);
    expect(await lint(lines, { shadowedBy: elsewhere })).toEqual(['note 2 shadowed']);
    expect(await lint(lines, { shadows: [builtin, elsewhere] })).toEqual([
      'note 2 replaces-built-in',
    ]);
    expect(await lint(lines, { clash: '`a` means `A`.' })).toEqual(['warning 2 id-clash']);
    expect(lintAgent(builtin, { ...PLAIN, shadowedBy: elsewhere })).toMatchObject([
      { code: 'missing-description' },
    ]);
  });
});
