import { dirname, resolve } from 'node:path';
import {
  toolResultRounds,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../../src/testing/index.ts';
import { openWorld } from '../../e2e/world.ts';

/** The programs that the development dependencies contain, such as `tsc` and `pyright-langserver`. */
const PROGRAMS = resolve(import.meta.dirname, '../../../node_modules/.bin');

interface Scene {
  readonly files: Readonly<Record<string, string>>;
  /** The calls of the main agent, one in each message. */
  readonly calls: readonly AnswerToolCall[];
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the programs of the development dependencies and of the system. */
  readonly path?: string;
}

/** Runs a conversation on the built program. Returns the results of its calls as the model reads them. */
export async function runCalls({ files, calls, flags = [], env = {}, path = PROGRAMS }: Scene) {
  await using world = await openWorld({
    files,
    script: (request) => {
      const call = calls[toolResultRounds(request)];
      return call === undefined ? { text: 'done' } : { toolCalls: [call] };
    },
  });
  const own = `${path}:${dirname(process.execPath)}:/usr/bin:/bin`;
  const args = [
    '-p',
    'go',
    '--output-format',
    'json',
    '--permission-mode',
    'acceptEdits',
    ...flags,
  ];
  const started = performance.now();
  const run = await world.run(args, { env: { ...env, PATH: own } });
  const last = world.model.requests.at(-1);
  return {
    run,
    seconds: (performance.now() - started) / 1000,
    requests: world.model.requests,
    results: last === undefined ? [] : listResults(last),
  };
}

function listResults({ messages }: RecordedRequest): readonly string[] {
  return messages.flatMap(({ toolResults }) => (toolResults ?? []).map(({ text }) => text));
}
