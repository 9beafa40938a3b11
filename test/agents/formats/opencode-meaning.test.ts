import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ResolvedCall } from '../../../src/policy/call.ts';
import { attenuate } from '../../../src/policy/attenuate.ts';
import { decide } from '../../../src/policy/decide.ts';
import { nameCovers } from '../../../src/policy/rules/tool-cover.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import type { Verdict } from '../../../src/protocol/permission.ts';
import { bash, call, edit, CONTEXT, fetchFrom, read, rights, spawn } from '../../policy/support.ts';
import { opencodeAgent } from '../support.ts';

const ACTIONS = ['allow', 'ask', 'deny'] as const;
type Patterns = Readonly<Record<string, Verdict>>;
type Permissions = Readonly<Record<string, Verdict | Patterns>>;

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
  readonly made: ResolvedCall;
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
  return decide(made, attenuate(rights('autonomous'), agent), CONTEXT).verdict;
}

const RANK = { deny: 0, ask: 1, allow: 2 };

test('calls that opencode asks about are never allowed, and those that it denies are denied, or asked about if the default denies', async () => {
  await fc.assert(
    fc.asyncProperty(anyPermissions, fc.constantFrom(...CALLS), async (permission, asked) => {
      const agent = await opencodeAgent({ permission });
      const their = theirs(permission, asked.permission, asked.input);
      const our = ours(agent, asked);
      const byDefault = theirs(permission, asked.permission, '\u0001') === 'deny';
      expect(RANK[our]).toBeLessThanOrEqual(RANK[their === 'deny' && byDefault ? 'ask' : their]);
    }),
    { numRuns: 500 },
  );
});
