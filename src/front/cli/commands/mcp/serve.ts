import { defineCommand } from '../../command.ts';
import { SESSION_FLAGS, sessionOptions, type SessionFlags } from '../../run-options.ts';

interface McpServeOptions {
  readonly session: SessionFlags;
  /** Whether each agent is a tool of its own as well. */
  readonly hasToolPerAgent: boolean;
}

/** `muster mcp serve` */
export const mcpServeCommand = defineCommand<McpServeOptions>({
  words: 'mcp serve',
  summary: 'offer the agents to an MCP client on stdin and stdout',
  operands: [],
  flags: ['tool-per-agent', 'no-log', ...SESSION_FLAGS],
  examples: [
    'muster mcp serve --permission-mode acceptEdits',
    'claude mcp add muster -- muster mcp serve',
  ],
  parse: ({ flags }) => ({
    session: sessionOptions(flags),
    hasToolPerAgent: flags.has('tool-per-agent'),
  }),
  run: async (options) => {
    const { runMcpServer } = await import('../../run-mcp-server.ts');
    return await runMcpServer(options.session, options);
  },
});
