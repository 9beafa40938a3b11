import { newId } from '../../base/ids.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';
import { parseRules } from '../../policy/rules/rules.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import type { PermissionRule } from '../../protocol/permission.ts';
import type { QuotedCall, QuotedItem } from '../../protocol/quoted-item.ts';
import type { SlashCommandDefinition } from '../../protocol/slash-command.ts';
import { findQuotedCall } from '../../protocol/state/quoted-calls.ts';
import { runSingleCall } from '../calls/calls.ts';
import { prepareCall } from '../permissions/prepare-call.ts';
import type { EngineDeps } from '../task/deps.ts';
import type { PreparedCall } from '../task/prepared-call.ts';
import type { TaskRun } from '../task/task-run.ts';

/** The maximum length of the name of an item, in code points. */
const MAX_NAME_LENGTH = 300;

/**
 * Creates the item for a shell part of a slash command. The task runs the part before it sends the message.
 *
 * @param line the shell command, with the arguments in it
 */
export function createShellPart(
  line: string,
  { path }: Pick<SlashCommandDefinition, 'path'>,
): QuotedItem {
  return {
    kind: 'shell_part',
    name: truncate(sanitizeLine(line), MAX_NAME_LENGTH),
    outcome: '',
    text: '',
    nonce: drawNonce(''),
    call: { id: `shell-${newId()}`, command: line, definition: path },
  };
}

/**
 * Runs the shell parts of the messages that the next request would contain, one after the other, as Bash calls of the task:
 * the same rules, mode, questions and hooks decide about them, they run in the same sandbox, and they leave the same events.
 * Resolves to false if one was refused, so that its message is not sent.
 */
export async function runShellParts(deps: EngineDeps, run: TaskRun): Promise<boolean> {
  const { conversation } = run.state;
  const { unsent } = conversation;
  for (;;) {
    const quoted = findQuotedCall(conversation.queued);
    if (quoted === null) return conversation.unsent === unsent;
    await runSingleCall(deps, run, await prepareShellPart(deps, run, quoted));
    run.cancellation.turnSignal.throwIfAborted();
  }
}

async function prepareShellPart(
  deps: EngineDeps,
  run: TaskRun,
  quoted: QuotedCall,
): Promise<PreparedCall> {
  const { spec, state } = run;
  // The tools of an agent are a choice of its definition, which says nothing about the commands of the user.
  const view = new Map([...bashOf(deps), ...run.view]);
  const own = run.calls.findQuoted(quoted.id);
  const { id, command } = own ?? quoted;
  const input = { command };
  const prepared = prepareCall(
    { spec, state, view },
    { type: 'tool_call', id, name: 'Bash', input },
  );
  if (!prepared.ready) return prepared;
  // A call that is only in the log may be that of somebody else, whose log must not allow anything.
  const allow = own === null ? [] : await findOwnRules(deps, own);
  return { ...prepared, byCommand: { allow } };
}

function bashOf({ tools }: Pick<EngineDeps, 'tools'>) {
  return tools.flatMap((tool) => (tool.name === 'Bash' ? [[tool.name, tool] as const] : []));
}

/** Finds the rules of `allowed-tools` that allow a shell part, in the file as it is now. */
async function findOwnRules(
  { slashCommands }: Pick<EngineDeps, 'slashCommands'>,
  { definition }: QuotedCall,
): Promise<readonly PermissionRule[]> {
  if (slashCommands === undefined) return [];
  await slashCommands.refresh();
  const { items, shadowed } = slashCommands.commands();
  const all = [...items, ...shadowed.map(({ item }) => item)];
  const command = all.find(({ path }) => path === definition);
  const source = { kind: 'definition', where: definition } as const;
  const allow = (command?.shellRules ?? []).map((text) => ({ text, source }));
  return parseRules({ allow, ask: [], deny: [] }).rules.allow;
}
