import { formatDuration } from '../base/text.ts';
import type { SessionRequest, SessionTarget } from './open-session.ts';
import { McpServerError } from './server-error.ts';
import type { McpSession } from './session.ts';

/**
 * Opens a session within the time limit for the start of the server. The SDK is loaded here and nowhere else.
 * `createTarget`: prepares the connection; its time counts as well.
 */
export async function startSession(
  createTarget: (signal: AbortSignal) => Promise<SessionTarget>,
  request: Omit<SessionRequest, 'target'>,
): Promise<McpSession> {
  const { server, startMs } = request;
  const limit = new AbortController();
  const timer = setTimeout(() => {
    const message = `it did not answer within ${formatDuration(startMs)}`;
    limit.abort(new McpServerError(message, { server, kind: 'start' }));
  }, startMs);
  const signal = AbortSignal.any([limit.signal, request.signal]);
  try {
    const { openServerSession } = await import('./open-session.ts');
    return await openServerSession({ ...request, signal, target: await createTarget(signal) });
  } finally {
    clearTimeout(timer);
  }
}
