import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { opencodeFormat } from '../../../src/agents/formats/opencode.ts';
import type { JudgedCall } from '../../../src/policy/call.ts';
import { attenuate } from '../../../src/policy/attenuate.ts';
import { decide } from '../../../src/policy/decide.ts';
import { nameCovers } from '../../../src/policy/tool-cover.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import type { Verdict } from '../../../src/protocol/permission.ts';
import { bash, call, edit, FACTS, fetchFrom, read, rights, spawn } from '../../policy/support.ts';
import { codes } from '../support.ts';

const ACTIONS = ['allow', 'ask', 'deny'] as const;
type Patterns = Readonly<Record<string, Verdict>>;
type Permissions = Readonly<Record<string, Verdict | Patterns>>;

async function agentWith(entry: object): Promise<AgentDefinition> {
  const text = JSON.stringify({
    agent: { worker: { description: 'Works.', prompt: 'x', ...entry } },
  });
  const { items } = await opencodeFormat.read({ path: '/p/opencode.json', scope: 'user', text });
  if (items[0] === undefined) throw new Error('no agent');
  return items[0];
}

/** What of an agent its permissions decide. */
async function outcome(entry: object): Promise<object> {
  const agent = await agentWith(entry);
  const { tools, disallowedTools, rules, delegatesTo } = agent;
  return { tools, disallowedTools, rules, delegatesTo, codes: codes(agent) };
}

const ALL = { mode: 'all', names: [] };
const denied = (...names: string[]): object => ({ mode: 'deny', names });
const only = (...names: string[]): object => ({ mode: 'allow', names });
const rule = (ask: string[], deny: string[] = []): object => ({ ask, deny });

