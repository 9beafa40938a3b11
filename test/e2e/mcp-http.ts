import { expect } from 'vitest';
import { waitUntilPasses } from '../wait-until-passes.ts';
import type { Running } from './muster.ts';
import type { World } from './world.ts';

/** A built program that serves MCP clients over HTTP. */
export interface HttpServer {
  readonly running: Running;
  readonly url: string;
  /** The token that it has printed; null if it was given one. */
  readonly token: string | null;
}

const LISTENS = /^MCP server: (http:\/\/127\.0\.0\.1:\d+\/mcp)\n/m;
const HEADER = /^Header: Authorization: Bearer (\S+)\n/m;

/** Starts the built program as an MCP server over HTTP on a free port. Resolves when it listens. */
export async function startHttpServer(
  world: World,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<HttpServer> {
  const running = world.start(['mcp', 'serve', '--http', '0', ...args], { env });
  let errors = '';
  running.process.stderr?.on('data', (text: string) => (errors += text));
  await waitUntilPasses(() => expect(errors).toMatch(LISTENS));
  const [url, token] = [LISTENS, HEADER].map((line) => line.exec(errors)?.[1] ?? null);
  return { running, url: url ?? '', token: token ?? null };
}
