import { MusterError, type ErrorCode } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';
import { explainRefusal } from '../../policy/explain-refusal.ts';
import { parseRules } from '../../policy/rules/rules.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import type { Decision, PermissionRule } from '../../protocol/permission.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import type { SlashCommandDefinition } from '../../protocol/slash-command.ts';
import { newId } from '../../base/ids.ts';
import { createCommandSandbox } from '../calls/tool-context.ts';
import { describeHookTask, listAgentHooks } from '../hooks/run-hooks.ts';
import { decideNow, describeCallOccasion } from '../permissions/judge.ts';
import { denyLinkTargets } from '../permissions/link-targets.ts';
import { prepareCall, type CallingTask } from '../permissions/prepare-call.ts';
import { createReadOnlyContext } from '../permissions/read-for-task.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { ReadyCall } from '../task/prepared-call.ts';
import type { RecipientTask } from './recipient.ts';

/** The question whether a shell part of a slash command may run. */
export interface ShellPartQuestion {
  /** The name of the slash command, with its slash. */
  readonly name: string;
  /** The shell command, with the arguments in it. */
  readonly command: string;
  /** The reason why a person is asked, as a sentence. */
  readonly reason: string;
}

/** How the shell parts of a message run. */
export interface ShellPartOptions {
  /** Asks the person about a shell part that the rules neither allow nor deny. Default: it is refused. */
  readonly confirmShell?: (question: ShellPartQuestion) => Promise<boolean>;
  /** The reason, as a clause, why no shell part can run now. Default: they can. */
  readonly shellRefusal?: string;
}

/** A shell part with its arguments. */
interface ShellPart extends ShellPartOptions {
  readonly line: string;
  readonly command: Pick<SlashCommandDefinition, 'name' | 'path' | 'shellRules'>;
  readonly signal: AbortSignal;
}

/** The maximum length of the name of an item, in code points. */
const MAX_NAME_LENGTH = 300;

/**
 * Runs a shell part of a slash command as a Bash call of the task: the same rules, mode, hard rules and hooks decide about
 * it, and it runs in the same sandbox. Rejects with MusterError `PERMISSION_DENIED` if it may not run.
 */
export async function runShellPart(
  deps: EngineDeps,
  recipient: RecipientTask,
  part: ShellPart,
): Promise<QuotedItem> {
  const { command, line, shellRefusal, signal } = part;
  if (shellRefusal !== undefined) throw refuse(part, shellRefusal);
  const bash = deps.tools.find(({ name }) => name === 'Bash');
  if (bash === undefined) throw refuse(part, 'there is no shell');
  const caller: CallingTask = {
    ...recipient,
    permissions: allowOwnParts(recipient, parseShellRules(command)),
    view: new Map([[bash.name, bash]]),
  };
  const input = { command: line };
  const prepared = prepareCall(caller, { type: 'tool_call', id: newId(), name: 'Bash', input });
  if (!prepared.ready) throw refuse(part, prepared.text);
  const ready = await askHooks(deps, caller, prepared, part);
  const { decision, pathAccess } = await decideNow(deps, caller, ready);
  await requirePermission(decision, part);
  signal.throwIfAborted();
  const { rights } = caller.permissions;
  const attach = { refusal: noAttachment, add: noAttachment, addAgain: noAttachment };
  const output = await ready.tool.run(ready.input, {
    ...createReadOnlyContext(deps, caller, { pathAccess, signal, attach }),
    callId: ready.call.id,
    sandbox: createCommandSandbox({
      sandbox: deps.sandbox,
      environment: deps.environment,
      variableNames: deps.settings.commandVariables,
      taskId: caller.spec.id,
      rights: denyLinkTargets(rights, deps.home),
      home: deps.home,
      decision,
    }),
    spillPath: () => deps.store.createSpillFile(caller.spec.id, ready.call.id),
    ...(deps.redactBytes === undefined ? {} : { redactBytes: deps.redactBytes }),
  });
  if (decision.confinement !== 'read-only') deps.onCommand?.();
  signal.throwIfAborted();
  const exitCode = output.facts?.commands?.[0]?.exitCode ?? null;
  const outcome = describeEnd(exitCode, output.error);
  const { text } = output;
  const name = truncate(sanitizeLine(line), MAX_NAME_LENGTH);
  return { kind: 'shell_part', name, outcome, text, nonce: drawNonce(text) };
}

