import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import type { EventListener, UsageReport } from '../../../src/api/index.ts';
import { openSession } from '../../../src/api/open-session.ts';
import { openTasks } from '../../../src/api/stored-tasks.ts';
import { sumLedger } from '../../../src/protocol/state/ledger.ts';
import { addUsage, NO_USAGE, type Usage } from '../../../src/protocol/model.ts';
import {
  startFakeModel,
  toolResultRounds,
  type RecordedRequest,
  WIRE_PROTOCOLS,
  type Answer,
  type FakeModel,
  type Fault,
  type WireProtocol,
} from '../../../src/testing/index.ts';
import { expectNoViolations } from '../../no-violations.ts';

const opened: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});

/** Faults after which a retry succeeds. The first four interrupt an answer that has begun. */
const FAULTS: readonly Fault[] = [
  { kind: 'reset' },
  { kind: 'truncate' },
  { kind: 'half_event' },
  { kind: 'malformed_frame' },
  { kind: 'status', status: 500 },
  { kind: 'refuse' },
];

/** The answers to requests, in the order of arrival. After these answers, the model answers with text only. */
interface Plan {
  readonly answers: readonly {
    readonly children: number;
    readonly fault: Fault | null;
    readonly tokens: readonly [number, number, number, number, number];
  }[];
  /**
   * The number of the request at which the run is stopped and then resumed, or null. The run is stopped only while this
   * is the only open request, because it is unknown how much of other answers would still be read.
   */
  readonly stopAt: number | null;
}

const TOKENS = fc.nat(5000);

const plans: fc.Arbitrary<Plan> = fc.record({
  answers: fc.array(
    fc.record({
      children: fc.constantFrom(0, 0, 1, 3),
      fault: fc.constantFrom<Fault | null>(null, null, null, ...FAULTS),
      tokens: fc.tuple(TOKENS, TOKENS, TOKENS, TOKENS, TOKENS),
    }),
    { maxLength: 7 },
  ),
  stopAt: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null }),
});

/** Returns the usage as the protocol can express it. */
function createUsage(protocol: WireProtocol, tokens: Plan['answers'][number]['tokens']): Usage {
  const [input, output, cacheRead, cacheWrite, reasoning] = tokens;
  return {
    input,
    output: output + reasoning,
    cacheRead,
    cacheWrite: protocol === 'anthropic' ? cacheWrite : 0,
    reasoning: protocol === 'anthropic' ? 0 : reasoning,
  };
}

function createScript(plan: Plan, protocol: WireProtocol) {
  let count = 0;
  return (request: RecordedRequest): Answer => {
    const step = plan.answers[count];
    count += 1;
    const text = `answer ${count} `.repeat(30);
    if (step === undefined) return { text, usage: createUsage(protocol, [7, 3, 0, 0, 1]) };
    const usage = createUsage(protocol, step.tokens);
    // The usage after a malformed frame is read only if the run is not stopped meanwhile.
    const isUnread = plan.stopAt !== null && step.fault?.kind === 'malformed_frame';
    const fault = step.fault === null || isUnread ? {} : { fault: step.fault };
    const mayDelegate = toolResultRounds(request) < 2 && request.tools.some(isTask);
    const slow = plan.stopAt === count ? { chunks: 20, chunkMs: 50 } : {};
    if (step.children === 0 || !mayDelegate) return { text, usage, ...fault, ...slow };
    const toolCalls = Array.from({ length: step.children }, (_, child) => ({
      name: 'Task',
      input: { prompt: `look at part ${child}`, description: `part ${count}-${child}` },
    }));
    return { text, toolCalls, usage, ...fault, ...slow };
  };
}

function isTask({ name }: { readonly name: string }): boolean {
  return name === 'Task';
}

