import type { RemoteAgents } from '../../engine/task/deps.ts';
import type { ModelPort } from '../../protocol/model.ts';
import type { RemoteAgent } from '../../protocol/remote-agent.ts';
import type { RemoteAgentPort } from '../../remote/remote-agent-port.ts';

/** The functions that load the ports to remote agents, each at its first request. */
type PortLoaders = Readonly<
  Partial<Record<RemoteAgent['protocol'], () => Promise<RemoteAgentPort>>>
>;

/** The remote agents of a session. */
export interface SessionRemoteAgents extends RemoteAgents {
  /** The functions that load the ports, by the provider that stands for the protocol. */
  readonly ports: Readonly<Record<string, () => Promise<ModelPort>>>;
  /** Ends everything that was started. Never rejects. */
  close(): Promise<void>;
}

/** Creates the remote agents of a session. A port is loaded at its first request, and only loaded ports are ended. */
export function openRemoteAgents(loaders: PortLoaders): SessionRemoteAgents {
  const loaded: RemoteAgentPort[] = [];
  const load = async (open: () => Promise<RemoteAgentPort>): Promise<ModelPort> => {
    const port = await open();
    loaded.push(port);
    return port;
  };
  return {
    ports: Object.fromEntries(
      Object.entries(loaders).map(([protocol, open]) => [protocol, () => load(open)]),
    ),
    endTask: async (id) => void (await Promise.all(loaded.map((port) => port.endTask(id)))),
    close: async () => void (await Promise.all(loaded.map((port) => port.close()))),
  };
}
