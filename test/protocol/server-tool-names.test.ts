import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildMcpToolNames } from '../../src/mcp/tool-names.ts';
import {
  canNameServer,
  explainServerToolName,
  matchesServerTool,
  widenToServer,
} from '../../src/protocol/server-tool-names.ts';

/** A name that could be a tool's: the server's part contains no `__` and has no `_` at its ends. */
const part = fc.stringMatching(/^[ab]([ab]|_[ab]){0,4}$/);
const toolPart = fc.stringMatching(/^[ab_]{1,5}$/);
const anyTool = fc.record({ part, tool: toolPart }).map(({ part, tool }) => ({
  part,
  name: `mcp__${part}__${tool}`,
}));
const anyPattern = fc.stringMatching(/^[ab_*]{0,10}$/).map((rest) => `mcp__${rest}`);

/** The text of a pattern as a regular expression: `*` is any text, and `mcp__S` is all of S. */
function textOf(pattern: string): RegExp {
  const isServer = !pattern.includes('*') && !pattern.slice('mcp__'.length).includes('__');
  const source = pattern.replaceAll('*', '.*') + (isServer ? '__.*' : '');
  return new RegExp(`^${source}$`);
}

describe('matchesServerTool', () => {
  test.each<[pattern: string, tool: string, widen: boolean, narrow: boolean]>([
    ['mcp__github__get_*', 'mcp__github__get_issue', true, true],
    ['mcp__github__get_*', 'mcp__github__set_issue', false, false],
    ['mcp__github__*_issue', 'mcp__github__get_issue', true, true],
    ['mcp__a', 'mcp__a__b', true, true],
    ['mcp__a', 'mcp__ab__b', false, false],
    ['mcp__a__*', 'mcp__a__b__c', true, true],
    ['mcp__a__*', 'mcp__a_b__c', false, false],
    ['mcp__a_*', 'mcp__a_b__c', true, true],
    ['mcp__a*', 'mcp__a__b', true, true],
    ['mcp__*', 'mcp__a__b', true, true],
    ['mcp__*__b', 'mcp__a__b', true, true],
    // The tool `c__b` of the server a: its text matches, but it is not a tool `b`.
    ['mcp__*__b', 'mcp__a__c__b', false, true],
    ['mcp__*delete*', 'mcp__a__delete_all', true, true],
    ['mcp__*', 'Bash', false, false],
    ['Bash', 'mcp__a__b', false, false],
    ['*', 'mcp__a__b', false, false],
    // Patterns that are covered by other patterns.
    ['mcp__a', 'mcp__a__*', true, true],
    ['mcp__a__*', 'mcp__a', true, true],
    ['mcp__*', 'mcp__a', true, true],
    ['mcp__a__x', 'mcp__a__*', false, false],
    ['mcp__a__*', 'mcp__a*', false, false],
  ])('%s covers %s: %s, %s', (pattern, tool, widen, narrow) => {
    expect([
      matchesServerTool(pattern, tool, 'widen'),
      matchesServerTool(pattern, tool, 'narrow'),
    ]).toEqual([widen, narrow]);
  });

  test('a grant covers no tool that its text does not say, and a denial covers at least these', () => {
    fc.assert(
      fc.property(anyPattern, anyTool, (pattern, { name }) => {
        fc.pre(explainServerToolName(pattern) === undefined);
        const says = textOf(pattern).test(name);
        expect(matchesServerTool(pattern, name, 'widen') && !says).toBe(false);
        expect(matchesServerTool(pattern, name, 'narrow')).toBe(says);
      }),
    );
  });

  test('a pattern for one server never grants tools of another, whatever their names', () => {
    const anyName = fc.stringMatching(/^[ab_. é-]{1,8}$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(anyName, { minLength: 2, maxLength: 2 }),
        fc.uniqueArray(anyName, { minLength: 1, maxLength: 4 }),
        anyTool,
        (servers, tools, { name }) => {
          const names = buildMcpToolNames(
            servers.map((server) => ({ server, tools, isOfProject: false })),
          );
          const [own = '', other = ''] = servers.map((server) => names.serverPart(server));
          const pattern = `mcp__${own}__${name.at(-1)}*`;
          for (const each of [`mcp__${own}`, `mcp__${own}__*`, pattern]) {
            for (const tool of tools) {
              const id = names.toName({ server: servers[1] ?? '', tool }) ?? '';
              expect([own === other, matchesServerTool(each, id, 'widen')]).toEqual([false, false]);
              expect(matchesServerTool(each, id, 'narrow')).toBe(false);
            }
          }
        },
      ),
    );
  });

  test('what covers a pattern covers all tools that the pattern covers', () => {
    const anyRange = fc.tuple(fc.nat(12), fc.nat(6));
    /** Replaces a range of a name by `*`, so that the pattern covers the name. */
    const mask = (name: string, [start, length]: readonly [number, number]): string => {
      const rest = name.slice('mcp__'.length);
      return `mcp__${rest.slice(0, start)}*${rest.slice(start + length)}`;
    };
    fc.assert(
      fc.property(
        anyTool,
        anyTool,
        fc.array(anyRange, { minLength: 1, maxLength: 2 }),
        anyRange,
        ({ name }, other, ranges, range) => {
          const inner = mask(name, range);
          const outer = ranges.reduce(mask, inner);
          for (const purpose of ['widen', 'narrow'] as const) {
            if (!matchesServerTool(outer, inner, purpose)) continue;
            for (const each of [name, other.name]) {
              if (!matchesServerTool(inner, each, purpose)) continue;
              expect(matchesServerTool(outer, each, purpose)).toBe(true);
            }
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

test('canNameServer is true for each server of which a pattern covers a tool', () => {
  fc.assert(
    fc.property(anyPattern, anyTool, (pattern, { part, name }) => {
      if (matchesServerTool(pattern, name, 'widen'))
        expect(canNameServer(pattern, part)).toBe(true);
    }),
  );
  expect(
    ['mcp__a', 'mcp__a__b', 'mcp__a*', 'mcp__*', 'mcp__*__x', 'mcp__b', 'mcp__b*', 'Bash'].map(
      (pattern) => canNameServer(pattern, 'a'),
    ),
  ).toEqual([true, true, true, true, true, false, false, false]);
});

describe('explainServerToolName', () => {
  test.each([
    ['mcp__', 'it names no server; write mcp__SERVER or mcp__SERVER__TOOL'],
    ['mcp____x', 'it names no server; write mcp__SERVER or mcp__SERVER__TOOL'],
    ['mcp__demo__', 'it names no tool; write mcp__demo for all tools of the server'],
    ['mcp__demo_', "no server's part begins or ends with _; write mcp__demo"],
    ['mcp___demo__x', "no server's part begins or ends with _; write mcp__demo__x"],
    [
      'mcp__my.server__get',
      'names of tools have only letters, digits, _ and -; write mcp__my_server__get',
    ],
    ['mcp__a__b/c', 'names of tools have only letters, digits, _ and -; write mcp__a__b_c'],
    [
      `mcp__demo__${'x'.repeat(60)}`,
      'longer names are shortened to 64 characters, 24 of them for the server; write the shortened name, which questions show, or a pattern such as mcp__demo*',
    ],
    [
      `mcp__${'s'.repeat(25)}*`,
      'longer names are shortened to 64 characters, 24 of them for the server; write the shortened name, which questions show, or a pattern such as mcp__ssssssssssss*',
    ],
  ])('%s', (name, reason) => {
    expect(explainServerToolName(name)).toBe(reason);
  });

  test('a name that is refused covers no tool of any server, and a real name is never refused', () => {
    const anyServer = fc.string({ unit: fc.constantFrom('a', '_', '.', ' ', '-'), maxLength: 30 });
    fc.assert(
      fc.property(anyServer, anyServer, anyPattern, (server, tool, pattern) => {
        const names = buildMcpToolNames([{ server, tools: [tool], isOfProject: false }]);
        const name = names.toName({ server, tool }) ?? '';
        expect(explainServerToolName(name)).toBe(undefined);
        if (explainServerToolName(pattern) === undefined) return;
        expect(matchesServerTool(pattern, name, 'widen')).toBe(false);
      }),
    );
  });
});

test.each([
  ['mcp__demo__', 'mcp__demo__*'],
  ['mcp__my.server__x', 'mcp__my_server__*'],
  ['mcp____x', 'mcp__*'],
  ['mcp__', 'mcp__*'],
  [`mcp__${'a'.repeat(40)}__x`, 'mcp__*'],
])('the denial %s becomes %s', (name, pattern) => {
  expect(widenToServer(name)).toBe(pattern);
});
