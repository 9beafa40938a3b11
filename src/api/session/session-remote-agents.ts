import type { Sandbox } from '../../sys/sandbox/sandbox.ts';
import type { SessionConfig } from './session-config.ts';
import { openRemoteAgents, type SessionRemoteAgents } from '../remote/open-remote-agents.ts';

/**
 * Opens the remote agents of a session. Nothing of them is loaded before the first request.
 *
 * @param sandbox resolves to the sandbox of the session
 */
export function openSessionRemoteAgents(
  _session: SessionConfig,
  _sandbox: () => Promise<Sandbox>,
): SessionRemoteAgents {
  return openRemoteAgents({});
}
