/** The configuration with which a client starts `muster acp`. */
interface AcpClient {
  /** The file that contains it, for people. */
  readonly file: string;
  readonly text: string;
}

const SERVER = { command: 'muster', args: ['acp'], env: {} };

/** The clients of the Agent Client Protocol whose configuration is known, by name. docs/acp.md shows the same lines. */
export const ACP_CLIENTS = {
  zed: {
    file: 'the settings of Zed (~/.config/zed/settings.json)',
    text: toJson({ agent_servers: { Muster: { type: 'custom', ...SERVER } } }),
  },
  jetbrains: {
    file: '~/.jetbrains/acp.json',
    text: toJson({ agent_servers: { Muster: SERVER } }),
  },
} as const satisfies Readonly<Record<string, AcpClient>>;

export type AcpClientName = keyof typeof ACP_CLIENTS;

function toJson(value: object): string {
  return JSON.stringify(value, null, 2);
}
