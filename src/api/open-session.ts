import type { Session } from './session/contract.ts';
import { openSessionParts } from './session/open-session-parts.ts';
import { createSession } from './session/session.ts';
import type { SessionOptions } from './setup/options.ts';

/** Opens a session that runs tasks. Throws UsageError for a wrong option or configuration. */
export async function openSession(options: SessionOptions = {}): Promise<Session> {
  return createSession(await openSessionParts(options));
}
