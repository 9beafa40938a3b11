import { expect, test } from 'vitest';
import { offerMcpTools } from '../../src/mcp/offered-tools.ts';
import type { McpTool } from '../../src/mcp/server-data.ts';

const TOOL: McpTool = {
  name: 'read.file',
  description: 'Reads\u0000 a file.',
  inputSchema: { type: 'object', properties: { 'a b': { type: ['string', 'null'] } } },
  annotations: { readOnly: true },
};

test('tools of servers become tools for models', () => {
  const [tool, ...others] = offerMcpTools([{ server: 'my files', tools: [TOOL, TOOL] }]);
  const properties = Object.keys(Object(tool?.inputSchema['properties']));
  expect({ ...tool, properties, others }).toMatchObject({
    name: 'mcp__my_files__read_file',
    server: 'my files',
    tool: 'read.file',
    description: 'Reads a file.',
    annotations: { readOnly: true },
    properties: [expect.stringMatching(/^a_b_[0-9a-f]{8}$/)],
    others: [],
  });
  expect(tool?.restoreArguments({ [properties[0] ?? '']: 'x' })).toEqual({ 'a b': 'x' });
});

test('the order of servers and tools makes no difference', () => {
  const tools = [
    { ...TOOL, name: 'two' },
    { ...TOOL, name: 'one' },
  ];
  const servers = ['b', 'a'].map((server) => ({ server, tools }));
  const names = offerMcpTools(servers).map(({ name }) => name);
  expect(names).toEqual(['mcp__a__one', 'mcp__a__two', 'mcp__b__one', 'mcp__b__two']);
  const reversed = servers
    .map(({ server }) => ({ server, tools: tools.toReversed() }))
    .toReversed();
  expect(offerMcpTools(reversed).map(({ name }) => name)).toEqual(names);
});

test('the fingerprint changes with everything that the server says about a tool', () => {
  const variants: readonly McpTool[] = [
    TOOL,
    { ...TOOL, description: 'Reads\u0001 a file.' },
    { ...TOOL, inputSchema: { type: 'object' } },
    { ...TOOL, annotations: { readOnly: false } },
    { ...TOOL, title: 'Read' },
  ];
  const fingerprints = variants.flatMap((tool) =>
    offerMcpTools([{ server: 's', tools: [tool] }]).map(({ fingerprint }) => fingerprint),
  );
  expect(new Set(fingerprints).size).toBe(5);
});
