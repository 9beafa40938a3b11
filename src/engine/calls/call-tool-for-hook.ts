import { newId } from '../../base/ids.ts';
import { explainRefusal } from '../../policy/explain-refusal.ts';
import type { HookAnswer, HookToolCall } from '../../protocol/hook.ts';
import { cleanServerPart, cleanToolPart } from '../../protocol/server-tool-names.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import { decideNow, recordHookGrant } from '../permissions/judge.ts';
import { prepareCall, type CallingTask } from '../permissions/prepare-call.ts';
import { createReadOnlyContext } from '../permissions/read-for-task.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { TaskRun } from '../task/task-run.ts';

/**
 * Calls a tool of an MCP server for a hook, within the rights of its task. A call in the user's own settings counts as allowed
 * by the user, like the `allow` of such a hook: it lifts no rule and no mode. Nobody is asked, so a hook of another file needs
 * an allow rule. Rejects only when the signal aborts.
 */
export async function callToolForHook(
  deps: EngineDeps,
  run: TaskRun,
  { server, tool: name, input, source }: HookToolCall,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const found = await findTool(deps, run, { server, name });
  signal.throwIfAborted();
  if (found === null)
    return { ok: false, problem: `MCP server ${server} is not connected, or has no tool ${name}` };
  const { tool, isOfUser } = found;
  const { spec, state, permissions } = run;
  const caller: CallingTask = { spec, state, permissions, view: new Map([[tool.name, tool]]) };
  const call = { type: 'tool_call', id: `hook-${newId()}`, name: tool.name, input } as const;
  const prepared = prepareCall(caller, call);
  if (!prepared.ready) return { ok: false, problem: prepared.text };
  const reason = 'It stands in the settings of the user.';
  const hookVerdict = { verdict: 'allow', reason, source } as const;
  // A hook names its server only, and a project may have one of that name.
  const ready = source.kind === 'user' && isOfUser ? { ...prepared, hookVerdict } : prepared;
  const { decision, pathAccess } = await decideNow(deps, caller, ready);
  if (decision.verdict === 'deny') return { ok: false, problem: explainRefusal(decision) };
  if (decision.verdict === 'ask')
    return { ok: false, problem: `${decision.reason} Nobody is asked about the call of a hook.` };
  recordHookGrant(run, ready, decision);
  const attach = { refusal: refuseAttachment, add: refuseAttachment, addAgain: refuseAttachment };
  const output = await tool.run(prepared.input, {
    ...createReadOnlyContext(deps, caller, { pathAccess, signal, attach }),
    callId: call.id,
    spillPath: () => deps.store.createSpillFile(spec.id, call.id),
  });
  deps.onCommand?.();
  signal.throwIfAborted();
  const { text, error } = output;
  return error === undefined ? { ok: true, text } : { ok: false, problem: `${error}: ${text}` };
}

/** Finds a tool by the server's own names. Starts the server if its tools are not known yet. */
async function findTool(
  { mcp }: Pick<EngineDeps, 'mcp'>,
  { spec: { agent } }: TaskRun,
  { server, name }: { readonly server: string; readonly name: string },
): Promise<{ readonly tool: AnyTool; readonly isOfUser: boolean } | null> {
  // The tools of the agent are a choice of its definition, which says nothing about the hooks of others.
  const names = [`mcp__${cleanServerPart(server)}`];
  const user = { ...agent, tools: { mode: 'allow', names } as const, disallowedTools: [] };
  await mcp?.prepare(user);
  const found = mcp?.ofAgent(user).servers.find((each) => each.name === server);
  const wanted = `mcp__${found?.part ?? ''}__${cleanToolPart(name)}`;
  const tool = found?.tools.find((each) => each.name === wanted);
  return found === undefined || tool === undefined ? null : { tool, isOfUser: found.isOfUser };
}

function refuseAttachment(): Promise<string> {
  return Promise.resolve('a hook has no attachments');
}
