import { lazy } from '../../base/lazy.ts';
import type { JsonValue } from '../../base/json.ts';
import type { CallPath, ResolvedCall } from '../../policy/call.ts';
import { matchHookCondition } from '../../policy/hook-condition.ts';
import { loadShellParser } from '../../policy/shell/load-parser.ts';
import type { HookCondition, HookMatch } from '../../protocol/hook.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { builtinTools } from '../../tools/index.ts';

/** A call that a person describes, or that a log contains. */
interface DescribedCall {
  /** The canonical name. */
  readonly tool: string;
  readonly input: JsonValue;
  /** The directory of its task; absolute and real. */
  readonly cwd: string;
}

/**
 * Creates the function that compares the conditions of hooks with a call of which only its arguments are known. It compares as
 * for a call of a task, but without the files that a command reads or writes.
 */
export function createConditionMatch(
  described: DescribedCall,
  home: string,
): (condition: HookCondition) => Promise<HookMatch> {
  const rights = { roots: [described.cwd] };
  const describe = lazy(() => resolveDescribedCall(described));
  return async (condition) => {
    const { call, shellParser } = await describe();
    return matchHookCondition(condition, call, rights, { home, shellParser });
  };
}

async function resolveDescribedCall({ tool: name, input, cwd }: DescribedCall) {
  const tool = builtinTools().find((each) => each.name === name);
  const parsed = tool?.parse(input);
  const known = parsed?.ok === true ? (tool?.describe?.(parsed.input, { cwd }) ?? null) : null;
  const access = known ?? NO_ACCESS;
  const resolve = (asked: string): CallPath => {
    const { real, inside } = resolveInRoots(asked, [cwd]);
    return { asked, real, insideRoots: inside };
  };
  const shellParser = access.commands.length === 0 ? null : await loadShellParser();
  const call: ResolvedCall = {
    tool: name,
    kind: tool?.kind ?? 'execute',
    access: {
      ...access,
      reads: access.reads.map(resolve),
      writes: access.writes.map(resolve),
    },
    inToolSet: true,
  };
  return { call, shellParser };
}
