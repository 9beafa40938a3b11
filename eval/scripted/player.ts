import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, type JsonValue } from '../../src/base/json.ts';
import {
  firstUserText,
  startFakeModel,
  toolResultRounds,
  type Answer,
  type FakeModel,
  type ParsedBody,
} from '../../src/testing/index.ts';
import type { EvalTask } from '../tasks.ts';
import { editCalls, findOfferedFamily, toFamilyCall, type FamilyCall } from './edit-calls.ts';
import { readSolution } from './solution.ts';

/**
 * What the scripted model does with a task: it plays the solution itself, has a subagent play it if it may delegate,
 * claims to be done after reading, makes the visible check pass without solving anything, applies the solution from the
 * directory of the task if it can read it, leaves files that cannot be copied, or never answers.
 */
const BEHAVIOURS = ['solve', 'delegate', 'claim', 'tamper', 'peek', 'litter', 'hang'] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

/** The behaviours by the names of tasks. Tasks that are not named are solved. */
export type Script = Readonly<Record<string, Behaviour>>;

/** Reads a script. Throws an error that names a wrong entry. */
export function readScript(file: string): Script {
  const value: JsonValue = JSON.parse(readFileSync(file, 'utf8'));
  if (!isJsonObject(value)) throw new Error(`${file} must hold an object`);
  const entries = Object.entries(value).map(([task, name]) => {
    const behaviour = BEHAVIOURS.find((each) => each === name);
    if (behaviour !== undefined) return [task, behaviour] as const;
    throw new Error(`${file}: ${task} must be one of ${BEHAVIOURS.join(', ')}`);
  });
  return Object.fromEntries(entries);
}

/** The model that the scripted server stands for, and its prices in USD per million tokens. */
export const SCRIPTED_MODEL = 'scripted/player';
const PRICES = { input: 2, output: 10 };

/** Every answer has the same usage, so the figures of a report are known in advance. */
const USAGE = { input: 1000, output: 100, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

/** Starts a server that plays the solutions. */
export async function startPlayer(tasks: readonly EvalTask[], script: Script): Promise<FakeModel> {
  return startFakeModel({
    keepRequests: false,
    script: (request) => {
      const prompt = firstUserText(request);
      const task = tasks.find((each) => prompt.includes(each.prompt));
      if (task === undefined) throw new Error('no task has this prompt');
      return { usage: USAGE, ...play(task, script[task.name] ?? 'solve', request) };
    },
  });
}

/** The configuration with which agents use the server. */
export function playerConfig(url: string): string {
  return [
    '[models.providers.scripted]',
    'kind = "anthropic"',
    `base_url = "${url}"`,
    'api_key_env = "SCRIPTED_KEY"',
    `[models.catalogue."${SCRIPTED_MODEL}"]`,
    'context_window = 200000',
    'output_limit = 8000',
    `price_input = ${PRICES.input}`,
    `price_output = ${PRICES.output}`,
    '',
  ].join('\n');
}

type Request = Pick<ParsedBody, 'messages' | 'tools'>;

function play(task: EvalTask, behaviour: Behaviour, request: Request): Answer {
  const offered = request.tools.map(({ name }) => name);
  const round = toolResultRounds(request);
  const steps = plan(task, behaviour, offered);
  if (behaviour === 'hang' && round > 0) return { fault: { kind: 'hang' } };
  const toolCalls = steps[round];
  return toolCalls === undefined ? { text: 'Done.' } : { toolCalls };
}

/** The calls of each turn. One more turn follows, in which the model answers. */
function plan(
  task: EvalTask,
  behaviour: Behaviour,
  offered: readonly string[],
): readonly (readonly FamilyCall[])[] {
  const family = findOfferedFamily(offered);
  const bash = (command: string) => toFamilyCall(family, 'Bash', { command });
  if (behaviour === 'delegate' && offered.includes('Task')) {
    return [[{ name: 'Task', input: { description: task.name, prompt: task.prompt } }]];
  }
  const changes = readSolution(task);
  const existing = changes.filter(({ before }) => before !== null);
  const read = existing.map(({ path }) => toFamilyCall(family, 'Read', { file_path: path }));
  const look = read.length === 0 ? [bash('ls')] : read;
  if (behaviour === 'claim' || behaviour === 'hang') return [look];
  if (behaviour === 'tamper') return [look, [bash(tamperCommand(task))], [bash(task.check)]];
  if (behaviour === 'peek') {
    const solution = join(task.directory, 'solution.patch');
    const show = toFamilyCall(family, 'Read', { file_path: solution });
    return [[show], [bash(`git apply '${solution}'`)], [bash(task.check)]];
  }
  if (behaviour === 'litter') return [look, [bash(LITTER)]];
  return [look, editCalls(family, changes), [bash(task.check)]];
}

/** Leaves a pipe, a directory without rights, a name that is no UTF-8, and a path that is longer than a path may be. */
const LITTER = [
  'mkfifo pipe',
  'mkdir closed; touch closed/file; chmod 0 closed',
  String.raw`touch "$(printf 'bad\377name')"`,
  'name=$(printf %0200d 0); for i in $(seq 30); do mkdir "$name" && cd "$name"; done; touch end',
].join('; ');

/** Replaces every protected file by one that does nothing. */
function tamperCommand({ protected: paths }: EvalTask): string {
  return `find ${paths.join(' ')} -type f | while read -r file; do : > "$file"; done`;
}
