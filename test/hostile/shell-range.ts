import { openSession } from '../../src/api/open-session.ts';
import type { Session } from '../../src/api/index.ts';
import type { TaskEvent } from '../../src/protocol/events/event.ts';
import { startFakeModel, type FakeModel } from '../../src/testing/index.ts';
import { expectNoViolations } from '../no-violations.ts';
import { describe, endMarked, findMarked } from '../e2e/processes.ts';
import { task } from './calls.ts';
import type { Call, Settings, Step } from './case.ts';
import { SHELL_FILES } from './cases/shell-commands.ts';
import { replaceEnvironment } from './environment.ts';
import {
  environmentOf,
  markOf,
  optionsOf,
  playedCalls,
  startVisited,
  type PlayedCall,
} from './play.ts';
import { answerAll } from './person.ts';
import { ScriptPlayer } from './script.ts';
import { differences, HostileWorld } from './world.ts';

/** What became of the commands of one message. */
export interface PlayedCommands {
  readonly calls: readonly PlayedCall[];
  /** Paths that differ from the world as it was made. */
  readonly changed: readonly string[];
  /** Requests that came to the world's own server. */
  readonly hits: number;
  /** What the model was told of them. */
  readonly sent: string;
}

export interface RangeSettings extends Settings {
  readonly env: Readonly<Record<string, string>>;
  /** The type of the subagent that runs them. Absent: the main agent does. */
  readonly child?: string;
}

interface Parts {
  readonly world: HostileWorld;
  readonly muster: Session;
  readonly model: FakeModel;
  readonly steps: Record<string, readonly Step[]>;
  readonly visited: Awaited<ReturnType<typeof startVisited>>;
  readonly restore: () => void;
  readonly settings: RangeSettings;
}

/** As many as one message may hold. */
const A_MESSAGE = 100;

/** A world, a model and a Muster in which commands are played; the world is as it was made before each message. */
export class ShellRange implements AsyncDisposable {
  readonly world: HostileWorld;
  private readonly parts: Parts;
  private readonly before: ReadonlyMap<string, string>;
  private messages = 0;

  private constructor(parts: Parts) {
    this.parts = parts;
    this.world = parts.world;
    this.before = parts.world.snapshot();
  }

  static async open(settings: RangeSettings): Promise<ShellRange> {
    const visited = await startVisited();
    const world = new HostileWorld(SHELL_FILES, { url: visited.url });
    world.keep();
    const steps: Record<string, readonly Step[]> = {};
    const player = new ScriptPlayer({ tasks: steps }, world);
    const model = await startFakeModel({ script: (request) => player.answer(request) });
    const environment = environmentOf(world, { ...model.env('anthropic'), ...settings.env });
    const restore = replaceEnvironment(environment);
    const muster = await openSession({
      ...optionsOf(world, settings),
      environment,
      log: false,
    });
    if (settings.person !== undefined) answerAll(muster, settings.person);
    return new ShellRange({ world, muster, model, steps, visited, restore, settings });
  }

  /**
   * Plays each, a hundred a message; where a message had an effect, those of it that ran once more and
   * alone, so that each has its own outcome.
   */
  async playEach(commands: readonly string[]): Promise<readonly PlayedCommands[]> {
    const each: PlayedCommands[] = [];
    for (let from = 0; from < commands.length; from += A_MESSAGE) {
      const message = commands.slice(from, from + A_MESSAGE);
      const together = await this.play(message);
      each.push(...(await this.apart(message, together)));
    }
    return each;
  }

  private async apart(
    message: readonly string[],
    together: PlayedCommands,
  ): Promise<readonly PlayedCommands[]> {
    if (together.changed.length === 0 && together.hits === 0) return together.calls.map(onlyOf);
    const each: PlayedCommands[] = [];
    for (const [index, command] of message.entries()) {
      const call = together.calls[index];
      each.push(call?.end !== 'refused' ? await this.play([command]) : onlyOf(call));
    }
    if (each.some(({ changed, hits }) => changed.length > 0 || hits > 0)) return each;
    throw new Error(`together they had an effect, and none alone: ${together.changed.join(', ')}`);
  }

  /** Plays them in one message. */
  private async play(commands: readonly string[]): Promise<PlayedCommands> {
    const { muster, model, visited, settings, steps } = this.parts;
    const name = `message-${(this.messages += 1)}`;
    steps[name] = [{ calls: commands.map(bashFor) }];
    const { child, agent } = settings;
    if (child !== undefined) steps[`lead-${name}`] = [{ calls: [task(name, child)] }];
    const hits = visited.hits();
    const sent = model.requests.length;
    const events: TaskEvent[] = [];
    const run = muster.start(
      {
        prompt: `[${child === undefined ? name : `lead-${name}`}] go`,
        ...(agent === undefined ? {} : { agent }),
      },
      (event) => void events.push(event),
    );
    await run.result;
    const changed = differences(this.before, this.world.snapshot());
    if (changed.length > 0) this.world.goBack();
    return {
      calls: playedCalls(events).filter(({ tool }) => tool === 'Bash'),
      changed,
      hits: visited.hits() - hits,
      sent: model.requests
        .slice(sent)
        .map(({ rawBody }) => rawBody)
        .join('\n'),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { restore, muster, model, visited, world } = this.parts;
    restore();
    await muster.close();
    const left = findMarked(markOf(world));
    const names = describe(left);
    endMarked(markOf(world));
    await model.close();
    await visited[Symbol.asyncDispose]();
    world[Symbol.dispose]();
    expectNoViolations(model);
    if (left.length > 0) throw new Error(`these go on: ${names}`);
  }
}

function onlyOf(call: PlayedCall | undefined): PlayedCommands {
  return {
    calls: call === undefined ? [] : [call],
    changed: [],
    hits: 0,
    sent: call?.text ?? '',
  };
}

/** None of them has to take longer. */
const COMMAND_MS = 3_000;

function bashFor(command: string): Call {
  return { name: 'Bash', input: { command, timeout: COMMAND_MS } };
}
