import type { Muster } from './session/contract.ts';
import { openSessionParts } from './session/open-session-parts.ts';
import { createSession } from './session/session.ts';
import type { MusterOptions } from './setup/options.ts';

/** Opens a session that runs tasks. Throws UsageError for a wrong option or configuration. */
export async function createMuster(options: MusterOptions = {}): Promise<Muster> {
  return createSession(await openSessionParts(options));
}
