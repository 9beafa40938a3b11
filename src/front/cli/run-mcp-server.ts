import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { loadSessions, type Session } from '../../api/index.ts';
import { errorMessage, UsageError } from '../../base/errors.ts';
import type { Environment } from '../../sys/env.ts';
import type { HttpAddress } from '../../sys/http/http-address.ts';
import { printError, reserveStdout } from '../../sys/print.ts';
import { printNotice } from './output.ts';
import { reportOffline, toSessionOptions } from './run-prompt.ts';
import type { SessionFlags } from './run-options.ts';

/** The source of the token that clients must send. */
export type TokenSource =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'new' };

/** The options of a server over HTTP. */
export interface HttpServeOptions {
  readonly address: HttpAddress;
  readonly token: TokenSource;
}

export interface McpServeOptions {
  readonly session: SessionFlags;
  /** Whether each agent is a tool of its own as well. */
  readonly hasToolPerAgent: boolean;
  /** The options of a server over HTTP; null for one on stdin and stdout. */
  readonly http: HttpServeOptions | null;
}

/** The minimum length of a token. A shorter one could be guessed. */
const MIN_TOKEN_LENGTH = 16;
const NEW_TOKEN_BYTES = 32;

/**
 * Serves an MCP client on stdin and stdout until it closes stdin, or clients over HTTP, until a signal ends Muster. Resolves
 * to the exit code.
 */
export async function runMcpServer(
  { session: flags, hasToolPerAgent, http }: McpServeOptions,
  environment: Environment,
): Promise<number> {
  const output = reserveStdout();
  const token = http === null ? '' : await readToken(http.token, environment);
  const [{ openSession }, options, { endOnSignals }] = await Promise.all([
    loadSessions(),
    toSessionOptions(flags),
    import('../headless/run-to-end.ts'),
  ]);
  const session = await openSession({ ...options, questions: 'wait' });
  const signals = endOnSignals(session);
  const served = { hasToolPerAgent, onNotice: printNotice, signal: signals.signal };
  try {
    reportOffline(session);
    if (http === null) {
      const { serveTasks } = await import('../mcp-server/serve.ts');
      await serveTasks(session, { ...served, input: process.stdin, output });
    } else await serveOverHttp(session, http, { ...served, token });
    return signals.code() ?? 0;
  } finally {
    signals.stop();
    await session.close();
  }
}

async function serveOverHttp(
  session: Session,
  { address, token: source }: HttpServeOptions,
  served: {
    readonly hasToolPerAgent: boolean;
    readonly onNotice: (line: string) => void;
    readonly signal: AbortSignal;
    readonly token: string;
  },
): Promise<void> {
  const { serveTasksOverHttp } = await import('../mcp-server/http/serve-http.ts');
  await serveTasksOverHttp(session, {
    ...served,
    address,
    onListening: (url) => {
      const header = source.kind === 'new' ? `Header: Authorization: Bearer ${served.token}\n` : '';
      printError(`${header}MCP server: ${url}\n`);
    },
  });
}

/** Reads the token that clients must send, or creates one. Rejects with UsageError if it cannot be used. */
async function readToken(source: TokenSource, environment: Environment): Promise<string> {
  if (source.kind === 'new') return randomBytes(NEW_TOKEN_BYTES).toString('base64url');
  const [from, text] =
    source.kind === 'variable'
      ? [`the variable ${source.name}`, environment[source.name] ?? '']
      : [source.path, await readTokenFile(source.path)];
  const token = text.trim();
  if (token.length < MIN_TOKEN_LENGTH || /[^\x21-\x7e]/.test(token)) {
    throw new UsageError(
      `${from} must hold a token of at least ${MIN_TOKEN_LENGTH} printable ASCII characters without spaces, such as the output of: openssl rand -hex 32`,
    );
  }
  return token;
}

async function readTokenFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (thrown) {
    throw new UsageError(`--bearer-token-file: ${errorMessage(thrown)}`, { cause: thrown });
  }
}
