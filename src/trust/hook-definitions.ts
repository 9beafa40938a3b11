import { errorMessage } from '../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { describeAction, describeMoment, type HookDefinition } from '../hooks/hook-definition.ts';
import { readHooks, type HooksOfFile } from '../hooks/read-hooks.ts';
import type { HookSource } from '../protocol/hook.ts';
import { readHookCondition } from './hook-conditions.ts';
import type { FileEffects } from './file-effects.ts';
import type { HookFile } from './hook-files.ts';

/** Reads the hooks in files that may take effect. A wrong file or entry leaves the others working. */
export function readHookDefinitions(files: readonly HookFile[]): HooksOfFile {
  const read = files.map(readFile);
  return {
    hooks: read.flatMap(({ hooks }) => hooks),
    problems: read.flatMap(({ problems }, index) =>
      problems.map((problem) => `${files[index]?.source.where}: ${problem}`),
    ),
  };
}

function readFile({ source, text }: HookFile): HooksOfFile {
  let value: JsonValue;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    const problem = `it is not valid JSON, so none of its hooks runs (${errorMessage(thrown)})`;
    return { hooks: [], problems: [problem] };
  }
  const hooks = isJsonObject(value) ? value['hooks'] : undefined;
  return hooks === undefined
    ? { hooks: [], problems: [] }
    : readHooks(hooks, source, readHookCondition);
}

/** Describes what the hooks of a project's file would do if it were trusted. */
export function hookEffects(path: string, bytes: Buffer): FileEffects {
  const file = { source: { kind: 'project', where: path }, text: bytes.toString('utf8') } as const;
  const { hooks, problems } = readHookDefinitions([file]);
  const lines = [...hooks.map(describeHook), ...problems.map((problem) => `! ${problem}`)];
  return { lines: lines.length === 0 ? ['nothing'] : lines, problems: [] };
}

/** Describes what the hooks in the front matter of an agent or a skill would do, one effect per line. */
export function definitionHookEffects(
  hooks: JsonObject | undefined,
  source: HookSource,
): readonly string[] {
  return hooks === undefined ? [] : describeHooks(readHooks(hooks, source, readHookCondition));
}

/** Describes what hooks would do, one effect per line, and then what of them has no effect. */
export function describeHooks({ hooks, problems }: HooksOfFile): readonly string[] {
  return [
    ...hooks.map((hook) => `hook ${describeHook(hook)}`),
    ...problems.map((problem) => `! ${problem}`),
  ];
}

const VERBS = {
  command: 'runs in the sandbox',
  http: 'sends what happens to',
  prompt: 'asks the fast model, at your cost:',
  mcp_tool: 'calls, if a rule allows it,',
  function: 'calls the function',
  agent: 'has a subagent that only reads answer, at your cost:',
} as const;

/** Describes a hook in one line: when it runs, and what. */
function describeHook(hook: HookDefinition): string {
  const { action, isAsync } = hook;
  const verb = VERBS[action.kind];
  return `${describeMoment(hook)}: ${verb} ${describeAction(action)}${isAsync ? ', without waiting for it' : ''}`;
}
