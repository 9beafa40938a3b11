import { AGENTS } from '../../../src/agents/kinds.ts';
import { discoverDefinitions, type DiscoverOptions } from '../../../src/agents/loader/discover.ts';
import type { DiscoveryResult } from '../../../src/agents/loader/discovery-result.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseSessionAgents } from '../../../src/agents/formats/claude/reader.ts';
import { TRUST_ALL, TRUST_NOTHING } from '../../../src/sys/files/project-file.ts';
import { agentFile, workTree } from '../support.ts';

const BUILTIN = ['Explore', 'Plan', 'Bash', 'Review', 'Summary', 'general-purpose'];

let tree: ReturnType<typeof workTree>;
beforeEach(() => {
  tree = workTree({ 'repo/.git/HEAD': '', 'repo/sub/deep/x': '', 'home/x': '' });
});
afterEach(() => tree.remove());

function discover(
  options: Partial<DiscoverOptions<AgentDefinition>> = {},
): Promise<DiscoveryResult<AgentDefinition>> {
  return discoverDefinitions(AGENTS, {
    cwd: tree.path('repo/sub/deep'),
    environment: { HOME: tree.path('home') },
    trust: TRUST_ALL,
    ...options,
  });
}

function put(path: string, name: string): void {
  tree.write(path, agentFile(`name: ${name}`, 'description: Tests.'));
}

/** Paths of the agents that are no built-in ones, within the tree. */
function found({ items: agents }: DiscoveryResult<AgentDefinition>): readonly string[] {
  return agents
    .map(({ origin }) => origin.path.replace(`${tree.root}/`, ''))
    .filter((path) => !path.startsWith('builtin:'));
}

function skipped(result: DiscoveryResult<AgentDefinition>): readonly (readonly [string, string])[] {
  return result.skipped.map(({ path, code }) => [path.replace(`${tree.root}/`, ''), code]);
}

test('finds the built-in agents if there are no directories', async () => {
  const result = await discover();
  expect({ ...result, items: result.items.map(({ name }) => name) }).toEqual({
    items: BUILTIN,
    shadowed: [],
    skipped: [],
    problems: [],
  });
});

test('agents are searched in order, the nearest project directory first', async () => {
  const places = [
    'repo/sub/deep/.muster/agents',
    'repo/sub/.muster/agents',
    'repo/.muster/agents',
    'home/.config/muster/agents',
    'repo/sub/deep/.gen/agents',
    'repo/.gen/agents',
    'home/.gen/agents',
    'repo/sub/.claude/agents',
    'repo/.claude/agents',
    'home/.claude/agents',
  ].map((directory, index) => [`${directory}/same.md`, `${directory}/own${index}.md`] as const);
  for (const [index, [same, own]] of places.entries()) {
    put(same, index % 2 === 0 ? 'same' : 'SAME');
    put(own, `own${index}`);
  }
  put('.muster/agents/above-the-root.md', 'above');
  const result = await discover();
  expect(found(result)).toEqual(
    places.flatMap(([same, own], index) => (index === 0 ? [own, same] : [own])),
  );
  expect(result.shadowed.map(({ item: agent, by }) => [agent.origin.path, by])).toEqual(
    places.slice(1).map(([same]) => [tree.path(same), tree.path(places[0]![0])]),
  );
});

test('data/subagents has precedence over subagents', async () => {
  put('repo/subagents/look/SUBAGENT.md', 'look');
  put('repo/subagents/more/SUBAGENT.md', 'more');
  put('repo/subagents/more/other.md', 'other');
  put('repo/data/subagents/look/SUBAGENT.md', 'look');
  const result = await discover();
  expect(found(result)).toEqual([
    'repo/data/subagents/look/SUBAGENT.md',
    'repo/subagents/more/SUBAGENT.md',
  ]);
  expect(result.shadowed.map(({ item: agent }) => agent.origin.path)).toEqual([
    tree.path('repo/subagents/look/SUBAGENT.md'),
  ]);
});

test('session agents go first, and XDG_CONFIG_HOME is followed', async () => {
  put('config/muster/agents/a.md', 'a');
  put('home/.config/muster/agents/b.md', 'b');
  const session = parseSessionAgents('{"A": {"prompt": "Session."}}').items;
  const environment = { HOME: tree.path('home'), XDG_CONFIG_HOME: tree.path('config') };
  const result = await discover({ environment, session });
  expect(found(result)).toEqual(['session:A']);
  expect(result.shadowed.map(({ by }) => by)).toEqual(['session:A']);
  const relative = await discover({ environment: { ...environment, XDG_CONFIG_HOME: 'config' } });
  expect(found(relative)).toEqual(['home/.config/muster/agents/b.md']);
});

test('a trusted project file shadows the built-in agent with the same name', async () => {
  put('repo/.claude/agents/explore.md', 'explore');
  const result = await discover();
  expect(result.shadowed.map(({ item: agent, by }) => [agent.origin.path, by])).toEqual([
    ['builtin:explore', tree.path('repo/.claude/agents/explore.md')],
  ]);
});

