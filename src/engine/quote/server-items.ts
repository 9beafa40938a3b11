import { MusterError } from '../../base/errors.ts';
import { removeHiddenCharacters } from '../../base/hidden-characters.ts';
import { newId } from '../../base/ids.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { plural, truncate } from '../../base/text.ts';
import { explainDenial } from '../../policy/tool-view.ts';
import type { Attachment, AttachPort } from '../../protocol/attachment.ts';
import { drawNonce } from '../../protocol/outside-text.ts';
import type { QuotedItem } from '../../protocol/quoted-item.ts';
import { readPromptCommand } from '../../protocol/server-mentions.ts';
import { toResourceTool } from '../../protocol/tool-names.ts';
import { fitOutput } from '../calls/execute-call.ts';
import type { EngineDeps } from '../task/deps.ts';
import { isMainAgent } from '../task/main-agent.ts';
import type { RecipientTask } from './recipient.ts';

/** A resource that a message names. `uris`: the URIs that the mention may mean, the likeliest first; at least one. */
export interface MentionedResource {
  readonly server: string;
  readonly uris: readonly string[];
}

interface ItemContext {
  readonly attach: AttachPort;
  readonly signal: AbortSignal;
}

/** The maximum length of the name of an item, in code points. */
const MAX_NAME_LENGTH = 300;
/** The maximum number of resources in a prompt that are quoted. */
const MAX_PROMPT_RESOURCES = 16;

/**
 * Quotes a resource of an MCP server. The person asks for it, so no rule needs to allow that, but a rule that denies the
 * task the server's resources holds. Returns the reason, as one line, if the resource cannot be quoted.
 */
export async function quoteResource(
  deps: EngineDeps,
  recipient: RecipientTask,
  { server, uris }: MentionedResource,
  context: ItemContext,
): Promise<QuotedItem | string> {
  const denial = findDenial(recipient, toResourceTool(server));
  if (denial !== undefined || deps.mcp === undefined)
    return denial ?? 'no MCP server is configured';
  const reasons: string[] = [];
  for (const uri of uris) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- the next URI is read only if this one does not exist
      const { text, attachments } = await deps.mcp.readResource({ server, uri }, context);
      return createItem('resource', `${server}:${uri}`, {
        text: fitText(deps, recipient, text),
        attachments,
      });
    } catch (thrown) {
      context.signal.throwIfAborted();
      if (!(thrown instanceof MusterError)) throw thrown;
      reasons.push(sanitizeLine(thrown.message));
    }
  }
  return reasons[0] ?? 'it has no URI';
}

/**
 * Quotes the prompt of an MCP server that a message chooses, with the resources in it. Returns no items for a message that
 * chooses none. Rejects with MusterError, whose message is one line, if the prompt cannot be had.
 */
export async function quotePrompt(
  deps: EngineDeps,
  recipient: RecipientTask,
  words: string,
  context: ItemContext,
): Promise<readonly QuotedItem[]> {
  const command = readPromptCommand(words);
  if (command === null || deps.mcp?.parts.includes(command.server) !== true) return [];
  const { server, prompt, argument } = command;
  // The name of no tool: only a rule about the whole server covers it.
  const denial = findDenial(recipient, `mcp__${server}__`);
  if (denial !== undefined) {
    throw new MusterError('PERMISSION_DENIED', `/${server}:${prompt} is not sent: ${denial}`);
  }
  const { text, attachments, resources } = await getPrompt(deps.mcp, command, context);
  const typed = argument === '' ? `/${server}:${prompt}` : `/${server}:${prompt} ${argument}`;
  // The person cannot see hidden characters, and the text stands for the person's own words.
  const { text: visible } = removeHiddenCharacters(text.toWellFormed());
  if (visible.trim() === '' && attachments.length === 0) {
    throw new MusterError(
      'PROVIDER_ERROR',
      `/${server}:${prompt}: the server sent an empty prompt`,
    );
  }
  const closed = findDenial(recipient, toResourceTool(server));
  const quoted = closed === undefined ? resources.slice(0, MAX_PROMPT_RESOURCES) : [];
  const left = resources.length - quoted.length;
  const note =
    left === 0 ? [] : [`${plural(left, 'resource')} in it left out.`, closed ?? []].flat();
  return [
    createItem('prompt', typed, { text: visible, attachments, outcome: note.join(' ') }),
    ...quoted.map((each) =>
      createItem('resource', `${server}:${each.uri}`, {
        text: fitText(deps, recipient, each.text),
        attachments: [],
        outcome: 'It is part of the prompt.',
      }),
    ),
  ];
}

async function getPrompt(
  mcp: NonNullable<EngineDeps['mcp']>,
  command: Parameters<typeof mcp.getPrompt>[0],
  context: ItemContext,
) {
  try {
    return await mcp.getPrompt(command, context);
  } catch (thrown) {
    context.signal.throwIfAborted();
    if (!(thrown instanceof MusterError)) throw thrown;
    throw new MusterError(thrown.code, sanitizeLine(thrown.message), { cause: thrown });
  }
}

function findDenial({ spec, permissions }: RecipientTask, tool: string): string | undefined {
  const definition = isMainAgent(spec.agent) ? null : spec.agent;
  return explainDenial(tool, { definition, rights: permissions.rights });
}

function createItem(
  kind: 'resource' | 'prompt',
  name: string,
  {
    text,
    attachments,
    outcome = '',
  }: Pick<QuotedItem, 'text'> & {
    readonly attachments: readonly Attachment[];
    readonly outcome?: string;
  },
): QuotedItem {
  const shown = attachments.length === 0 ? {} : { attachments };
  const line = truncate(sanitizeLine(name), MAX_NAME_LENGTH);
  return { kind, name: line, outcome, text, nonce: drawNonce(text), ...shown };
}

/** Cuts a long text, which is then also written to a file that the task may read. */
function fitText(
  { settings, store, redactBytes }: EngineDeps,
  { spec }: RecipientTask,
  text: string,
): string {
  return fitOutput(
    text,
    { name: 'McpResource' },
    {
      caps: settings.caps,
      spillPath: () => store.createSpillFile(spec.id, newId()),
      ...(redactBytes === undefined ? {} : { redactBytes }),
    },
  );
}