test.each<[string, object, object]>([
  ['nothing', {}, { tools: ALL }],
  ['all that is allowed', { permission: { edit: 'allow', '*': 'allow' } }, { tools: ALL }],
  [
    'denied tools',
    { permission: { bash: 'deny', webfetch: 'deny', task: 'deny' } },
    { tools: denied('Bash', 'Task', 'WebFetch') },
  ],
  [
    'any one word for changes',
    { permission: { patch: 'deny', edit: 'allow' } },
    { tools: denied('Edit', 'Write') },
  ],
  [
    'a tool that is asked about',
    { permission: { edit: 'ask', bash: 'ask' } },
    { tools: ALL, rules: rule(['Edit', 'Bash']) },
  ],
  ['one word for everything', { permission: 'deny' }, { tools: only(), codes: ['no-tools'] }],
  [
    'everything but some',
    { permission: { '*': 'deny', read: 'allow', grep: 'ask', 'gh_*': 'allow' } },
    { tools: only('Read', 'Grep', 'mcp__gh__*'), rules: rule(['Grep']) },
  ],
  [
    'what comes later',
    { permission: { bash: 'allow', '*': 'deny', read: 'allow' } },
    { tools: only('Read') },
  ],
  [
    'wildcards for tools',
    { permission: { 'web*': 'deny' } },
    { tools: denied('WebFetch', 'WebSearch', 'mcp__web*') },
  ],
  [
    'switches',
    { tools: { write: false, bash: true, 'gh*': false } },
    { tools: denied('Edit', 'Write', 'mcp__gh*') },
  ],
  ['switches all off but some', { tools: { '*': false, read: true } }, { tools: only('Read') }],
  [
    'a permission over a switch',
    { tools: { bash: false }, permission: { bash: 'ask' } },
    { tools: ALL, rules: rule(['Bash']) },
  ],
  [
    'another word for permissions beside them, which only narrows',
    { tools: { bash: false }, permissions: { bash: 'allow', read: 'deny' } },
    { tools: denied('Bash', 'Read') },
  ],
  [
    'newer lists',
    {
      permissions: [
        { action: 'shell', resource: 'git push *', effect: 'deny' },
        { action: 'edit', resource: '*', effect: 'ask' },
        { action: 'subagent', resource: '*', effect: 'deny' },
      ],
    },
    { tools: denied('Task'), rules: rule(['Edit'], ['Bash(git push *)']) },
  ],
  [
    'patterns that deny and ask',
    { permission: { bash: { 'git push *': 'ask', 'rm *': 'deny' } } },
    { tools: ALL, rules: rule(['Bash(git push *)'], ['Bash(rm *)']) },
  ],
  [
    'a denying default with exceptions is asked about',
    { permission: { edit: { '*': 'deny', 'docs/*.md': 'allow' } } },
    { tools: ALL, rules: rule(['Edit']), codes: ['permission-patterns'] },
  ],
  [
    'an asking default with exceptions',
    { permission: { bash: { '*': 'ask', 'git status': 'allow', 'rm *': 'deny' } } },
    { tools: ALL, rules: rule(['Bash'], ['Bash(rm *)']), codes: ['permission-patterns'] },
  ],
  [
    'a denying default without',
    { permission: { bash: { '*': 'deny' } } },
    { tools: ALL, rules: rule([], ['Bash']) },
  ],
  [
    'a default that comes last',
    { permission: { task: { helper: 'allow', '*': 'deny' } } },
    { tools: ALL, rules: rule([], ['Task']) },
  ],
  [
    'agents by name',
    { permission: { task: { '*': 'deny', helper: 'allow', tester: 'ask', old: 'deny' } } },
    { tools: ALL, rules: rule(['Task(tester)']), delegatesTo: ['helper', 'tester'] },
  ],
  [
    'agents by pattern',
    { permission: { task: { '*': 'deny', 'team-*': 'allow' } } },
    { tools: ALL, rules: rule(['Task']), codes: ['permission-patterns'] },
  ],
  [
    'paths, wherever the workspace begins',
    {
      permission: {
        read: { '*.env': 'deny', 'src/*.ts': 'ask', '~/x/*': 'deny', '/etc/*': 'deny' },
      },
    },
    {
      tools: ALL,
      rules: rule(['Read(//**/src/**/*.ts)'], ['Read(//**/*.env)', 'Read(~/x/*)', 'Read(//etc/*)']),
    },
  ],
  [
    'what no rule can say is meant of the whole tool',
    { permission: { grep: { 'pass*': 'deny' }, webfetch: { 'https://a.example/*': 'deny' } } },
    {
      tools: ALL,
      rules: rule([], ['Grep', 'WebFetch(domain:a.example)']),
      codes: ['permission-patterns'],
    },
  ],
  [
    'commands that are no plain words are looked for in the line',
    {
      permission: {
        bash: { 'echo "x"*': 'deny', 'A=1 b': 'deny', 'a * b *': 'deny', '?s:*': 'deny' },
      },
    },
    {
      tools: ALL,
      rules: rule([], ['Bash(*echo*"x"*)', 'Bash(*A=1*b*)', 'Bash(a * b*)', 'Bash(*s*)']),
    },
  ],
  [
    'no permission at all',
    { permission: { bash: 'sometimes' } },
    { tools: denied('Bash'), codes: ['invalid-permission'] },
  ],
  [
    'unknown names',
    { permission: { flying: 'deny', doom_loop: 'deny', external_directory: 'deny' } },
    { tools: ALL, codes: ['unknown-tool', 'permission-patterns'] },
  ],
  [
    'a list of tools and permissions',
    { tools: ['Read', 'Bash'], permission: { bash: 'deny' } },
    { tools: only('Read', 'Bash'), disallowedTools: ['Bash'] },
  ],
])('%s', async (_, entry, expected) => {
  expect(await outcome(entry)).toEqual({
    disallowedTools: [],
    rules: undefined,
    delegatesTo: undefined,
    codes: [],
    ...expected,
  });
});

test("a file's permissions for all of its agents hold for each, but for what that one says", async () => {
  const text = JSON.stringify({
    permission: { bash: 'deny', edit: 'ask' },
    agent: {
      a: { prompt: 'x', description: 'd' },
      b: { prompt: 'x', description: 'd', permission: { bash: 'allow' } },
    },
  });
  const { items } = await opencodeFormat.read({ path: '/p/opencode.json', scope: 'user', text });
  expect(items.map(({ tools, rules }) => [tools, rules])).toEqual([
    [ALL, { ask: ['Edit'], deny: ['Bash'] }],
    [ALL, { ask: ['Edit'], deny: [] }],
  ]);
});

