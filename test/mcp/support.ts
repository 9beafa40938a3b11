import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { newId } from '../../src/base/ids.ts';
import {
  createMcpConnections,
  type McpConnections,
  type McpConnectionsOptions,
} from '../../src/mcp/connections.ts';
import type { McpServer } from '../../src/mcp/server-use.ts';
import { readMcpServers } from '../../src/mcp/read-servers.ts';
import type { McpServerEntry, McpServerOrigin } from '../../src/mcp/server-entry.ts';
import type { McpEvent } from '../../src/mcp/server-events.ts';
import { readEnvironment } from '../../src/sys/env.ts';
import { createHttpFetch } from '../../src/sys/http/http-fetch.ts';
import { readTextIfPresent } from '../../src/sys/files/path-lookup.ts';
import { endMarked, waitForMarked } from '../e2e/processes.ts';

/** A signal that never aborts. */
export const FOREVER = new AbortController().signal;
const servers = join(import.meta.dirname, 'servers');
export const EVERYTHING = join(servers, 'everything.mjs');
export const FAULTY = join(servers, 'faulty.mjs');

/** Creates an empty directory that is deleted after the test. */
export function tempDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'muster-mcp-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Reads an entry as it would stand in a file. */
export function readEntry(
  entry: object,
  origin: McpServerOrigin = { scope: 'user', file: 'mcp.json' },
): McpServerEntry {
  const { entries, problems } = readMcpServers({ s: entry }, origin);
  const [read] = entries;
  if (read === undefined) throw new Error(JSON.stringify(problems));
  return read;
}

export interface Host {
  readonly connections: McpConnections;
  readonly events: McpEvent[];
  /** `NAME=value` in the environment of every server that `stdio` describes. */
  readonly mark: string;
  /** The notes of the servers. */
  readonly notes: () => readonly string[];
  /** Describes one of the servers of this folder. */
  readonly stdio: (
    file: string,
    env?: Readonly<Record<string, string>>,
    fields?: object,
  ) => McpServerEntry;
  readonly open: (entry: McpServerEntry) => McpServer;
}

/** Creates connections. After the test they are closed, and no process of their servers may be left. */
export function createHost(options: Partial<McpConnectionsOptions> = {}): Host {
  const events: McpEvent[] = [];
  const directory = tempDirectory();
  const log = join(directory, 'log');
  const [name, value] = ['MCP_TEST', newId()];
  const mark = `${name}=${value}`;
  const environment = readEnvironment();
  const connections = createMcpConnections({
    variables: { environment, ownSecrets: new Set(), project: directory, home: directory },
    http: createHttpFetch({}),
    cwd: directory,
    onEvent: (_, event) => events.push(event),
    ...options,
  });
  onTestFinished(async () => {
    await connections.close();
    try {
      await waitForMarked(mark, (pids) => pids.length === 0);
    } finally {
      endMarked(mark);
    }
  });
  return {
    connections,
    events,
    mark,
    notes: () => (readTextIfPresent(log) ?? '').split('\n').filter((line) => line !== ''),
    stdio: (file, env = {}, fields = {}) =>
      readEntry({
        command: process.execPath,
        args: [file],
        env: { [name]: value, LOG_FILE: log, ...env },
        ...fields,
      }),
    open: (entry) => connections.open(entry),
  };
}

/** Returns the text of the first part of a result. */
export function firstText({
  content: [first],
}: {
  readonly content: readonly { readonly type: string }[];
}): string {
  return first !== undefined && 'text' in first ? String(first.text) : '';
}
