import { dirname, resolve } from 'node:path';
import {
  toolResultRounds,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../../src/testing/index.ts';
import { findMarked } from '../../e2e/processes.ts';
import { openWorld, type World } from '../../e2e/world.ts';

/** The programs that the development dependencies contain, such as `tsc` and `pyright-langserver`. */
const PROGRAMS = resolve(import.meta.dirname, '../../../node_modules/.bin');

/** The limits of the tests: a busy machine is slow. */
export const PATIENT = {
  MUSTER_CODE_CHECK_SECONDS: '60',
  MUSTER_CODE_START_SECONDS: '120',
  MUSTER_CODE_FORMAT_SECONDS: '60',
  MUSTER_CODE_COMMAND_SECONDS: '120',
};

/** The PATH of a user who has installed the programs of the development dependencies. */
const USER_PATH = `${PROGRAMS}:${dirname(process.execPath)}:/usr/bin:/bin`;

interface Scene {
  readonly files: Readonly<Record<string, string>>;
  /** The calls of the main agent, one in each message. */
  readonly calls: readonly AnswerToolCall[];
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Called before the run with the directory of the workspace. */
  readonly prepare?: (workspace: string) => Promise<void>;
  /** Returns the directory of the run. Default: that of the workspace. */
  readonly directory?: (workspace: string) => string;
  /** Called after the run, with what else may be looked at. */
  readonly after?: (world: World) => Promise<void>;
}

export function call(name: string, input: AnswerToolCall['input']): AnswerToolCall {
  return { name, input };
}

/** Runs a conversation on the built program. Returns the results of its calls as the model reads them. */
export async function runCalls(scene: Scene) {
  const { files, calls, flags = [], env = {}, prepare, directory } = scene;
  await using world = await openWorld({
    files,
    script: (request) => {
      const next = calls[toolResultRounds(request)];
      return next === undefined ? { text: 'done' } : { toolCalls: [next] };
    },
  });
  await prepare?.(world.sandbox.workspace);
  const args = [
    '-p',
    'go',
    '--output-format',
    'json',
    '--permission-mode',
    'acceptEdits',
    ...flags,
  ];
  const cwd = directory?.(world.sandbox.workspace);
  const run = await world.run(args, {
    env: { PATH: USER_PATH, ...PATIENT, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  await scene.after?.(world);
  const last = world.model.requests.at(-1);
  return {
    run,
    left: findMarked(world.mark),
    requests: world.model.requests,
    results: last === undefined ? [] : listResults(last),
  };
}

/** Returns the texts of all results in a request, without the marks of outside text. */
function listResults({ messages }: RecordedRequest): readonly string[] {
  return messages.flatMap(({ toolResults }) =>
    (toolResults ?? []).map(({ text }) => text.replaceAll(/<\/?outside [0-9a-z]+>\n?/g, '').trim()),
  );
}