/** opencode's own reading: the last line that matches decides. */
function theirs(permissions: Permissions, permission: string, input: string): Verdict {
  const lines = Object.entries(permissions).flatMap(([key, value]) =>
    typeof value === 'string'
      ? [{ key, pattern: '*', action: value }]
      : Object.entries(value).map(([pattern, action]) => ({ key, pattern, action })),
  );
  const last = lines.findLast(({ key, pattern }) => fits(key, permission) && fits(pattern, input));
  return last?.action ?? 'allow';
}

function fits(pattern: string, input: string): boolean {
  const escaped = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${escaped.replace(/ \.\*$/, '( .*)?')}$`, 's').test(input);
}

interface Asked {
  readonly permission: string;
  readonly input: string;
  readonly made: JudgedCall;
}

const COMMANDS = [
  'git push origin',
  'git push',
  'git status',
  'rm -rf x',
  'npm test',
  'git log --oneline x',
  'echo "a b"',
];
const PATHS = [
  'a.ts',
  'src/a.ts',
  'src/deep/b.ts',
  '.npmrc',
  'src/x.key',
  'docs/x.md',
  'plan/a/b.md',
  'README.md',
];
const AGENTS = ['helper', 'team-a', 'team-b'];

const CALLS: readonly Asked[] = [
  ...COMMANDS.map((input) => ({ permission: 'bash', input, made: bash(input) })),
  ...PATHS.map((input) => ({ permission: 'edit', input, made: edit(input) })),
  ...PATHS.map((input) => ({ permission: 'read', input, made: read(input) })),
  ...AGENTS.map((input) => ({ permission: 'task', input, made: spawn(input) })),
  { permission: 'webfetch', input: 'https://a.example/x', made: fetchFrom('a.example') },
  { permission: 'webfetch', input: 'http://b.example/', made: fetchFrom('b.example') },
  { permission: 'gh_read', input: '*', made: call('mcp__gh__read', 'execute') },
];

const PATTERNS = [
  ...COMMANDS,
  'git *',
  'git push*',
  'git push *',
  'rm *',
  'git log --*',
  '?it status',
  '*x',
  'git * origin',
  'echo "*',
  '*"*',
  'g* p*',
  '*',
  '**',
  '**/*',
  '*.md',
  'src/*',
  'src/*.ts',
  '**/*.key',
  'plan/**/*.md',
  '*.key',
  'src/*/b.ts',
  'd?cs/*',
  '*deep*',
  'src/a.ts',
  's*a*',
  'helper',
  'team-*',
  'team-?',
  'https://*',
  'https://a.example/*',
  'http://b.example/',
];
const KEYS = [
  '*',
  'bash',
  'edit',
  'read',
  'task',
  'webfetch',
  'web*',
  '?ead',
  'gh_*',
  'gh_read',
  'g*',
  'write',
];

const anyAction = fc.constantFrom(...ACTIONS);
const anyPermissions: fc.Arbitrary<Permissions> = fc.dictionary(
  fc.constantFrom(...KEYS),
  fc.oneof(anyAction, fc.dictionary(fc.constantFrom(...PATTERNS), anyAction, { maxKeys: 5 })),
  { maxKeys: 5 },
);

function ours(agent: AgentDefinition, { made }: Asked): Verdict {
  const { tools, delegatesTo } = agent;
  const isListed =
    tools.mode !== 'allow' || tools.names.some((name) => nameCovers(name, made.tool));
  const { agent: named } = made.access;
  if (!isListed || (named !== undefined && delegatesTo?.includes(named) === false)) return 'deny';
  return decide(made, attenuate(rights('autonomous'), agent), FACTS).verdict;
}

const RANK = { deny: 0, ask: 1, allow: 2 };

test('what opencode asks about is never allowed, and what it denies is denied, or asked about where the default denies', async () => {
  await fc.assert(
    fc.asyncProperty(anyPermissions, fc.constantFrom(...CALLS), async (permission, asked) => {
      const agent = await agentWith({ permission });
      const their = theirs(permission, asked.permission, asked.input);
      const our = ours(agent, asked);
      const byDefault = theirs(permission, asked.permission, '\u0001') === 'deny';
      expect(RANK[our]).toBeLessThanOrEqual(RANK[their === 'deny' && byDefault ? 'ask' : their]);
    }),
    { numRuns: 500 },
  );
});
