import { createServer } from 'node:http';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { parseSessionAgents } from '../../src/agents/formats/claude/reader.ts';
import type { ResultEnvelope, SessionOptions } from '../../src/api/index.ts';
import { openSession } from '../../src/api/open-session.ts';
import { type ErrorCode, errorMessage } from '../../src/base/errors.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import type { Decision } from '../../src/protocol/permission.ts';
import { describe, findMarked } from '../e2e/processes.ts';
import { startFakeModel, type RecordedRequest } from '../../src/testing/index.ts';
import { expectNoViolations } from '../no-violations.ts';
import type { HostileCase, ProgramRun, Settings } from './case.ts';
import { runProgram, type EndedProgram } from './program.ts';
import { answerAll, type Asked } from './person.ts';
import { replaceEnvironment } from './environment.ts';
import { MAIN, ScriptPlayer, taskNameIn } from './script.ts';
import { differences, HostileWorld } from './world.ts';

/** How a call ended, told by the durable events. */
export interface PlayedCall {
  readonly task: string;
  readonly tool: string;
  readonly end: 'ran' | 'failed' | 'refused';
  readonly error: ErrorCode | null;
  readonly decision: Decision | null;
  readonly text: string;
}

export interface Outcome {
  readonly calls: readonly PlayedCall[];
  readonly requests: readonly RecordedRequest[];
  /** Null: the start was refused, and `startError` says why. */
  readonly envelope: ResultEnvelope | null;
  readonly startError: string | null;
  readonly notices: readonly string[];
  readonly programs: readonly EndedProgram[];
  readonly asked: readonly Asked[];
  /** Processes that commands left behind. */
  readonly left: string;
  /** Paths that differ. */
  readonly changed: readonly string[];
  readonly kept: string;
  readonly hits: number;
  readonly grownMegabytes: number;
  readonly world: HostileWorld;
}

/** Plays a case in a world of its own with the real engine, store, tools and policy. */
export async function play(each: HostileCase, look: (outcome: Outcome) => void): Promise<void> {
  await using visitor = await startVisited();
  const model = await startFakeModel({ script: (request) => player.answer(request) });
  using world = new HostileWorld(each.files, { url: visitor.url, model: model.url });
  const player = new ScriptPlayer(each.model ?? {}, world);
  const environment = environmentOf(world, {
    ...model.env('anthropic'),
    ...world.fill(each.env ?? {}),
  });
  const restore = replaceEnvironment(environment);
  const before = world.snapshot();
  const memory = process.memoryUsage().rss;
  try {
    const run =
      each.program === undefined
        ? await runIn(world, each.settings ?? {}, environment)
        : await runPrograms(world, each.program, environment);
    await player.close();
    expectNoViolations(model);
    look({
      ...run,
      requests: model.requests,
      changed: differences(before, world.snapshot()),
      kept: world.keptText(),
      hits: visitor.hits(),
      left: run.calls.some(({ tool }) => tool === 'Bash')
        ? describe(findMarked(markOf(world)))
        : '',
      grownMegabytes: (process.memoryUsage().rss - memory) / 1e6,
      world,
    });
  } finally {
    restore();
    await player.close();
    await model.close();
  }
}

/** What every process that a command of this world is has in its environment. */
export function markOf(world: HostileWorld): string {
  return `HOME=${world.place('home')}`;
}

/** Nothing of the developer's own machine gets in. */
export function environmentOf(
  world: HostileWorld,
  extra: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: world.place('home'),
    TMPDIR: world.place('tmp'),
    LANG: 'C.UTF-8',
    ...extra,
  };
}

type Ran = Pick<Outcome, 'calls' | 'envelope' | 'startError' | 'notices' | 'programs' | 'asked'>;

async function runIn(
  world: HostileWorld,
  settings: Settings,
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  const notices: string[] = [];
  const events: TaskEvent[] = [];
  try {
    const muster = await openSession({
      ...optionsOf(world, settings),
      environment,
      onNotice: (line) => void notices.push(line),
    });
    const { person } = settings;
    const asked = person === undefined ? [] : answerAll(muster, person);
    try {
      const run = muster.start(
        {
          prompt: world.fill(settings.prompt ?? 'go'),
          ...(settings.agent === undefined ? {} : { agent: settings.agent }),
        },
        (event) => void events.push(event),
      );
      const envelope = await run.result;
      return {
        calls: playedCalls(events),
        envelope,
        startError: null,
        notices,
        programs: [],
        asked,
      };
    } finally {
      await muster.close();
    }
  } catch (thrown) {
    const startError = errorMessage(thrown);
    return {
      calls: playedCalls(events),
      envelope: null,
      startError,
      notices,
      programs: [],
      asked: [],
    };
  }
}

async function runPrograms(
  world: HostileWorld,
  runs: readonly ProgramRun[],
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  const programs: EndedProgram[] = [];
  for (const run of runs) {
    for (const act of run.before ?? []) world.act(act);
    programs.push(await runProgram(world, world.fill(run), environment));
  }
  return { calls: [], envelope: null, startError: null, notices: [], programs, asked: [] };
}

export function optionsOf(world: HostileWorld, settings: Settings): SessionOptions {
  const filled = world.fill(settings);
  const { person } = filled;
  return {
    cwd: join(world.root, filled.cwd ?? 'ws'),
    dataDir: world.place('data'),
    addDirs: filled.addDirs ?? [],
    trustProject: filled.trustProject ?? false,
    flags: flagsOf(filled),
    agents: parseSessionAgents(JSON.stringify(filled.agents ?? {})).items,
    ...(filled.maxTurns === undefined ? {} : { maxTurns: filled.maxTurns }),
    ...(person === undefined ? {} : { questions: 'wait' }),
  };
}

function flagsOf({
  mode,
  allow = [],
  ask = [],
  deny = [],
}: Settings): NonNullable<SessionOptions['flags']> {
  const rules = { allow, ask, deny };
  return [
    ...(mode === undefined
      ? []
      : [{ key: 'permissions.mode', flag: '--permission-mode', text: mode } as const]),
    ...(['allow', 'ask', 'deny'] as const).flatMap((list) =>
      rules[list].map((text) => ({ key: `permissions.${list}`, flag: `--${list}`, text }) as const),
    ),
  ];
}

export function playedCalls(events: readonly TaskEvent[]): readonly PlayedCall[] {
  const names = new Map(
    events.flatMap((event) =>
      event.type === 'task.created'
        ? [[event.task, event.spec.parent === null ? MAIN : taskNameIn(event.spec.prompt)] as const]
        : [],
    ),
  );
  const order = new Map(
    events
      .flatMap((event) => (event.type === 'turn.ended' ? event.message.content : []))
      .flatMap((part) => (part.type === 'tool_call' ? [part.id] : []))
      .map((id, index) => [id, index] as const),
  );
  return events
    .filter((event) => event.type === 'call.ended' || event.type === 'call.refused')
    .toSorted((a, b) => (order.get(a.callId) ?? 0) - (order.get(b.callId) ?? 0))
    .map((event) => ({
      task: names.get(event.task) ?? event.task,
      tool: event.tool,
      end: event.type === 'call.refused' ? 'refused' : event.error === null ? 'ran' : 'failed',
      error: event.error,
      decision: event.type === 'call.refused' ? event.decision : null,
      text: event.text,
    }));
}

/** A server that nobody should come to. */
export async function startVisited() {
  let hits = 0;
  const server = createServer((_, response) => {
    hits += 1;
    response.end('visited');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    hits: () => hits,
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
