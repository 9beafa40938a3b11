import type { AgentDefinition } from '../../protocol/agent.ts';
import { type DroppedTool } from '../../policy/tool-view.ts';
import { isMainAgent } from '../task/main-agent.ts';
import { isServerToolName } from '../../protocol/server-tool-names.ts';
import { type UnmetRequest } from '../../protocol/unmet-request.ts';
import { parseRules } from '../../policy/rules/rules.ts';
import { ISOLATIONS } from '../../protocol/workspace.ts';
import { CONFIGURED_TOOLS, CORE_TOOLS } from '../../protocol/tool-names.ts';

/** The codes of problems in a definition that concern servers, whose reports also name the file. */
const SERVER_CODES: ReadonlySet<string> = new Set(['invalid-servers']);
/** The codes of problems in a definition that mean that a requested tool is not granted. */
const UNGRANTED_TOOL_CODES: ReadonlySet<string> = new Set([
  'unknown-tool',
  'too-wide-alias',
  'tool-pattern',
  'unknown-denied-tool',
  ...SERVER_CODES,
]);

/** The facts about a task that its definition may not have asked for. */
interface TaskSetup {
  /** The tools that were left out for the task. */
  readonly dropped: readonly DroppedTool[];
  /** The tools that exist. Default: Muster's own. */
  readonly tools?: readonly { readonly name: string }[];
  /** The reason why the task does not get the isolation that it asks for. Default: none, unless Muster does not know it. */
  readonly isolationProblem?: string | null | undefined;
}

/**
 * Lists what a definition asks for by name and its task does not get: tools that are unknown, missing or removed by
 * its rights, and an isolation. A tool that the definition itself denies does not count as requested. Built-in
 * definitions may name tools that are not built yet, and their tasks may be too deep in the tree to delegate; both
 * are not listed.
 *
 */
export function findUnmetRequests(
  agent: AgentDefinition,
  { dropped, tools = [], isolationProblem = findUnknownIsolation(agent) }: TaskSetup,
): readonly UnmetRequest[] {
  if (isMainAgent(agent)) return [];
  const unknown = agent.problems.flatMap(({ code, tool, message, path }): readonly UnmetRequest[] =>
    tool === undefined || !UNGRANTED_TOOL_CODES.has(code)
      ? []
      : [toUnmetRequest(code, tool, SERVER_CODES.has(code) ? `${path}: ${message}` : message)],
  );
  const ungranted = dropped
    .filter(({ name }) => asksByName(agent, name) && !agent.disallowedTools.includes(name))
    .map(({ name, reason }): UnmetRequest => ({ kind: 'tool', name, reason }));
  const isolation: readonly UnmetRequest[] =
    isolationProblem === null
      ? []
      : [{ kind: 'isolation', name: agent.isolation ?? '', reason: isolationProblem }];
  return [...unknown, ...ungranted, ...findUnreadableRules(agent, tools), ...isolation];
}

function toUnmetRequest(code: string, name: string, message: string): UnmetRequest {
  // The message about the name of a server's tool says what to write instead.
  const isNameOfServer = isServerToolName(name) && code.startsWith('unknown-');
  if (isNameOfServer && code === 'unknown-tool') return { kind: 'tool', name, reason: message };
  if (isNameOfServer) return { kind: 'denial', name, reason: message };
  if (code === 'unknown-denied-tool') {
    return { kind: 'denial', name, reason: 'No tool of that name is known: nothing is denied.' };
  }
  return { kind: 'tool', name, reason: code === 'unknown-tool' ? UNKNOWN_TOOL : message };
}

const UNKNOWN_TOOL = 'No tool of that name is known.';

/**
 * Lists the rules of a definition that can't be read. Such rules deny or ask, so nobody would notice that they are
 * missing.
 */
function findUnreadableRules(
  { name, rules }: AgentDefinition,
  tools: NonNullable<TaskSetup['tools']>,
): readonly UnmetRequest[] {
  if (rules === undefined) return [];
  const source = { kind: 'definition', where: `agent ${name}` } as const;
  const texts = (list: readonly string[]) => list.map((text) => ({ text, source }));
  const { problems } = parseRules(
    { allow: [], ask: texts(rules.ask), deny: texts(rules.deny) },
    tools.map((tool) => tool.name),
  );
  return problems.map(({ text, mistake, kind }): UnmetRequest => {
    const effect = kind === 'tool' ? 'It has no effect.' : 'It counts for all calls of its tool.';
    return { kind: 'rule', name: text, reason: `${mistake} ${effect}` };
  });
}

function asksByName({ tools, delegatesTo = [], origin }: AgentDefinition, name: string): boolean {
  const mayBeMissing = name === 'Task' || CONFIGURED_TOOLS.has(name);
  if (origin.scope === 'builtin' && mayBeMissing) return false;
  if (name === 'Task' && delegatesTo.length > 0) return true;
  // A definition that names its servers, and no tools, gets a list of the core tools and those of the servers.
  const isCoreSet = CORE_TOOLS.every((each) => tools.names.includes(each));
  if (isCoreSet && CORE_TOOLS.some((each) => each === name)) return false;
  return tools.mode === 'allow' && tools.names.includes(name);
}

function findUnknownIsolation({ isolation }: Pick<AgentDefinition, 'isolation'>): string | null {
  return isolation === undefined || ISOLATIONS.some((each) => each === isolation)
    ? null
    : 'Muster does not offer it; the task works in the directory of its parent.';
}
