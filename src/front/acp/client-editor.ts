import { methods, type AgentContext } from '@agentclientprotocol/sdk/unstable';
import { isAbsolute, relative } from 'node:path';
import type { SessionOptions } from '../../api/index.ts';
import type { ClientFeatures } from './client-features.ts';

type EditorPort = NonNullable<SessionOptions['editor']>;

/** The time for which the editor may take to say what it has for a file. After it, the file on the disk counts. */
const MAX_READ_MS = 5_000;

export interface ClientEditorOptions {
  readonly client: Pick<AgentContext, 'request'>;
  readonly features: Pick<ClientFeatures, 'readsFiles' | 'writesFiles'>;
  /** The session to which the requests belong. */
  readonly sessionId: string;
  /** The directories whose files the editor serves; absolute. */
  readonly roots: readonly string[];
}

/** Creates the port to the files that a client has open. Returns undefined for a client that does not offer its files. */
export function createClientEditor({
  client,
  features,
  sessionId,
  roots,
}: ClientEditorOptions): EditorPort | undefined {
  if (!features.readsFiles) return undefined;
  const read: EditorPort['read'] = async (path, signal) => {
    if (!roots.some((root) => isInside(root, path))) return null;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(MAX_READ_MS)]);
    try {
      const { content } = await client.request(
        methods.client.fs.readTextFile,
        { sessionId, path },
        { cancellationSignal: limit, stopWaitingOnCancel: true },
      );
      return content;
    } catch {
      // The editor does not have the file, or does not answer, so the file on the disk counts.
      signal.throwIfAborted();
      return null;
    }
  };
  if (!features.writesFiles) return { read };
  return {
    read,
    write: async (path, content, signal) => {
      await client.request(
        methods.client.fs.writeTextFile,
        { sessionId, path, content },
        { cancellationSignal: signal, stopWaitingOnCancel: true },
      );
    },
  };
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith('../') && !isAbsolute(way);
}
