import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/base/json.ts';
import { readSentCall } from '../../src/protocol/sent-call.ts';

const call = (input: JsonValue, name = 'McpCall') => ({ name, input });

test.each([
  [call({ tool: 'mcp__a__b', arguments: { x: 1 } }), { name: 'mcp__a__b', input: { x: 1 } }],
  [call({ tool: 'mcp__a__b' }), { name: 'mcp__a__b', input: {} }],
  [call({ tool: 'Bash', arguments: {} }), call({ tool: 'Bash', arguments: {} })],
  [call('x'), call('x')],
  [call({ tool: 'mcp__a__b' }, 'Read'), call({ tool: 'mcp__a__b' }, 'Read')],
])('%j is shown as %j', (sent, shown) => {
  expect(readSentCall(sent)).toEqual(shown);
});
