import {
  ResourceNotFoundError,
  ResourceTemplate,
  type McpServer,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import type { Session } from '../../api/index.ts';
import { truncate } from '../../base/text.ts';
import { exportedParts, partAsMarkdown } from '../../report/conversation-text.ts';
import type { ServedClient } from './served-client.ts';
import type { ServedTask } from './served-tasks.ts';

/** The newest tasks of which the resources are listed. All others can be read as well. */
const MAX_LISTED = 100;
/** The maximum length of a transcript, in code points. */
const MAX_TRANSCRIPT = 1_000_000;

/** A kind of resource that each task has. */
interface TaskResource {
  readonly name: string;
  readonly description: string;
  readonly mimeType: string;
  /** Returns the content for a task. Throws MusterError if it cannot be read. */
  readonly read: (id: string) => string;
}

/**
 * Registers the transcript and the receipt of each task as resources, `muster://tasks/ID/transcript` and `…/receipt`. A
 * client reads those of its tasks and of the tasks below them.
 */
export function registerTaskResources(
  server: McpServer,
  session: Pick<Session, 'readResult' | 'store'>,
  { tasks }: ServedClient,
): void {
  const kinds: readonly TaskResource[] = [
    {
      name: 'transcript',
      description: 'what the task was told, has thought, called and answered so far',
      mimeType: 'text/markdown',
      read: (id) => readTranscript(session.store, id),
    },
    {
      name: 'receipt',
      description: 'what the task did, as Muster has recorded it',
      mimeType: 'application/json',
      read: (id) => JSON.stringify(session.readResult(id).data.receipt, null, 2),
    },
  ];
  for (const { name, description, mimeType, read } of kinds) {
    const list = () => ({
      resources: tasks
        .list()
        .slice(-MAX_LISTED)
        .map((task) => ({ uri: toUri(task.id, name), name: describe(task, name), mimeType })),
    });
    const complete = { task: () => tasks.list().map(({ id }) => id) };
    server.registerResource(
      name,
      new ResourceTemplate(toUri('{task}', name), { list, complete }),
      { title: `The ${name} of a task`, description, mimeType },
      (uri, { task }): ReadResourceResult => {
        if (typeof task !== 'string' || !tasks.includes(task))
          throw new ResourceNotFoundError(uri.href);
        return { contents: [{ uri: uri.href, mimeType, text: read(task) }] };
      },
    );
  }
}

function toUri(task: string, name: string): string {
  return `muster://tasks/${task}/${name}`;
}

function describe({ agent, description }: ServedTask, name: string): string {
  return `${name} of ${agent}: ${description}`;
}

/** Writes the conversation of a task as Markdown. What exceeds the maximum length is left out, and the end says so. */
function readTranscript(store: Session['store'], id: string): string {
  const parts: string[] = [];
  let length = 0;
  let isCut = false;
  store.scan(id, (event) => {
    for (const part of exportedParts(event)) {
      const text = partAsMarkdown(part);
      if (length < MAX_TRANSCRIPT) parts.push(truncate(text, MAX_TRANSCRIPT - length));
      length += text.length;
      isCut = length > MAX_TRANSCRIPT;
    }
  });
  const rest = isCut
    ? `\n[The transcript is cut at ${MAX_TRANSCRIPT} characters. All of it: muster tasks log ${id}]\n`
    : '';
  return `${parts.join('')}${rest}`;
}
