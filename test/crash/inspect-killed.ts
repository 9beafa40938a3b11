import { isJsonObject } from '../../src/base/json.ts';
import { openFileStore } from '../../src/store/file-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { findProcesses } from '../../src/sys/processes/process-table.ts';
import { runMuster } from '../e2e/muster.ts';
import { readLogs, wrongIn, type Logs } from './check-logs.ts';
import { processesOf, type KilledRun } from './killed-run.ts';
import { readLog } from '../store/read-log.ts';

/** What is wrong with what a killed run left behind, one sentence each. */
export async function inspectKilled(run: KilledRun): Promise<readonly string[]> {
  const { sandbox, acknowledged } = run;
  const listed = await list(run);
  const store = openFileStore({ dataDir: sandbox.data, durability: 'safe' });
  try {
    const logs = readLogs(store, [...listed.keys()]);
    return [
      ...wrongIn(logs, acknowledged, (hash) => store.getBlob(hash)),
      ...wrongStatuses(logs, listed),
      ...(await wrongShown(run, logs)),
      ...wrongAfterClaim(store, logs),
      ...leftRunning(run, logs),
    ];
  } finally {
    await store.close();
  }
}

async function list({ sandbox }: KilledRun): Promise<ReadonlyMap<string, string>> {
  const { stdout, stderr, code } = await runMuster(sandbox, ['tasks', 'list', '--json']);
  if (code !== 0) throw new Error(`tasks list exits with ${code}: ${stderr}`);
  return listedStatuses(stdout);
}

/** The status of each task in `muster tasks list --json`. */
function listedStatuses(json: string): ReadonlyMap<string, string> {
  const list: unknown = JSON.parse(json);
  if (!Array.isArray(list)) throw new Error(`not a list of tasks: ${json.slice(0, 200)}`);
  return new Map(
    list.map((task: unknown) => {
      const { id, status } = isJsonObject(task) ? task : {};
      return [String(id), String(status)] as const;
    }),
  );
}

/** Who has no end in its log was interrupted; who has one is what the end says. */
function wrongStatuses(logs: Logs, listed: ReadonlyMap<string, string>): readonly string[] {
  return [...logs].flatMap(([id, { events }]) => {
    const last = events.findLast((event) => event.type === 'task.ended');
    const wanted = last?.end.status ?? 'interrupted';
    const shown = listed.get(id);
    return shown === wanted ? [] : [`${id}: listed as ${shown}, not as ${wanted}`];
  });
}

/** Of the task that was at work last: the likeliest to be broken. */
async function wrongShown({ sandbox }: KilledRun, logs: Logs): Promise<readonly string[]> {
  const latest = [...logs].toSorted(([, a], [, b]) => endOf(b) - endOf(a)).at(0);
  if (latest === undefined) return [];
  const [id] = latest;
  const shown = await runMuster(sandbox, ['tasks', 'show', id, '--json']);
  if (shown.code !== 0) return [`tasks show ${id} exits with ${shown.code}: ${shown.stderr}`];
  const { data } = JSON.parse(shown.stdout);
  return data.task_id === id ? [] : [`tasks show ${id} shows ${data.task_id}`];
}

function endOf({ events }: { readonly events: readonly { readonly ts: number }[] }): number {
  return events.at(-1)?.ts ?? 0;
}

/** Every task can be taken over and gone on with. */
function wrongAfterClaim(store: TaskStore, logs: Logs): readonly string[] {
  return [...logs].flatMap(([id, { events }]) => {
    const log = store.claim(id);
    log.append([{ type: 'warning', message: 'taken over' }]);
    log.close();
    const after = readLog(store, id);
    const inOrder = after.events.every(({ seq }, index) => seq === index);
    const whole = inOrder && after.events.length === events.length + 2;
    return whole && after.problems.length === 0 ? [] : [`${id}: not whole after a claim`];
  });
}

function leftRunning({ sandbox }: KilledRun, logs: Logs): readonly string[] {
  const marked = [...logs.keys()].flatMap(
    (id) => findProcesses({ marks: new Set([`MUSTER_TASK=${id}`]) }) ?? [],
  );
  return [...new Set([...processesOf(sandbox), ...marked])].map((pid) => `process ${pid} is left`);
}
