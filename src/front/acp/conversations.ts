import {
  RequestError,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type SessionInfo,
} from '@agentclientprotocol/sdk/unstable';
import type { Session, TaskSummary } from '../../api/index.ts';
import { MusterError, UsageError } from '../../base/errors.ts';

/** The number of conversations on one page of the list. */
const PAGE_SIZE = 50;

/**
 * Returns a page of the stored conversations, the newest first. Throws UsageError for a cursor that no page had.
 *
 * @param tasks all stored tasks, the newest first
 * @param filter `cwd`: the directory to which the conversations belong; `cursor`: the end of the page before
 */
export function listConversations(
  tasks: readonly TaskSummary[],
  { cwd, cursor }: Pick<ListSessionsRequest, 'cwd' | 'cursor'>,
): ListSessionsResponse {
  const conversations = tasks
    .filter(({ parent, source }) => parent === null && source !== 'template')
    .filter((each) => typeof cwd !== 'string' || each.cwd === cwd);
  const isNext = typeof cursor === 'string';
  const start = isNext ? conversations.findIndex(({ id }) => id === cursor) + 1 : 0;
  if (isNext && start === 0) throw new UsageError('cursor: it is not from this list');
  const page = conversations.slice(start, start + PAGE_SIZE);
  const last = page.at(-1);
  const isLast = start + PAGE_SIZE >= conversations.length;
  return {
    sessions: page.map(toSessionInfo),
    ...(isLast || last === undefined ? {} : { nextCursor: last.id }),
  };
}

/** Checks that a conversation is stored and belongs to the directory of a session. */
export function checkConversation({ store, cwd }: Session, id: string): void {
  if (!isKnown(store, id)) throw RequestError.sessionNotFound(id);
  let directory = cwd;
  store.scan(id, (event) => {
    if (event.type === 'task.created') directory = event.spec.cwd;
  });
  if (directory !== cwd)
    throw new UsageError(`cwd: the conversation ${id} belongs to the directory ${directory}`);
}

/** Returns whether a task exists. A client may send any text as an id. */
function isKnown(store: Session['store'], id: string): boolean {
  try {
    return store.exists(id);
  } catch (thrown) {
    if (thrown instanceof MusterError) return false;
    throw thrown;
  }
}

function toSessionInfo({ id, cwd, description, ended, created }: TaskSummary): SessionInfo {
  return {
    sessionId: id,
    cwd,
    title: description,
    updatedAt: new Date(ended ?? created).toISOString(),
  };
}
