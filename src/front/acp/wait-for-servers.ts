import type { Session } from '../../api/index.ts';
import { deferred } from '../../base/async.ts';

/** The maximum wait for MCP servers that have never said which tools they have. */
const MAX_WAIT_MS = 10_000;

/**
 * Waits until the MCP servers of a new conversation have said which tools they have, so that it gets these tools.
 *
 * @param agent the name of the main agent; null for the default one
 */
export async function waitForServers(
  session: Pick<Session, 'listAwaitedServers' | 'prepareServers'>,
  agent: string | null,
): Promise<void> {
  const name = agent ?? undefined;
  if (session.listAwaitedServers(name).length === 0) return;
  const late = deferred<void>();
  const timer = setTimeout(() => late.resolve(), MAX_WAIT_MS);
  await Promise.race([session.prepareServers(name), late.promise]);
  clearTimeout(timer);
}
