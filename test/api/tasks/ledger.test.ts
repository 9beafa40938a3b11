import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import {
  createMuster,
  openTasks,
  type EventListener,
  type UsageReport,
} from '../../../src/library.ts';
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

/** Faults that a try after them gets over; of the first four an answer has begun. */
const FAULTS: readonly Fault[] = [
  { kind: 'reset' },
  { kind: 'truncate' },
  { kind: 'half_event' },
  { kind: 'malformed_frame' },
  { kind: 'status', status: 500 },
  { kind: 'refuse' },
];

/** What is answered, in order of the requests' arrival; text alone when it has come to its end. */
interface Plan {
  readonly answers: readonly {
    readonly children: number;
    readonly fault: Fault | null;
    readonly tokens: readonly [number, number, number, number, number];
  }[];
  /**
   * While which request alone is being answered the run is stopped, and then gone on with; null: never. Of
   * an answer that is on its way as the run is stopped nobody can say whether it is read.
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

/** As far as the protocol can say it. */
function usageOf(protocol: WireProtocol, tokens: Plan['answers'][number]['tokens']): Usage {
  const [input, output, cacheRead, cacheWrite, reasoning] = tokens;
  return {
    input,
    output: output + reasoning,
    cacheRead,
    cacheWrite: protocol === 'anthropic' ? cacheWrite : 0,
    reasoning: protocol === 'anthropic' ? 0 : reasoning,
  };
}

function scriptOf(plan: Plan, protocol: WireProtocol) {
  let count = 0;
  return (request: RecordedRequest): Answer => {
    const step = plan.answers[count];
    count += 1;
    const text = `answer ${count} `.repeat(30);
    if (step === undefined) return { text, usage: usageOf(protocol, [7, 3, 0, 0, 1]) };
    const usage = usageOf(protocol, step.tokens);
    // The usage behind a frame that can't be read is heard only by who is not stopped meanwhile.
    const isUnheard = plan.stopAt !== null && step.fault?.kind === 'malformed_frame';
    const fault = step.fault === null || isUnheard ? {} : { fault: step.fault };
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

function home(): string {
  const path = mkdtempSync(join(tmpdir(), 'muster-ledger-'));
  opened.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface Played {
  readonly model: FakeModel;
  readonly report: (by: UsageReport['by']) => Promise<UsageReport>;
  /** The sum over the fold of each log. */
  readonly folded: { readonly usage: Usage; readonly estimated: number };
}

/** The requests that a run waits for. */
class Answering {
  /** By task, with whether its answer has begun. */
  private readonly open = new Map<string, boolean>();

  readonly onEvent: EventListener = ({ type, task }) => {
    if (type === 'turn.started' || type === 'turn.retried') this.open.set(task, false);
    else if (type === 'turn.accepted') this.open.set(task, true);
    else if (type === 'turn.ended' || type === 'turn.failed') this.open.delete(task);
  };

  /** Whether of all answers one is left, of which something has been read: what a server said is then known. */
  get isOneAlone(): boolean {
    return this.open.size === 1 && [...this.open.values()].every((hasBegun) => hasBegun);
  }
}

async function play(plan: Plan, protocol: WireProtocol): Promise<Played> {
  const directory = home();
  const dataDir = join(directory, 'data');
  const model = await startFakeModel({ models: ['fake-model'], script: scriptOf(plan, protocol) });
  opened.push(() => model.close().then(() => expectNoViolations(model)));
  const open = () =>
    createMuster({
      cwd: directory,
      dataDir,
      environment: { HOME: directory, MUSTER_TASK_TOOL_NESTED: 'true', ...model.env(protocol) },
      ...(protocol === 'chat' ? {} : { model: `${PROVIDERS[protocol]}/fake-model` }),
    });
  const first = await open();
  const answering = new Answering();
  const run = first.start({ prompt: 'go' }, answering.onEvent);
  const looking = setInterval(() => {
    const slow = model.requests[(plan.stopAt ?? 0) - 1];
    if (slow === undefined || slow.outcome.endedAt !== null || !answering.isOneAlone) return;
    clearInterval(looking);
    void first.stop({ by: 'user', because: 'enough' });
  }, 5);
  await run.result;
  clearInterval(looking);
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
  { timeout: 120_000 },
  async (protocol) => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const { model, report, folded } = await play(plan, protocol);
        const outcomes = model.requests.map(({ outcome }) => outcome);
        const told = outcomes.flatMap(({ usage }) => (usage === null ? [] : [usage]));
        const broken = outcomes.filter(
          ({ usage, status, firstByteAt }) =>
            usage === null && status === 200 && firstByteAt !== null,
        );
        const sum = told.reduce(addUsage, NO_USAGE);
        expect(folded).toEqual({ usage: sum, estimated: broken.length });
        for (const by of ['task', 'tree', 'type', 'model', 'day'] as const) {
          const { total, rows } = await report(by);
          expect(total.reported).toMatchObject({ answers: told.length, usage: sum });
          expect(total.estimated.answers).toBe(broken.length);
          const parts = rows.map(({ reported }) => reported.usage);
          expect(parts.reduce(addUsage, NO_USAGE)).toEqual(sum);
        }
      }),
      { numRuns: 5, endOnFailure: true },
    );
  },
);
