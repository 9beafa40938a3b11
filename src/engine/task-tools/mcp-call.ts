import { RESOURCE_TOOL } from '../../protocol/tool-names.ts';
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

/**
 * The tool by which a model reads resources of MCP servers. Like McpCall, it is only a form: each call becomes a call of the
 * tool of its server (`toResourceTool`). The schema for a task also names the servers that the task may use.
 */
export const mcpResourceTool: AnyTool = {
  name: RESOURCE_TOOL,
  kind: 'meta',
  replay: 'opaque',
  description:
    'Read a resource of an MCP server by its URI. Without uri, list the resources and templates of the server.',
  inputSchema: {
    type: 'object',
    properties: { server: { type: 'string' }, uri: { type: 'string' } },
    required: ['server'],
  },
  parse: () => ({
    ok: false,
    issues: ['server: is not a server whose resources you may read; valid are those of the schema'],
  }),
  run: () => Promise.reject(new Error('McpResource is never run itself')),
};
