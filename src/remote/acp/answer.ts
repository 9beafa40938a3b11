import { newId } from '../../base/ids.ts';
import type { AssistantPart, ProviderMeta, ToolCallPart } from '../../protocol/message.ts';
import { NO_USAGE, type FinishReason, type ModelPart } from '../../protocol/model.ts';
import { toSessionMeta } from './read-request.ts';
import type { PromptEnd } from './session.ts';
import type { PlannedToolCall } from './translate.ts';
import type { SpokenPiece } from './updates.ts';

type PromptStop = Extract<PromptEnd, { readonly ok: true }>;

/** Creates a call with an id of its own. `session`: the program's session in which it is made; null for none. */
export function createToolCall(
  { name, input }: PlannedToolCall,
  session: string | null,
): ToolCallPart {
  const meta = session === null ? {} : { meta: toSessionMeta(session) };
  return { type: 'tool_call', id: `acp_${newId()}`, name, input, ...meta };
}

/**
 * Builds the end of an answer with calls. It counts no tokens: those of a prompt are counted when the prompt ends.
 *
 * @param pieces what the program has said before the calls
 */
export function endWithCalls(
  pieces: readonly SpokenPiece[],
  calls: readonly ToolCallPart[],
): ModelPart {
  return {
    type: 'finished',
    message: { role: 'assistant', content: [...joinPieces(pieces), ...calls] },
    usage: NO_USAGE,
    reason: 'tool_calls',
  };
}

/** Builds the end of an answer after which the program waits for the next prompt. */
export function endWithText(
  pieces: readonly SpokenPiece[],
  { reason, usage }: PromptStop,
  session: string,
): ModelPart {
  const note = STOP_NOTES[reason];
  const all = note === undefined ? pieces : [...pieces, { type: 'text', text: note } as const];
  return {
    type: 'finished',
    message: { role: 'assistant', content: markLast(joinPieces(all), toSessionMeta(session)) },
    usage: usage ?? NO_USAGE,
    ...(usage === null ? { usageMissing: 'all' } : {}),
    reason: FINISH_REASONS[reason],
  };
}

const FINISH_REASONS: Readonly<Record<PromptStop['reason'], FinishReason>> = {
  end_turn: 'stop',
  max_tokens: 'length',
  max_turn_requests: 'stop',
  refusal: 'content_filter',
  cancelled: 'stop',
};

/** Sentences about ends that the text of an answer does not show. */
const STOP_NOTES: Readonly<Partial<Record<PromptStop['reason'], string>>> = {
  max_turn_requests: '\n[The agent reached its own limit on requests to its model.]',
  cancelled: '\n[The agent says that it was cancelled.]',
};

/** Joins pieces of the same type that follow each other. */
function joinPieces(pieces: readonly SpokenPiece[]): readonly SpokenPiece[] {
  const joined: { readonly type: SpokenPiece['type']; readonly texts: string[] }[] = [];
  for (const { type, text } of pieces) {
    const last = joined.at(-1);
    if (last?.type === type) last.texts.push(text);
    else joined.push({ type, texts: [text] });
  }
  return joined.map(({ type, texts }) => ({ type, text: texts.join('') }));
}

function markLast(parts: readonly AssistantPart[], meta: ProviderMeta): readonly AssistantPart[] {
  const last = parts.at(-1);
  return last === undefined ? [] : [...parts.slice(0, -1), { ...last, meta }];
}