/** Describes how a shell part ended, unless it succeeded. */
function describeEnd(exitCode: number | null, error: ErrorCode | undefined): string {
  if (exitCode === 0) return '';
  return exitCode === null
    ? `It was ended (${error ?? 'by a signal'}).`
    : `Its exit code was ${exitCode}.`;
}

function noAttachment(): Promise<string> {
  return Promise.resolve('a shell part has no attachments');
}

/** Adds the rules of `allowed-tools` to those that allow calls. Deny rules, ask rules and the mode still come first. */
function allowOwnParts(
  { permissions }: RecipientTask,
  rules: readonly PermissionRule[],
): CallingTask['permissions'] {
  return {
    rights: permissions.rights,
    modeGrants: () => permissions.modeGrants(),
    isTrusted: (seq) => permissions.isTrusted(seq),
    granted: () => [...permissions.granted(), ...rules],
  };
}

function parseShellRules({ shellRules, path }: ShellPart['command']): readonly PermissionRule[] {
  const source = { kind: 'definition', where: path } as const;
  const allow = shellRules.map((text) => ({ text, source }));
  return parseRules({ allow, ask: [], deny: [] }).rules.allow;
}

/** Asks the hooks that come before a call. They may deny it or change its arguments, which are then decided about. */
async function askHooks(
  deps: EngineDeps,
  caller: CallingTask,
  ready: ReadyCall,
  part: ShellPart,
): Promise<ReadyCall> {
  const { hooks, store } = deps;
  const definitions = listAgentHooks(caller.spec.agent);
  if (hooks === undefined || !hooks.has('PreToolUse', definitions)) return ready;
  const task = describeHookTask(store, caller);
  const { matched, fields, matchCondition } = describeCallOccasion(deps, caller, ready);
  const about = { matched, fields, matchCondition, definitions };
  const occasion = { event: 'PreToolUse', task, ...about } as const;
  const { verdict, updatedInput, stop } = await hooks.run(occasion, part.signal);
  if (stop !== undefined) throw refuse(part, `a hook ended it: ${stop}`);
  const prepared =
    updatedInput === undefined
      ? ready
      : prepareCall(caller, { ...ready.call, input: updatedInput });
  if (!prepared.ready) throw refuse(part, `a hook has changed it: ${prepared.text}`);
  return verdict === undefined ? prepared : { ...prepared, hookVerdict: verdict };
}

/** Throws MusterError unless the decision, or the person who is asked because of it, allows a shell part. */
async function requirePermission(decision: Decision, part: ShellPart): Promise<void> {
  const { command, line, confirmShell } = part;
  const { verdict, reason } = decision;
  if (verdict === 'allow') return;
  if (verdict === 'deny') throw refuse(part, explainRefusal(decision));
  if (confirmShell === undefined) {
    const rule = `--allow ${JSON.stringify(`Bash(${line})`)}`;
    throw refuse(
      part,
      `${reason.replace(/\.$/, '')}. Nobody can be asked here; allow it with ${rule}, or run the command in the terminal UI`,
    );
  }
  if (!(await confirmShell({ name: `/${command.name}`, command: line, reason }))) {
    throw refuse(part, 'you refused it');
  }
}

function refuse({ command, line }: ShellPart, reason: string): MusterError {
  const text = `/${command.name} is not sent. Its shell part ${JSON.stringify(line)} did not run: ${reason}`;
  return new MusterError('PERMISSION_DENIED', sanitizeLine(text));
}
