import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isJsonObject } from '../base/json.ts';
import { createBaseUrls, environmentFor } from './endpoints.ts';
import type { FakeModel } from './fake-model.ts';

/** A fake model server in another process. */
export interface FakeModelProcess extends Pick<FakeModel, 'url' | 'baseUrls' | 'env'> {
  readonly pid: number;
  /** Returns the numbers of requests so far. */
  stats(): Promise<FakeModelStats>;
  /** Ends the process. Resolves when it has exited and its log is complete. */
  close(): Promise<void>;
}

export interface FakeModelStats {
  readonly requests: number;
  readonly inFlight: number;
  readonly maxInFlight: number;
}

export interface FakeModelProcessOptions {
  /** The path of a script file, which `parseScriptFile` reads. */
  readonly script?: string;
  /** The path of a file to which requests are appended, one `RequestLogEntry` per line. */
  readonly log?: string;
}

const MAIN_FILE = fileURLToPath(new URL('fake-model-main.ts', import.meta.url));

/**
 * Starts the server in a separate process, which ends with this process at the latest. Works only from the sources and not
 * from the built package.
 */
export async function spawnFakeModel(
  options: FakeModelProcessOptions = {},
): Promise<FakeModelProcess> {
  const args = [MAIN_FILE, '--until-stdin-ends'];
  if (options.script !== undefined) args.push('--script', options.script);
  if (options.log !== undefined) args.push('--log', options.log);
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
  const closed = once(child, 'close').then(() => errors);
  const url = await readAnnouncedUrl(createInterface({ input: child.stdout }), closed);
  return {
    pid: child.pid ?? 0,
    url,
    baseUrls: createBaseUrls(url),
    env: (protocol) => environmentFor(protocol, { url, model: 'fake-model' }),
    stats: () => readStats(url),
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}

/** Reads the URL from the first line that the process prints. `closed`: resolves with its stderr when it has ended. */
async function readAnnouncedUrl(
  lines: NodeJS.EventEmitter,
  closed: Promise<string>,
): Promise<string> {
  const first = await Promise.race([once(lines, 'line'), closed]);
  if (typeof first === 'string') throw new Error(`the fake model did not start: ${first}`);
  const announced: unknown = JSON.parse(String(first[0]));
  if (isJsonObject(announced) && typeof announced['url'] === 'string') return announced['url'];
  throw new Error(`the fake model announced no URL: ${String(first[0])}`);
}

async function readStats(url: string): Promise<FakeModelStats> {
  const stats: unknown = await (await fetch(`${url}/fake/stats`)).json();
  const count = (key: string): number => {
    const value = isJsonObject(stats) ? stats[key] : undefined;
    if (typeof value !== 'number') throw new Error(`the fake model's stats lack ${key}`);
    return value;
  };
  return {
    requests: count('requests'),
    inFlight: count('inFlight'),
    maxInFlight: count('maxInFlight'),
  };
}
