import { loadHookTrials, type HookTrial, type SampleOccasion } from '../../../../api/index.ts';
import { isJsonObject, type JsonObject } from '../../../../base/json.ts';
import { parseJsonLine } from '../../../../base/jsonl.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { plural } from '../../../../base/text.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { UsageError } from '../../../../base/errors.ts';
import { HOOK_EVENTS, type HookEventName } from '../../../../protocol/hook.ts';
import { describeHookRecord } from '../../../../protocol/hook-text.ts';
import { defineCommand, refuseAgents, type CommandContext } from '../../command.ts';
import { outputOptions, type OutputOptions } from '../../run-options.ts';

interface TestOptions extends OutputOptions {
  readonly cwd: string | null;
  /** The occasion to try, or the id of a recorded task. */
  readonly tried: SampleOccasion | { readonly replayed: string };
}

/** `muster hooks test` */
export const hooksTestCommand = defineCommand<TestOptions>({
  words: 'hooks test',
  summary: 'run the hooks of an EVENT (VALUE and JSON follow), or try all on a recorded task',
  operands: [{ name: '[EVENT…]', completes: { words: HOOK_EVENTS } }],
  flags: ['replay', 'json', 'cwd', 'data-dir'],
  examples: [
    'muster hooks test PreToolUse Bash \'{"command": "rm -r build"}\'',
    'muster hooks test UserPromptSubmit "Deploy it"',
    'muster hooks test --replay 4f2k9x',
  ],
  parse: ({ operands, flags }) => ({
    ...outputOptions(flags),
    cwd: flags.text('cwd'),
    tried: readTried(operands, flags.text('replay')),
  }),
  run: async ({ tried, cwd, json, dataDir }, context) => {
    refuseAgents(context.environment, 'try hooks');
    const { stateLocation } = await import('../../configuration.ts');
    const { tryHooks, replayHooks } = await loadHookTrials();
    const state = stateLocation({ cwd, dataDir }, context);
    const onNotice = (line: string) => context.err(`muster: ${sanitizeLine(line)}\n`);
    const options = { ...state, onNotice };
    const trials: HookTrial[] = [];
    const onTrial = (trial: HookTrial) => {
      trials.push(trial);
      if (!json) print(context, trial);
    };
    if ('replayed' in tried) await replayHooks(tried.replayed, onTrial, options);
    else onTrial(await tryHooks(tried, options));
    if (json) context.out(`${toPrintableJson(trials, 2)}\n`);
    else if (trials.length === 0) context.out('No hook would have run on this task.\n');
    return 0;
  },
});

function readTried(operands: readonly string[], replayed: string | null): TestOptions['tried'] {
  const [event, value, text, ...rest] = operands;
  if (rest.length > 0)
    throw new UsageError('muster hooks test takes at most EVENT, VALUE and JSON');
  if (replayed !== null) {
    if (event !== undefined)
      throw new UsageError('--replay takes no EVENT: all events of the task are tried');
    return { replayed };
  }
  if (event === undefined)
    throw new UsageError(
      `muster hooks test needs an EVENT or --replay TASK; events: ${HOOK_EVENTS.join(', ')}`,
    );
  if (!isEvent(event))
    throw new UsageError(
      `no hooks run at ${JSON.stringify(event)}; events: ${HOOK_EVENTS.join(', ')}`,
    );
  return {
    event,
    ...(value === undefined ? {} : { value }),
    ...(text === undefined ? {} : { input: readInput(text) }),
  };
}

function isEvent(name: string): name is HookEventName {
  return HOOK_EVENTS.some((event) => event === name);
}

function readInput(text: string): JsonObject {
  const value = parseJsonLine(text);
  if (!isJsonObject(value))
    throw new UsageError('JSON must be an object, such as \'{"command": "ls"}\'');
  return value;
}

function print({ out }: CommandContext, trial: HookTrial): void {
  out(
    formatTrial(trial)
      .map((line) => `${sanitizeLine(line)}\n`)
      .join(''),
  );
}

function formatTrial({ occasion, task, seq, hooks, outcome }: HookTrial): readonly string[] {
  const what =
    occasion.matched === null ? occasion.event : `${occasion.event} (${occasion.matched})`;
  const place = task === null ? '' : `, ${task.agentType} ${task.id}, event ${seq ?? 0}`;
  const names = hooks.map(({ what: command, where }) => `  runs ${command} (${where})`);
  return [
    `${what}${place}: ${hooks.length === 0 ? 'no hook' : plural(hooks.length, 'hook')}`,
    ...names,
    ...describeOutcome(outcome),
  ];
}

function describeOutcome({
  records,
  verdict,
  block,
  updatedInput,
  context,
  stop,
}: HookTrial['outcome']): readonly string[] {
  return [
    ...records.map((record) => `  ${describeHookRecord(record)}`),
    ...(verdict === undefined ? [] : [`  verdict: ${verdict.verdict} (${verdict.reason})`]),
    ...(block === undefined ? [] : [`  refuses: ${block}`]),
    ...(updatedInput === undefined ? [] : [`  new arguments: ${JSON.stringify(updatedInput)}`]),
    ...context.map((text) => `  adds: ${text}`),
    ...(stop === undefined ? [] : [`  ends the task: ${stop}`]),
  ];
}
