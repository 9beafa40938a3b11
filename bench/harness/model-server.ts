import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { spawnFakeModel, type FakeModelProcess } from '../../src/testing/fake-model-process.ts';
import type { Rule } from '../../src/testing/rules.ts';
import type { ScriptFile } from '../../src/testing/script-file.ts';
import type { RequestOutcome, WireProtocol } from '../../src/testing/wire-request.ts';
import type { Fixture } from './fixture.ts';
import type { FinishedProgram, RunningProgram } from './program.ts';

/** A request and its answer, as the server saw them. */
export interface Exchange {
  readonly id: number;
  readonly protocol: WireProtocol;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The same for all requests of one task. */
  readonly taskKey: string;
  readonly receivedAt: number;
  readonly rawBody: string;
  readonly body: JsonObject;
  readonly outcome: RequestOutcome;
}

/** The fake model server. It runs in a process of its own, so that its work does not slow down the benchmark. */
export interface ModelServer extends FakeModelProcess, AsyncDisposable {
  /** Stops the server and returns the requests that it received, in the order of arrival. */
  finish(): Promise<readonly Exchange[]>;
}

let servers = 0;

export async function startModelServer(
  fixture: Fixture,
  script: readonly Rule[],
  options: Pick<ScriptFile, 'promptCache'> = {},
): Promise<ModelServer> {
  servers += 1;
  const paths = {
    script: fixture.path(`script-${servers}.json`),
    log: fixture.path(`requests-${servers}.jsonl`),
  };
  // Checking the requests takes time that does not belong to the measured program.
  writeFileSync(paths.script, JSON.stringify({ script, ...options, strict: false }));
  const server = await spawnFakeModel(paths);
  return {
    ...server,
    async finish() {
      await server.close();
      return readExchanges(readFileSync(paths.log, 'utf8'));
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
}

export function readExchanges(log: string): readonly Exchange[] {
  const outcomes = new Map<number, RequestOutcome>();
  const requests: Omit<Exchange, 'outcome'>[] = [];
  for (const line of log.split('\n')) {
    if (line === '') continue;
    const entry = JSON.parse(line);
    if (entry.event === 'ended') outcomes.set(entry.id, entry.outcome);
    else {
      const body: unknown = JSON.parse(entry.body);
      if (!isJsonObject(body)) throw new Error(`request ${entry.id} is not a JSON object`);
      requests.push({ ...entry, rawBody: entry.body, body });
    }
  }
  return requests.map((request) => {
    const outcome = outcomes.get(request.id);
    if (outcome === undefined) throw new Error(`request ${request.id} never ended`);
    return Object.assign(request, { outcome });
  });
}

/** The requests that arrived while the program ran. Throws when there are none. */
export function exchangesOf(
  run: FinishedProgram,
  exchanges: readonly Exchange[],
): readonly [Exchange, ...Exchange[]] {
  const [first, ...rest] = exchanges.filter(
    ({ receivedAt }) => receivedAt >= run.startedAt && receivedAt <= run.endedAt,
  );
  if (first === undefined) throw new Error(`no request arrived: ${run.stderr || run.stdout}`);
  return [first, ...rest];
}

/** The time at which the last byte of the answer was sent. Throws for a request without a full answer. */
export function answeredAt({ id, outcome }: Exchange): number {
  if (outcome.lastByteAt !== null && outcome.status === 200) return outcome.lastByteAt;
  throw new Error(`request ${id} got no full answer: ${JSON.stringify(outcome)}`);
}

const POLL_MS = 20;

/** Waits until the server has received this many requests in all. Rejects when the program ends before. */
export async function waitForRequests(
  server: ModelServer,
  count: number,
  program: RunningProgram,
): Promise<void> {
  let hasEnded = false;
  void program.finished.then(() => (hasEnded = true));
  while ((await server.stats()).requests < count) {
    if (hasEnded) {
      const { stderr, stdout } = await program.finished;
      throw new Error(`the program ended before request ${count}: ${stderr || stdout}`);
    }
    await sleep(POLL_MS);
  }
}

/** Groups the requests of a run by task. The main agent is the first task; requests keep their order. */
export function byTask(exchanges: readonly Exchange[]): readonly (readonly Exchange[])[] {
  return [...Map.groupBy(exchanges, (exchange) => exchange.taskKey).values()];
}
