import { AGENTS } from '../../../src/agents/kinds.ts';
import { discoverDefinitions } from '../../../src/agents/loader/discover.ts';
import { cursor } from '../../../src/agents/formats/vendors.ts';
import { expect, test } from 'vitest';
import { TRUST_ALL } from '../../../src/sys/files/project-file.ts';
import { agentFile, codes, plainAgent, read, readOne, workTree } from '../support.ts';

const PLAIN = plainAgent('cursor');

test('every field', async () => {
  const file = agentFile(
    'name: verifier',
    'description: Tests.',
    'model: fast',
    'readonly: true',
    'is_background: true',
  );
  expect(await readOne(cursor.agents, file)).toEqual({
    ...PLAIN,
    name: 'verifier',
    model: 'fast',
    permissionMode: 'plan',
    mode: 'plan',
    background: true,
  });
});

test('without any fields, and with both switches off', async () => {
  const off = agentFile('description: Tests.', 'readonly: false', 'is_background: false');
  expect(await readOne(cursor.agents, off)).toEqual({
    ...PLAIN,
    problems: [expect.objectContaining({ code: 'name-from-filename' })],
  });
  const bare = await readOne(cursor.agents, 'Test.\r\n');
  expect(bare).toEqual({ ...PLAIN, description: '', problems: bare.problems });
  expect(codes(bare)).toEqual(['frontmatter-missing', 'name-from-filename', 'missing-description']);
});

test.each([
  ['readonly: perhaps', { mode: 'plan' }, ['invalid-permission-mode']],
  ['is_background: perhaps', { mode: null }, ['invalid-background']],
  ['sandbox: on', { mode: null, extra: { sandbox: 'on' } }, ['unknown-field']],
])('%s', async (line, expected, told) => {
  const agent = await readOne(
    cursor.agents,
    agentFile('name: tester', 'description: Tests.', line),
  );
  expect(agent).toMatchObject(expected);
  expect([agent.background, codes(agent)]).toEqual([undefined, told]);
});

test('a document next to agents is not an agent', async () => {
  const { items, problems } = await read(
    cursor.agents,
    '# Agents\n',
    '/x/.cursor/agents/README.md',
  );
  expect([items, problems.map(({ code }) => code)]).toEqual([[], ['not-an-agent']]);
});

test('locations: its own directories, and markdown files in those of Codex', async () => {
  const tree = workTree({
    '.git/HEAD': '',
    '.cursor/agents/a.md': agentFile('description: A.'),
    '.codex/agents/b.md': 'B.',
    'home/.cursor/agents/c.md': agentFile('description: C.'),
    'home/.codex/agents/d.md': agentFile('description: D.'),
  });
  try {
    const environment = { HOME: tree.path('home') };
    const found = await discoverDefinitions(AGENTS, {
      cwd: tree.root,
      environment,
      trust: TRUST_ALL,
    });
    const own = found.items.filter(({ origin }) => origin.vendor === 'cursor');
    expect(own.map(({ name, origin }) => [name, origin.scope])).toEqual([
      ['a', 'project'],
      ['b', 'project'],
      ['c', 'user'],
      ['d', 'user'],
    ]);
  } finally {
    tree.remove();
  }
});