function createHome(): string {
  const path = mkdtempSync(join(tmpdir(), 'muster-ledger-'));
  opened.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface PlanResult {
  readonly model: FakeModel;
  readonly report: (by: UsageReport['by']) => Promise<UsageReport>;
  /** The sums over the ledgers in the logs. */
  readonly folded: { readonly usage: Usage; readonly estimated: number };
}

/** Tracks the open requests of a run. */
class OpenRequests {
  /** By task: whether the answer has begun. */
  private readonly open = new Map<string, boolean>();

  readonly onEvent: EventListener = ({ type, task }) => {
    if (type === 'turn.started' || type === 'turn.retried') this.open.set(task, false);
    else if (type === 'turn.accepted') this.open.set(task, true);
    else if (type === 'turn.ended' || type === 'turn.failed') this.open.delete(task);
  };

  /**
   * True if exactly one request is open and its answer has begun, so that the usage reported by the server is known.
   */
  get isSingleAnswer(): boolean {
    return this.open.size === 1 && [...this.open.values()].every((hasBegun) => hasBegun);
  }
}

async function runPlan(plan: Plan, protocol: WireProtocol): Promise<PlanResult> {
  const directory = createHome();
  const dataDir = join(directory, 'data');
  const model = await startFakeModel({
    models: ['fake-model'],
    script: createScript(plan, protocol),
  });
  opened.push(() => model.close().then(() => expectNoViolations(model)));
  const open = () =>
    openSession({
      cwd: directory,
      dataDir,
      environment: { HOME: directory, MUSTER_TASK_TOOL_NESTED: 'true', ...model.env(protocol) },
      ...(protocol === 'chat' ? {} : { model: `${PROVIDERS[protocol]}/fake-model` }),
    });
  const first = await open();
  const openRequests = new OpenRequests();
  const run = first.start({ prompt: 'go' }, openRequests.onEvent);
  const stopTimer = setInterval(() => {
    const slow = model.requests[(plan.stopAt ?? 0) - 1];
    if (slow === undefined || slow.outcome.endedAt !== null || !openRequests.isSingleAnswer) return;
    clearInterval(stopTimer);
    void first.stop({ by: 'user', because: 'enough' });
  }, 5);
  await run.result;
  clearInterval(stopTimer);
  await first.close();
  if (plan.stopAt !== null) {
    const second = await open();
    await (
      await second.resume({ id: run.id, prompt: 'go on' })
    ).result;
    await second.close();
  }
  await model.close();
  const tasks = openTasks({ dataDir, environment: { HOME: directory } });
  opened.push(() => tasks.close());
  const ledgers = tasks.list().map(({ id }) => tasks.state(id).ledger);
  return {
    model,
    report: (by) => tasks.usage({ by, since: null, task: null }),
    folded: {
      usage: sumLedger(ledgers.flat(), { isEstimated: false }).usage,
      estimated: sumLedger(ledgers.flat(), { isEstimated: true }).answers,
    },
  };
}

const PROVIDERS = { anthropic: 'anthropic', responses: 'openai', google: 'google' } as const;

it.each(WIRE_PROTOCOLS)(
  '%s: the ledger is the sum of the usage that the server reported, and unreported usage is counted separately',
  async (protocol) => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const { model, report, folded } = await runPlan(plan, protocol);
        const outcomes = model.requests.map(({ outcome }) => outcome);
        const reported = outcomes.flatMap(({ usage }) => (usage === null ? [] : [usage]));
        const broken = outcomes.filter(
          ({ usage, status, firstByteAt }) =>
            usage === null && status === 200 && firstByteAt !== null,
        );
        const sum = reported.reduce(addUsage, NO_USAGE);
        expect(folded).toEqual({ usage: sum, estimated: broken.length });
        for (const by of ['task', 'tree', 'type', 'model', 'day'] as const) {
          const { total, rows } = await report(by);
          expect(total.reported).toMatchObject({ answers: reported.length, usage: sum });
          expect(total.estimated.answers).toBe(broken.length);
          const parts = rows.map(({ reported }) => reported.usage);
          expect(parts.reduce(addUsage, NO_USAGE)).toEqual(sum);
        }
      }),
      { numRuns: 5, endOnFailure: true },
    );
  },
);
