import type { AnyTool } from '../../protocol/tool.ts';

/**
 * The tool by which a model calls a tool of an MCP server that its requests do not list. It is only a form: `prepareCall`
 * turns each call into a call of the named tool, so that rules, questions and the log know only that tool.
 */
export const mcpCallTool: AnyTool = {
  name: 'McpCall',
  kind: 'meta',
  replay: 'opaque',
  description: 'Call a tool of an MCP server by its full name, with the arguments of its schema.',
  inputSchema: {
    type: 'object',
    properties: { tool: { type: 'string' }, arguments: { type: 'object' } },
    required: ['tool', 'arguments'],
  },
  parse: () => ({ ok: false, issues: ['tool: is missing; valid: mcp__SERVER__TOOL'] }),
  run: () => Promise.reject(new Error('McpCall is never run itself')),
};
