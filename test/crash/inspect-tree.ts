import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../src/base/errors.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import type { RecordedRequest } from '../../src/testing/index.ts';
import { CODECS } from '../../src/testing/wire/codecs.ts';
import { envelopeOf } from '../e2e/muster.ts';
import type { Told } from './acknowledged.ts';
import { readLogs } from './check-logs.ts';
import { wrongTree } from './check-tree.ts';
import { effectsIn, printedIn } from './killed-run.ts';
import { logIds } from './standing.ts';
import { logsOf, type TreeRun } from './tree-run.ts';
import { FINAL_ANSWER, TASKS } from './tree-script.ts';

/** What is wrong with a run that was killed and resumed to its end, one sentence each. */
export async function inspectTree(run: TreeRun): Promise<readonly string[]> {
  const { sandbox, model, stretches, left } = run;
  const { requests } = model;
  const store = openFileStore({ dataDir: sandbox.data, durability: 'fast' });
  try {
    const logs = readLogs(store, logIds(sandbox));
    const acknowledged = {
      printed: stretches.flatMap(({ finished }) => printedIn(finished)),
      requests: requests.map(toldIn),
      effects: effectsIn(sandbox, TASKS),
    };
    const getBlob = (hash: string): string => store.getBlob(hash);
    return [
      ...wrongTree({ logs, acknowledged, requests, getBlob }),
      ...stretches.flatMap(({ unswept }) => unswept),
      ...left.map((pid) => `process ${pid} is left at the end`),
      ...wrongOutput(run),
      ...locksHeld(run),
    ];
  } finally {
    await store.close();
  }
}

/** To the byte: what a script sees of results is without what marks them as outside text. */
function toldIn({ protocol, path, body, systemParts, tools }: RecordedRequest): Told {
  const { messages } = CODECS[protocol].parse(body, path);
  return { system: systemParts, tools: tools.map(({ name }) => name), messages };
}

/** The definition of all tasks lists Task, which those at the greatest depth do not get. */
const DEPTH_WARNING =
  /^ *! general-purpose \w+: general-purpose does not get all that its definition asks for: Task: At depth 2 of at most 2 \(max_depth\) nothing more is delegated\.\n/gm;

/** Of the process that was not killed. */
function wrongOutput({ stretches }: TreeRun): readonly string[] {
  const last = stretches.at(-1);
  if (last === undefined || last.killedAt !== null) return [];
  const { code, stdout } = last.finished;
  const stderr = last.finished.stderr.replaceAll(DEPTH_WARNING, '');
  if (code !== 0 || stderr !== '') return [`it exits with ${code}, saying: ${stderr}`];
  try {
    const { result } = envelopeOf({ stdout }).data;
    return result === FINAL_ANSWER ? [] : [`it prints as its answer: ${result}`];
  } catch (thrown) {
    return [`it prints no result: ${errorMessage(thrown)}`];
  }
}

/**
 * What the last process still holds, having ended by itself. What a killed one holds it can't give
 * back: whoever asks takes it, and the resume has shown that.
 */
function locksHeld({ sandbox, stretches }: TreeRun): readonly string[] {
  const last = stretches.at(-1);
  if (last === undefined || last.killedAt !== null) return [];
  const pidIn = (name: string): unknown =>
    JSON.parse(readFileSync(join(logsOf(sandbox), name), 'utf8')).pid;
  return readdirSync(logsOf(sandbox))
    .filter((name) => name.includes('.lock') && pidIn(name) === last.pid)
    .map((name) => `${name} is not given back`);
}
