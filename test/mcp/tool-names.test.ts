import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildMcpToolNames } from '../../src/mcp/tool-names.ts';

function namesOf(servers: Readonly<Record<string, readonly string[]>>) {
  const list = Object.entries(servers).map(([server, tools]) => ({
    server,
    tools,
    isOfProject: false,
  }));
  const names = buildMcpToolNames(list);
  return list.flatMap(({ server, tools }) => tools.map((tool) => names.toName({ server, tool })));
}

test.each<[string, Readonly<Record<string, readonly string[]>>, readonly string[]]>([
  [
    'plain names',
    { github: ['get_issue', 'list-repos'] },
    ['mcp__github__get_issue', 'mcp__github__list-repos'],
  ],
  ['other characters', { 'my server': ['a.b/c'] }, ['mcp__my_server__a_b_c']],
  ['`__` in a server', { a__b: ['c'], a: ['b__c'] }, ['mcp__a_b__c', 'mcp__a__b__c']],
  [
    'the name of the tool that reads resources',
    { s: ['McpResource', 'a__McpResource'] },
    ['mcp__s__McpResource_42bd352b', 'mcp__s__a__McpResource'],
  ],
  ['`_` at the ends of a server', { _a_: ['c'] }, ['mcp__a__c']],
  [
    'a collision of tools, in which the plain name is kept',
    { s: ['a_b', 'a.b', 'a b'] },
    ['mcp__s__a_b', 'mcp__s__a_b_e8fdfaed', 'mcp__s__a_b_92a3dad5'],
  ],
  [
    'a collision of servers, in which the plain name is kept',
    { a_b: ['t'], 'a.b': ['t'] },
    ['mcp__a_b__t', 'mcp__a_b_05f852d5__t'],
  ],
  ['a long tool', { s: ['x'.repeat(200)] }, [`mcp__s__${'x'.repeat(47)}_ec86a268`]],
  ['a name in another script', { 天気: ['予報'] }, ['mcp__3496d685__bb654408']],
])('the names of %s', (_, servers, expected) => {
  expect(namesOf(servers)).toEqual(expected);
});

/** Names as hostile and as similar to each other as possible. */
const anyName = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'A', '_', '-', '.', ' ', 'é', '\u202e'), maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 10 }),
  fc.string({ minLength: 60, maxLength: 200 }),
);
const anyServers = fc.uniqueArray(
  fc.record({
    server: anyName,
    isOfProject: fc.boolean(),
    tools: fc.array(anyName, { maxLength: 8 }),
  }),
  { selector: ({ server }) => server, maxLength: 6 },
);

test('every name is valid, unique and leads back to its tool', () => {
  fc.assert(
    fc.property(anyServers, (servers) => {
      const names = buildMcpToolNames(servers);
      const seen = new Map<string, string>();
      for (const { server, tools } of servers) {
        for (const tool of tools) {
          const name = names.toName({ server, tool }) ?? '';
          expect(name).toMatch(/^mcp__[\w-]+?__[\w-]+$/);
          expect(name.length).toBeLessThanOrEqual(64);
          expect(names.fromName(name)).toEqual({ server, tool });
          const key = JSON.stringify([server, tool]);
          expect(seen.get(name) ?? key).toBe(key);
          seen.set(name, key);
        }
      }
    }),
  );
});

test('the pattern for one server never matches the tools of another', () => {
  fc.assert(
    fc.property(anyServers, (servers) => {
      const names = buildMcpToolNames(servers);
      for (const { server } of servers) {
        const prefix = `mcp__${names.serverPart(server) ?? ''}__`;
        for (const other of servers) {
          for (const tool of other.tools) {
            const name = names.toName({ server: other.server, tool }) ?? '';
            expect(name.startsWith(prefix)).toBe(other.server === server);
          }
        }
      }
    }),
  );
});

test('names do not depend on the order', () => {
  fc.assert(
    fc.property(anyServers, (servers) => {
      const forward = buildMcpToolNames(servers);
      const backward = buildMcpToolNames(
        servers.toReversed().map(({ server, isOfProject, tools }) => ({
          server,
          isOfProject,
          tools: tools.toReversed(),
        })),
      );
      for (const { server, tools } of servers) {
        for (const tool of tools) {
          expect(backward.toName({ server, tool })).toBe(forward.toName({ server, tool }));
        }
      }
    }),
  );
});

test('a name that is not in the table has no tool', () => {
  const names = buildMcpToolNames([{ server: 's', isOfProject: false, tools: ['t'] }]);
  expect([
    names.fromName('mcp__s__x'),
    names.toName({ server: 'x', tool: 't' }),
    names.serverPart('x'),
  ]).toEqual([undefined, undefined, undefined]);
});

test('the servers of a project do not change the names of the others', () => {
  fc.assert(
    fc.property(anyServers, (servers) => {
      const all = buildMcpToolNames(servers);
      const users = servers.filter(({ isOfProject }) => !isOfProject);
      const alone = buildMcpToolNames(users);
      const parts = (names: typeof all) => users.map(({ server }) => names.serverPart(server));
      expect(parts(all)).toEqual(parts(alone));
    }),
  );
  const names = buildMcpToolNames([
    { server: 'my.db', isOfProject: false, tools: [] },
    { server: 'my_db', isOfProject: true, tools: [] },
  ]);
  expect([names.serverPart('my.db'), names.serverPart('my_db')]).toEqual([
    'my_db',
    expect.stringMatching(/^my_db_[0-9a-f]{8}$/),
  ]);
});