test('an untrusted project is listed and not read', async () => {
  put('repo/.claude/agents/explore.md', 'explore');
  tree.write('repo/.claude/agents/broken.md', Buffer.from([0xff, 0]));
  put('home/.claude/agents/mine.md', 'mine');
  const result = await discover({ trust: TRUST_NOTHING });
  expect(found(result)).toEqual(['home/.claude/agents/mine.md']);
  expect(skipped(result)).toEqual([
    ['repo/.claude/agents/broken.md', 'untrusted'],
    ['repo/.claude/agents/explore.md', 'untrusted'],
  ]);
  expect([result.shadowed, result.problems]).toEqual([[], []]);
});

test('outside a repository only the directory itself is the project', async () => {
  put('plain/.claude/agents/a.md', 'a');
  put('plain/sub/.claude/agents/b.md', 'b');
  expect(found(await discover({ cwd: tree.path('plain/sub') }))).toEqual([
    'plain/sub/.claude/agents/b.md',
  ]);
});

test('a home directory that is a repository is still the user’s own', async () => {
  tree.write('home/.git/HEAD', '');
  put('home/.claude/agents/mine.md', 'mine');
  const result = await discover({ cwd: tree.path('home'), trust: TRUST_NOTHING });
  expect(result.items[0]?.origin).toEqual({
    scope: 'user',
    vendor: 'claude',
    path: tree.path('home/.claude/agents/mine.md'),
  });
});

test('files below directories are found, in the order of their paths', async () => {
  put('home/.claude/agents/z.md', 'z');
  put('home/.claude/agents/b/c/d.md', 'd');
  put('home/.claude/agents/a.txt', 'a');
  put('home/.claude/agents/node_modules/x.md', 'x');
  expect(found(await discover())).toEqual([
    'home/.claude/agents/b/c/d.md',
    'home/.claude/agents/z.md',
  ]);
});

describe('hostile trees', () => {
  test('files that cannot be agents are skipped, and the others load', async () => {
    const at = (name: string): string => `home/.claude/agents/${name}`;
    put(at('good.md'), 'good');
    tree.write(at('binary.md'), Buffer.from('---\nname: b\0\n---\n'));
    tree.write(at('latin1.md'), Buffer.from('---\nname: \xe9\n---\n', 'latin1'));
    tree.write(at('large.md'), Buffer.alloc(5 * 1024 * 1024, 'a'));
    tree.write(at('README.md'), '# Agents');
    tree.write(at('open.md'), '---\nname: a\n');
    mkdirSync(tree.path(at('dir.md')));
    execFileSync('mkfifo', [tree.path(at('pipe.md'))]);
    const result = await discover();
    expect(found(result)).toEqual([at('good.md')]);
    const failed = [
      [at('binary.md'), 'binary'],
      [at('large.md'), 'too-large'],
      [at('latin1.md'), 'not-utf8'],
      [at('open.md'), 'front-matter-unclosed'],
    ];
    expect(skipped(result).toSorted()).toEqual(
      [...failed, [at('README.md'), 'not-an-agent'], [at('pipe.md'), 'not-a-file']].toSorted(),
    );
    expect(
      result.problems.map(({ path, code }) => [path.replace(`${tree.root}/`, ''), code]),
    ).toEqual(failed);
  });

  test('a link is followed, but not out of the tree', async () => {
    put('outside/secret.md', 'secret');
    put('outside/dir/more.md', 'more');
    put('repo/docs/shared.md', 'shared');
    put('repo/.claude/agents/own.md', 'own');
    const link = (target: string, name: string): void =>
      symlinkSync(target, tree.path('repo/.claude/agents', name));
    link(tree.path('outside/secret.md'), 'secret.md');
    link(tree.path('outside/dir'), 'dir');
    link('../../docs/shared.md', 'inside.md');
    link('.', 'loop');
    link('nowhere', 'broken.md');
    const result = await discover();
    expect(found(result)).toEqual(['repo/.claude/agents/inside.md', 'repo/.claude/agents/own.md']);
    expect(skipped(result)).toEqual([
      ['repo/.claude/agents/broken.md', 'broken-link'],
      ['repo/.claude/agents/dir', 'link-outside'],
      ['repo/.claude/agents/secret.md', 'link-outside'],
    ]);
  });

  test('a project directory that is itself a link out is not entered', async () => {
    put('outside/agents/a.md', 'a');
    symlinkSync(tree.path('outside'), tree.path('repo/.claude'));
    const result = await discover();
    expect([found(result), skipped(result)]).toEqual([
      [],
      [['repo/.claude/agents', 'link-outside']],
    ]);
  });

  test('depth is limited', async () => {
    const deep = 'home/.claude/agents/1/2/3/4/5/6/7/8';
    put(`${deep}/in.md`, 'in');
    put(`${deep}/9/out.md`, 'out');
    const result = await discover();
    expect([found(result), skipped(result)]).toEqual([
      [`${deep}/in.md`],
      [[`${deep}/9`, 'too-deep']],
    ]);
  });
});

test('an entry that only changes an agent of another product shadows nothing', async () => {
  tree.write('repo/opencode.json', '{"agent": {"plan": {"model": "some/model"}}}');
  const { items: agents, shadowed } = await discover({ trust: TRUST_ALL });
  expect(agents.find(({ name }) => name === 'Plan')?.origin.scope).toBe('builtin');
  expect(shadowed.map(({ item: agent, by }) => [agent.origin.path, by])).toEqual([
    [tree.path('repo/opencode.json'), 'builtin:plan'],
  ]);
});
