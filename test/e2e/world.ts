import { constants } from 'node:os';
import {
  startFakeModel,
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type FakeModel,
  type FakeModelOptions,
  type RecordedRequest,
  type WireProtocol,
  type WireToolResult,
} from '../../src/testing/index.ts';
import { dropMissing } from '../../src/base/drop-missing.ts';
import { Sandbox, startMuster, type Finished, type Running, type RunOptions } from './muster.ts';
import { expectNoViolations } from '../no-violations.ts';
import { endMarked } from './processes.ts';

/** A sandbox with a model that Muster is pointed at: one for each test, so that tests run side by side. */
export class World implements AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly model: FakeModel;
  private readonly options: WorldOptions;

  constructor(sandbox: Sandbox, model: FakeModel, options: WorldOptions) {
    this.sandbox = sandbox;
    this.model = model;
    this.options = options;
  }

  private get protocol(): WireProtocol {
    return this.options.protocol ?? 'anthropic';
  }

  start(args: readonly string[], options: RunOptions = {}): Running {
    const env = {
      ...this.model.env(this.protocol),
      ...(this.options.bare === true ? { MUSTER_SANDBOX_KIND: 'off' } : {}),
      ...options.env,
    };
    const bare = this.options.bare === true ? BARE_FLAGS : [];
    return startMuster(
      this.sandbox,
      [...args, ...bare, ...modelFlags(this.protocol, this.options.modelName)],
      {
        ...options,
        env,
      },
    );
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return this.start(args, options).finished;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Only what a failed test has left: every process of the sandbox has its home.
    endMarked(this.mark);
    await this.model.close();
    this.sandbox[Symbol.dispose]();
    expectNoViolations(this.model);
  }

  /** What every process that Muster starts here, and Muster itself, has in its environment. */
  get mark(): string {
    return `HOME=${this.sandbox.home}`;
  }
}

/** Without a sandbox no mode lets a command run. */
const BARE_FLAGS = ['--allow', 'Bash'];

export interface WorldOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly script?: FakeModelOptions['script'];
  /** False if programs of others send requests as well, which may break rules of their vendors. Default: true. */
  readonly strict?: false;
  /** Default: `anthropic`. */
  readonly protocol?: WireProtocol;
  /** The value of --model. Default: the model that the environment names. */
  readonly modelName?: string;
  /** Commands run outside of any sandbox of the system: what then is left of them, and counted. */
  readonly bare?: boolean;
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const { files = {} } = options;
  const model = await startFakeModel(
    dropMissing({ script: options.script, strict: options.strict }),
  );
  return new World(new Sandbox(files), model, options);
}

/** OpenAI's own default would be asked for by a name that the fake does not list. */
function modelFlags(protocol: WireProtocol, modelName?: string): readonly string[] {
  const name = modelName ?? (protocol === 'responses' ? 'openai/gpt-test' : undefined);
  return name === undefined ? [] : ['--model', name];
}

/** A model that makes these calls, one message after another, and then answers `done`. */
export function callsInTurn(
  ...messages: readonly (readonly AnswerToolCall[])[]
): (request: RecordedRequest) => Answer {
  return (request) => {
    const toolCalls = messages[toolResultRounds(request)];
    return toolCalls === undefined ? { text: 'done' } : { toolCalls };
  };
}

export function bash(command: string): AnswerToolCall {
  return { name: 'Bash', input: { command } };
}

/** What the model was told in the last request. */
export function lastResults(model: FakeModel): readonly WireToolResult[] {
  return model.requests.at(-1)?.messages.at(-1)?.toolResults ?? [];
}

/** The exit code as a shell reports it. */
export function exitStatus({ code, signal }: Finished): number | null {
  return signal === null ? code : 128 + constants.signals[signal];
}
