import { opencode } from '../../../src/agents/formats/vendors.ts';
import { expect, test } from 'vitest';
import { codes, opencodeAgent } from '../support.ts';

/** What of an agent its permissions decide. */
async function outcome(entry: object): Promise<object> {
  const agent = await opencodeAgent(entry);
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
    'a single word for changes',
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
    'a later entry',
    { permission: { bash: 'allow', '*': 'deny', read: 'allow' } },
    { tools: only('Read') },
  ],
  [
    'wildcards for tools',
    { permission: { 'web*': 'deny' } },
    { tools: denied('WebFetch', 'WebSearch'), disallowedTools: ['mcp__web*'] },
  ],
  [
    'switches',
    { tools: { write: false, bash: true, 'gh*': false } },
    { tools: denied('Edit', 'Write'), disallowedTools: ['mcp__gh*'] },
  ],
  ['switches all off but some', { tools: { '*': false, read: true } }, { tools: only('Read') }],
  [
    'a permission over a switch',
    { tools: { bash: false }, permission: { bash: 'ask' } },
    { tools: ALL, rules: rule(['Bash']) },
  ],
  [
    'another word for permissions next to them, which only narrows',
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
    'paths relative to the workspace, wherever it begins',
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
    'a pattern that no rule can express applies to the full tool',
    { permission: { grep: { 'pass*': 'deny' }, webfetch: { 'https://a.example/*': 'deny' } } },
    {
      tools: ALL,
      rules: rule([], ['Grep', 'WebFetch(domain:a.example)']),
      codes: ['permission-patterns'],
    },
  ],
  [
    'commands with special characters are searched for in the line',
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

test('the permissions of a file for all agents apply to each agent unless the agent sets its own', async () => {
  const text = JSON.stringify({
    permission: { bash: 'deny', edit: 'ask' },
    agent: {
      a: { prompt: 'x', description: 'd' },
      b: { prompt: 'x', description: 'd', permission: { bash: 'allow' } },
    },
  });
  const { items } = await opencode.agents.read({ path: '/p/opencode.json', scope: 'user', text });
  expect(items.map(({ tools, rules }) => [tools, rules])).toEqual([
    [ALL, { ask: ['Edit'], deny: ['Bash'] }],
    [ALL, { ask: ['Edit'], deny: [] }],
  ]);
});

test('far too many permissions deny everything, and leave agents out, in a short time', async () => {
  const many = (prefix: string, length: number, value: unknown) =>
    Object.fromEntries(Array.from({ length }, (_, at) => [`${prefix}${at}*`, value]));
  const prompt = { prompt: 'x', description: 'd' };
  const read = async (config: object) =>
    opencode.agents.read({ path: '/p/opencode.json', scope: 'user', text: JSON.stringify(config) });
  for (const own of [{ permission: many('p', 501, 'deny') }, { tools: many('p', 501, false) }]) {
    const { items } = await read({ agent: { a: { ...prompt, ...own } } });
    expect(items.map(({ tools }) => tools)).toEqual([{ mode: 'allow', names: [] }]);
  }
  const { items, problems } = await read({
    permission: many('p', 499, 'deny'),
    agent: many('a', 1_000, prompt),
  });
  expect([items.length, problems.map(({ message }) => message)]).toEqual([
    100,
    ['More than 100 agents; the others are left out.'],
  ]);
});
