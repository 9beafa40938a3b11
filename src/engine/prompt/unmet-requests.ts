import { parseRules } from '../../policy/rules/rules.ts';
import type { DroppedTool } from '../../policy/tool-view.ts';
import type { AgentDefinition } from '../../protocol/agent.ts';
import type { JsonValue } from '../../base/json.ts';
import { UNBUILT_TOOLS } from '../../protocol/tool-names.ts';
import type { UnmetRequest } from '../../protocol/unmet-request.ts';
import { isMainAgent } from '../task/main-agent.ts';

/** Problems of a definition that say that a tool which it asks for is not granted. */
const UNGRANTED: ReadonlySet<string> = new Set([
  'unknown-tool',
  'too-wide-alias',
  'tool-pattern',
  'unknown-denied-tool',
]);
const NO_ISOLATION = 'Muster does not offer it yet; the task works in the directory of its parent.';

/**
 * Lists what a definition asks for by name and its task does not get: tools that nobody knows, that are not here or that its
 * rights take away, and an isolation. A tool that the definition itself denies is not asked for. Nobody is
 * told that a definition of the package names a tool that is yet to come, or that its tasks do not delegate
 * at the greatest depth.
 *
 * @param dropped what the tool view of the task left out
 */
export function findUnmetRequests(
  agent: AgentDefinition,
  dropped: readonly DroppedTool[],
): readonly UnmetRequest[] {
  if (isMainAgent(agent)) return [];
  const unknown = agent.problems.flatMap(({ code, tool, message }): readonly UnmetRequest[] =>
    tool === undefined || !UNGRANTED.has(code) ? [] : [problemRequest(code, tool, message)],
  );
  const ungranted = dropped
    .filter(({ name }) => asksFor(agent, name) && !agent.disallowedTools.includes(name))
    .map(({ name, reason }): UnmetRequest => ({ kind: 'tool', name, reason }));
  return [...unknown, ...ungranted, ...unreadableRules(agent), ...findIsolationRequest(agent)];
}

function problemRequest(code: string, name: string, message: string): UnmetRequest {
  if (code === 'unknown-denied-tool') {
    return { kind: 'denial', name, reason: 'No tool of that name is known: nothing is denied.' };
  }
  return { kind: 'tool', name, reason: code === 'unknown-tool' ? UNKNOWN : message };
}

const UNKNOWN = 'No tool of that name is known.';

/** Rules that only deny and ask: one that names no tool would be missed without a word. */
function unreadableRules({ name, rules }: AgentDefinition): readonly UnmetRequest[] {
  if (rules === undefined) return [];
  const source = { kind: 'definition', where: `agent ${name}` } as const;
  const texts = (list: readonly string[]) => list.map((text) => ({ text, source }));
  const { problems } = parseRules({ allow: [], ask: texts(rules.ask), deny: texts(rules.deny) });
  return problems.map(({ text, mistake, kind }): UnmetRequest => {
    const effect = kind === 'tool' ? 'It has no effect.' : 'It counts for all calls of its tool.';
    return { kind: 'rule', name: text, reason: `${mistake} ${effect}` };
  });
}

function asksFor({ tools, delegatesTo = [], origin }: AgentDefinition, name: string): boolean {
  if (origin.scope === 'builtin' && (name === 'Task' || UNBUILT_TOOLS.has(name))) return false;
  if (name === 'Task' && delegatesTo.length > 0) return true;
  return tools.mode === 'allow' && tools.names.includes(name);
}

/** The isolation that a definition asks for: that field does nothing yet. */
export function findIsolationRequest({
  extra,
}: Pick<AgentDefinition, 'extra'>): readonly UnmetRequest[] {
  return Object.entries(extra).flatMap(([field, value]: [string, JsonValue | undefined]) => {
    if (field.toLowerCase() !== 'isolation' || typeof value !== 'string') return [];
    const name = value.trim();
    if (name === '' || name.toLowerCase() === 'none') return [];
    return [{ kind: 'isolation', name, reason: NO_ISOLATION } as const];
  });
}
