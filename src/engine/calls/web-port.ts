import type { PermissionRule } from '../../protocol/permission.ts';
import type { WebPort, WebRequest, WebResponse } from '../../protocol/web.ts';
import { isAddress, matchesDomain } from '../../policy/rules/specifiers.ts';
import { coversWholeTool, ruleCovers } from '../../policy/rules/tool-cover.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';

/** The call for which the web is used. */
interface WebCall {
  readonly tool: string;
  readonly signal: AbortSignal;
}

/**
 * Creates the port through which one call uses the web. The rules of the task decide which addresses that are not
 * public may be reached, and no redirect leads to another host: the model has to ask for that host in a call of its
 * own, so that the rules apply to it. Returns undefined if the process has no access to the web.
 */
export function createWebPort(
  { web }: Pick<EngineDeps, 'web'>,
  run: TaskRun,
  { tool, signal }: WebCall,
): WebPort | undefined {
  if (web === undefined) return undefined;
  const complete = (request: Parameters<WebPort['send']>[0]): WebRequest => ({
    ...request,
    signal,
    allowsPrivate: ({ host, address }) =>
      // The decision about the call has already required a rule or a person that names such a host.
      isAddress(host) || isNamed(address, tool, run.permissions.rights.rules.allow),
    followsRedirect: () => false,
  });
  return {
    send: async (request) => await (await web()).send(complete(request)),
    get: async (url): Promise<WebResponse> => {
      const client = await web();
      return await client.getCached(run.tree.id, complete({ method: 'GET', url }));
    },
  };
}

/** Tells whether an allow rule names an address, by itself or by its network. */
function isNamed(address: string, tool: string, allow: readonly PermissionRule[]): boolean {
  return allow.some(
    (rule) =>
      ruleCovers(rule, tool, 'widen') &&
      !coversWholeTool(rule) &&
      matchesDomain(rule.specifier ?? '', address),
  );
}
