import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../src/base/clock.ts';
import { Deadlines, type Deadline } from '../../src/base/deadlines.ts';
import { Engine } from '../../src/engine/engine.ts';
import { Inbox } from '../../src/engine/task/inbox.ts';
import { MAIN_AGENT } from '../../src/engine/task/main-agent.ts';
import type { AnswerCaps } from '../../src/model/adapters/answers/answer-caps.ts';
import { createModelPort, type ModelPortLimits } from '../../src/model/model-port.ts';
import type { ProtocolName } from '../../src/model/settings/presets.ts';
import type { ModelRequest } from '../../src/protocol/model.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { openMemoryStore } from '../../src/store/memory-store.ts';
import { createHttpFetch } from '../../src/sys/http/http-fetch.ts';
import type { HttpFetch } from '../../src/sys/http/http-types.ts';
import { createUnavailableSandbox } from '../../src/sys/sandbox/sandbox.ts';
import {
  startFakeModel,
  type AnswerHandler,
  type FakeModel,
  type WireProtocol,
} from '../../src/testing/index.ts';
import { builtinTools } from '../../src/tools/index.ts';
import { rootRights, SETTINGS, WORKER } from '../engine/support.ts';
import { expectNoViolations } from '../no-violations.ts';
import type { EngineSettings } from '../../src/engine/limits/configured-limits.ts';
import { foldEvents } from '../../src/protocol/state/fold.ts';
import type { TaskState } from '../../src/protocol/state/task-state.ts';

/** Time that runs so many times as fast, for backoffs of seconds and time limits of minutes. */
function fastTime(speed: number) {
  class FastDeadlines extends Deadlines {
    override after(ms: number, fire: () => void): Deadline {
      return super.after(ms / speed, fire);
    }
  }
  const clock: Clock = {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic() * speed,
  };
  return { clock, deadlines: new FastDeadlines(systemClock) };
}

/** Time that stands still until it is hurried: then it leaps, for as long as anything waits. */
class LeapingTime extends Deadlines {
  readonly leapingClock: Clock = { now: () => systemClock.now(), monotonic: () => this.at };
  private at = 0;
  private readonly waiting = new Set<{ readonly due: number; readonly fire: () => void }>();
  private ticking: NodeJS.Timeout | null = null;

  constructor() {
    super(systemClock);
  }

  override after(ms: number, fire: () => void): Deadline {
    const entry = { due: this.at + ms, fire };
    this.waiting.add(entry);
    return { cancel: () => void this.waiting.delete(entry) };
  }

  hurry(): void {
    this.ticking ??= setInterval(() => this.leap(), LEAP_EVERY_MS);
  }

  stop(): void {
    if (this.ticking !== null) clearInterval(this.ticking);
  }

  private leap(): void {
    this.at += LEAP_MS;
    for (const entry of this.waiting) {
      if (entry.due > this.at) continue;
      this.waiting.delete(entry);
      entry.fire();
    }
  }
}

const LEAP_MS = 20_000;
const LEAP_EVERY_MS = 20;

const HOUR = 3_600_000;
/** However slow the machine is, no request runs into them. */
const PATIENT = {
  connectMs: HOUR,
  firstTokenMs: HOUR,
  privateFirstTokenMs: HOUR,
  streamIdleMs: HOUR,
};
const IMPATIENT = {
  connectMs: 200_000,
  firstTokenMs: 200_000,
  privateFirstTokenMs: 200_000,
  streamIdleMs: 200_000,
};

export interface WorldOptions {
  readonly protocol: WireProtocol;
  readonly script: AnswerHandler;
  readonly caps?: AnswerCaps;
  readonly settings?: Partial<EngineSettings>;
  /** Whether a request's time limits are those of the time that can be hurried. Default: none's. */
  readonly isImpatient?: (request: ModelRequest) => boolean;
  /** Where a request goes instead. Default: to the fake server. */
  readonly route?: (url: URL, body: string) => URL;
}

/** The real engine with real tools, over real connections to the fake server. */
export interface World extends AsyncDisposable {
  readonly fake: FakeModel;
  /** Runs the main agent on the prompt to its end; gives its state. */
  run(prompt: string): Promise<TaskState>;
  /** Of all tasks, by their prompts. */
  states(): ReadonlyMap<string, TaskState>;
  readonly events: readonly TaskEvent[];
  /** The time limits of impatient requests run out soon. */
  hurry(): void;
  /** The shell command that appends a line to the counter file. */
  count(line: string): string;
  /** The lines of that file, sorted. */
  counted(): readonly string[];
  readonly directory: string;
}

