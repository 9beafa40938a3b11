import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { readServerCall, resolveServerTool } from '../../../src/engine/permissions/server-call.ts';

const TOOLS = [
  'Bash',
  'McpCall',
  'mcp__demo__echo',
  'mcp__demo__get_issue',
  'mcp__git-hub__get_issue',
];
const read = (input: JsonValue) => {
  const found = readServerCall({ type: 'tool_call', id: 'c1', name: 'McpCall', input }, TOOLS);
  return found.ok ? [found.call.name, found.call.input] : [found.tool, found.problem];
};
const ECHO = 'mcp__demo__echo';
const MISSING = 'tool: is missing; send {"tool": "mcp__SERVER__TOOL", "arguments": {…}}';
const WRONG = 'arguments: must be an object (or its JSON text)';

describe('readServerCall', () => {
  test.each<[JsonValue, readonly JsonValue[]]>([
    [{ tool: ECHO, arguments: { text: 'x' } }, [ECHO, { text: 'x' }]],
    [{ tool: ` ${ECHO} `, arguments: {} }, [ECHO, {}]],
    [{ tool: ECHO }, [ECHO, {}]],
    [{ tool: ECHO, arguments: null }, [ECHO, {}]],
    [{ tool: ECHO, arguments: '' }, [ECHO, {}]],
    [{ tool: ECHO, arguments: '{"text":"x"}' }, [ECHO, { text: 'x' }]],
    [`{"tool":"${ECHO}","arguments":{"text":"x"}}`, [ECHO, { text: 'x' }]],
    [{ name: ECHO, input: { text: 'x' } }, [ECHO, { text: 'x' }]],
    [{ tool: ECHO, text: 'x', input: 'y' }, [ECHO, { text: 'x', input: 'y' }]],
    [{ tool: ECHO, text: 'x', params: null }, [ECHO, { text: 'x', params: null }]],
    [{ tool: ECHO, text: 'x', input: '{"a":1}' }, [ECHO, { text: 'x', input: '{"a":1}' }]],
    [{ tool: ECHO, args: { text: 'x' }, reason: 'why' }, [ECHO, { text: 'x' }]],
    [{ tool: ECHO, arguments: { input: 'y' } }, [ECHO, { input: 'y' }]],
    [
      { tool: 'McpCall', arguments: { tool: ECHO, arguments: { text: 'x' } } },
      [ECHO, { text: 'x' }],
    ],
    // The arguments of a tool may look like a call.
    [
      { tool: ECHO, arguments: { tool: ECHO, arguments: {} } },
      [ECHO, { tool: ECHO, arguments: {} }],
    ],
    // Other spellings of the name.
    [{ tool: 'MCP__demo__Echo', arguments: {} }, [ECHO, {}]],
    [{ tool: 'demo__echo', arguments: {} }, [ECHO, {}]],
    [{ tool: 'demo.echo', arguments: {} }, [ECHO, {}]],
    [{ tool: 'mcp_demo_echo', arguments: {} }, [ECHO, {}]],
    [{ tool: 'functions.mcp__demo__echo', arguments: {} }, [ECHO, {}]],
    [{ tool: 'default_api.demo__echo', arguments: {} }, [ECHO, {}]],
    [{ tool: 'echo', arguments: {} }, [ECHO, {}]],
    [{ tool: 'demoGetIssue', arguments: {} }, ['mcp__demo__get_issue', {}]],
    // A name that no tool has is refused later, under this name.
    [{ tool: 'mcp__demo__nope', arguments: {} }, ['mcp__demo__nope', {}]],
  ])('%j is understood', (input, expected) => {
    expect(read(input)).toEqual(expected);
  });

  test.each<[JsonValue, string | undefined, string]>([
    [{}, undefined, MISSING],
    [{ arguments: {} }, undefined, MISSING],
    [{ tool: '  ' }, undefined, MISSING],
    [{ tool: [ECHO], arguments: {} }, undefined, MISSING],
    [[ECHO], undefined, MISSING],
    ['{', undefined, MISSING],
    [{ tool: ECHO, arguments: [1] }, ECHO, WRONG],
    [{ tool: ECHO, arguments: '{"text":' }, ECHO, WRONG],
    [{ tool: ECHO, arguments: '[1]' }, ECHO, WRONG],
    [
      { tool: 'Bash', arguments: {} },
      undefined,
      'tool: "Bash" is no tool of an MCP server: call it by itself',
    ],
    [
      { tool: 'get_issue', arguments: {} },
      undefined,
      'tool: "get_issue" may be one of several tools; send one of: mcp__demo__get_issue, mcp__git-hub__get_issue',
    ],
    [
      { tool: 'demo__ehco', arguments: {} },
      undefined,
      'tool: there is no tool "demo__ehco"; did you mean mcp__demo__echo? (ToolSearch finds names)',
    ],
    [
      { tool: 'zzz\u001b[2J', arguments: {} },
      undefined,
      'tool: there is no tool "zzz⟨U+001B⟩[2J" (ToolSearch finds names)',
    ],
  ])('%j is a problem', (input, tool, problem) => {
    expect(read(input)).toEqual([tool, problem]);
  });

  test('whatever is sent, the call is that of a tool of a server, with an object of arguments', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...TOOLS, 'x', 'mcp__y'), (value, tool) => {
        const inputs = [value, { tool, arguments: value }, { tool: value, arguments: {} }];
        for (const input of inputs) {
          const found = readServerCall(
            { type: 'tool_call', id: 'c1', name: 'McpCall', input: input as JsonValue },
            TOOLS,
          );
          if (!found.ok) continue;
          expect(found.call.name.startsWith('mcp__')).toBe(true);
          expect(found.call.input).toBeTypeOf('object');
        }
      }),
    );
  });
});

test.each([
  ['demo__echo', ECHO],
  ['Mcp__Demo__Echo', ECHO],
  ['functions.mcp__demo__echo', ECHO],
  // Without the server it could be the name of any tool.
  ['echo', undefined],
  ['my_demo_echo', undefined],
  ['Bash', undefined],
])('%s, called directly, means %s', (name, tool) => {
  expect(resolveServerTool(name, TOOLS, { knowsServer: false }).name).toBe(tool);
});
