import { readFileSync, writeFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import { spawnFakeModel, type FakeModelProcess } from '../../src/testing/fake-model-process.ts';
import type { Rule } from '../../src/testing/rules.ts';
import type { ScriptFile } from '../../src/testing/script-file.ts';
import type { RequestOutcome, WireProtocol } from '../../src/testing/wire-request.ts';
import type { Place } from './place.ts';
import type { FinishedProgram } from './program.ts';

/** A request with its answer, as the server saw them. */
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

/** The model server in a process of its own, as a real one is. */
export interface ModelServer extends FakeModelProcess, AsyncDisposable {
  /** Ends it; what it was asked, in order of arrival. */
  finish(): Promise<readonly Exchange[]>;
}

let servers = 0;

export async function startModelServer(
  place: Place,
  script: readonly Rule[],
  options: Pick<ScriptFile, 'promptCache'> = {},
): Promise<ModelServer> {
  servers += 1;
  const paths = {
    script: place.path(`script-${servers}.json`),
    log: place.path(`requests-${servers}.jsonl`),
  };
  // The time for checks of the requests is no part of what is measured.
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
      if (!isJsonObject(body)) throw new Error(`request ${entry.id} is no JSON object`);
      requests.push({ ...entry, rawBody: entry.body, body });
    }
  }
  return requests.map((request) => {
    const outcome = outcomes.get(request.id);
    if (outcome === undefined) throw new Error(`request ${request.id} never ended`);
    return Object.assign(request, { outcome });
  });
}

/** What arrived while the program ran. Throws when that is nothing. */
export function exchangesOf(
  run: FinishedProgram,
  exchanges: readonly Exchange[],
): readonly [Exchange, ...Exchange[]] {
  const [first, ...rest] = exchanges.filter(
    ({ receivedAt }) => receivedAt >= run.startedAt && receivedAt <= run.endedAt,
  );
  if (first === undefined) throw new Error(`no request came: ${run.stderr || run.stdout}`);
  return [first, ...rest];
}

/** When the last byte of its answer went out. */
export function answeredAt({ id, outcome }: Exchange): number {
  if (outcome.lastByteAt !== null && outcome.status === 200) return outcome.lastByteAt;
  throw new Error(`request ${id} got no whole answer: ${JSON.stringify(outcome)}`);
}

/** The tasks of a run: each with its requests in order, the main agent's first. */
export function byTask(exchanges: readonly Exchange[]): readonly (readonly Exchange[])[] {
  return [...Map.groupBy(exchanges, (exchange) => exchange.taskKey).values()];
}
