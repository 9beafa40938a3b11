import { UsageError } from '../../../../base/errors.ts';
import { parseHttpAddress } from '../../../../sys/http/http-address.ts';
import { defineCommand } from '../../command.ts';
import type { FlagReader } from '../../flag-reader.ts';
import type { HttpServeOptions, McpServeOptions, TokenSource } from '../../run-mcp-server.ts';
import { SESSION_FLAGS, sessionOptions } from '../../run-options.ts';

/** `muster mcp serve` */
export const mcpServeCommand = defineCommand<McpServeOptions>({
  words: 'mcp serve',
  summary: 'offer the agents to MCP clients on stdin and stdout, or over HTTP',
  operands: [],
  flags: [
    'tool-per-agent',
    'http',
    'bearer-token-env-var',
    'bearer-token-file',
    'no-log',
    ...SESSION_FLAGS,
  ],
  flagDetails: {
    'bearer-token-env-var': { help: 'the variable with the token that clients must send' },
  },
  examples: [
    'muster mcp serve --permission-mode acceptEdits',
    'muster mcp serve --http 8808 --bearer-token-file ~/.muster-token',
    'claude mcp add muster -- muster mcp serve',
  ],
  parse: ({ flags }) => ({
    session: sessionOptions(flags),
    hasToolPerAgent: flags.has('tool-per-agent'),
    http: readHttp(flags),
  }),
  run: async (options, { environment }) => {
    const { runMcpServer } = await import('../../run-mcp-server.ts');
    return await runMcpServer(options, environment);
  },
});

function readHttp(flags: FlagReader): HttpServeOptions | null {
  const text = flags.text('http');
  const [given] = flags.findGivenFlags(['bearer-token-env-var', 'bearer-token-file']);
  if (text === null) {
    if (given !== undefined) throw new UsageError(`${given} goes with --http`);
    return null;
  }
  const address = parseHttpAddress(text);
  if (address === null) {
    throw new UsageError(
      `--http ${text}: this is no [HOST:]PORT, such as 8808, 127.0.0.1:0 or [::1]:8808`,
    );
  }
  return { address, token: readTokenSource(flags) };
}

function readTokenSource(flags: FlagReader): TokenSource {
  const name = flags.text('bearer-token-env-var');
  const path = flags.text('bearer-token-file');
  if (name !== null && path !== null)
    throw new UsageError('--bearer-token-env-var and --bearer-token-file: give one of them');
  if (name !== null) return { kind: 'variable', name };
  return path === null ? { kind: 'new' } : { kind: 'file', path };
}