export async function openWorld(options: WorldOptions): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'muster-faults-'));
  const counter = join(directory, 'counter');
  const fake = await startFakeModel({ script: options.script });
  const { clock, deadlines } = fastTime(100);
  const connect = (
    limits: ModelPortLimits,
    time: { readonly clock: Clock; readonly deadlines: Deadlines },
  ) =>
    createModelPort({
      fetch: routed(createHttpFetch({}), options.route),
      ...time,
      version: '0',
      providers: [provider(options.protocol, fake)],
      limits,
      admission: { maxConcurrent: 64, requestsPerMinute: 0 },
      ...(options.caps === undefined ? {} : { caps: options.caps }),
    });
  const patient = connect(PATIENT, fastTime(1));
  const leaping = new LeapingTime();
  const impatient = connect(IMPATIENT, { clock: leaping.leapingClock, deadlines: leaping });
  const events: TaskEvent[] = [];
  const engine = new Engine({
    store: openMemoryStore(),
    model: {
      stream(request, signal, listener) {
        const isImpatient = options.isImpatient?.(request) ?? false;
        return (isImpatient ? impatient : patient).stream(request, signal, listener);
      },
    },
    models: {
      forTask: () => MODEL,
      outputLimit: () => null,
      details: async () => ({ contextWindow: null, maxOutput: 1_000, price: null }),
    },
    tools: builtinTools(),
    agents: { refresh: async () => {}, agents: () => [WORKER] },
    skills: { refresh: async () => {}, skills: () => [] },
    clock,
    deadlines,
    settings: {
      ...SETTINGS,
      foregroundMs: 1e9,
      caps: { ...SETTINGS.caps, toolMs: 1e9 },
      ...options.settings,
    },
    platform: 'linux',
    home: directory,
    stateDirectories: [],
    sandboxed: () => Promise.resolve(true),
    sandbox: createUnavailableSandbox('a test', 'none is needed'),
    inbox: new Inbox({ onAsk: 'deny', standing: null }),
    onEvent: (event) => void events.push(event),
    onSignal: () => {},
    onFault: (_, thrown) => {
      throw thrown;
    },
  });
  return {
    fake,
    events,
    directory,
    hurry: () => leaping.hurry(),
    async run(prompt) {
      const rights = { ...rootRights(SETTINGS.maxDepth), roots: [directory] };
      const run = engine.start({
        prompt,
        rights,
        cwd: directory,
        params: {},
        agent: MAIN_AGENT,
        model: MODEL,
        source: 'sdk',
      });
      await run.end.written;
      return run.state;
    },
    states() {
      const states = [...Map.groupBy(events, ({ task }) => task).values()].map(foldEvents);
      return new Map(states.map((state) => [state.spec.prompt, state]));
    },
    count: (line) => `echo ${line} >> ${counter}`,
    counted: () => linesOf(counter),
    async [Symbol.asyncDispose]() {
      leaping.stop();
      await fake.close();
      rmSync(directory, { recursive: true, force: true });
      expectNoViolations(fake);
    },
  };
}

const MODEL = { provider: 'fake', id: 'fake-model', chain: ['test'] };

const PROTOCOLS: Readonly<Record<WireProtocol, ProtocolName>> = {
  anthropic: 'anthropic',
  responses: 'openai-responses',
  chat: 'openai-chat',
  google: 'google',
};

function provider(protocol: WireProtocol, { baseUrls }: FakeModel) {
  const url: Readonly<Record<WireProtocol, string>> = {
    anthropic: baseUrls.anthropic,
    responses: baseUrls.openai,
    chat: baseUrls.compatible,
    google: baseUrls.google,
  };
  return {
    name: MODEL.provider,
    protocol: PROTOCOLS[protocol],
    baseUrl: url[protocol],
    apiKey: 'fake-key-of-the-test',
    source: 'a test',
    vendor: null,
    tiers: {},
    models: null,
    isPrivate: false,
  };
}

function routed(fetch: HttpFetch, route: WorldOptions['route']): HttpFetch {
  if (route === undefined) return fetch;
  return (url, request, observer) => {
    const body = typeof request?.body === 'string' ? request.body : '';
    return fetch(route(new URL(url), body), request, observer);
  };
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean).toSorted();
  } catch {
    // No call has run: there is no file.
    return [];
  }
}
