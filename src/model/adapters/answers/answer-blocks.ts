import { isJsonObject } from '../../../base/json.ts';
import type { AssistantPart, ProviderMeta } from '../../../protocol/message.ts';
import type { Repair } from '../../../protocol/repair.ts';
import { parseCallArguments } from './call-arguments.ts';
import type { ThinkingMarks } from './thinking-tags.ts';

/** Bytes that a block takes beside its text, roughly: an answer of many empty blocks is bounded too. */
export const BLOCK_BYTES = 64;

export interface TextBlock {
  readonly type: 'text' | 'reasoning';
  text: string;
  meta: ProviderMeta | undefined;
  /** Begun by its protocol and not ended yet: at the end of the stream it may be cut off. */
  isOpen: boolean;
}

export interface ToolCallBlock {
  readonly type: 'call';
  readonly id: string;
  name: string;
  /** The arguments as they came. */
  raw: string;
  /** Its end has come: without it, empty arguments may have been lost. */
  hasEnded: boolean;
  /** Its id was that of another call of this answer. */
  readonly isRenamed: boolean;
  meta: ProviderMeta | undefined;
}

export type AnswerBlock = TextBlock | ToolCallBlock;

/** The key in `meta` under which the marks stand that were around a thought in the text. */
const MARKS_KEY = 'marks';

/** The part of a message that a block becomes when the answer has ended; empty if nothing is worth keeping. */
export function toAssistantParts(
  block: AnswerBlock,
  { isCut, repair }: { readonly isCut: boolean; readonly repair: (repair: Repair) => void },
): AssistantPart[] {
  const meta = block.meta === undefined ? {} : { meta: block.meta };
  if (block.type === 'call') {
    const { id, name, raw, hasEnded } = block;
    if (name.trim() === '') repair('missing_call_name');
    // Cut before its arguments, it looks like a call without any. Cut later, they are no complete object.
    const isLost = (isCut || !hasEnded) && raw.trim() === '';
    const { repair: repaired, ...args } = isLost
      ? { input: raw, malformed: raw, repair: undefined }
      : parseCallArguments(raw);
    if (repaired !== undefined) repair(repaired);
    const renamed = block.isRenamed ? ({ renamed: true } as const) : {};
    return [{ type: 'tool_call', id, name, ...args, ...renamed, ...meta }];
  }
  if (block.text === '' && block.meta === undefined) return [];
  return [{ type: block.type, text: block.text, ...meta }];
}

/** The meta of a thought that stood between these marks in the text, so that it can be sent back as it was. */
export function toMarksMeta({ before, after }: ThinkingMarks): ProviderMeta {
  return { [MARKS_KEY]: { before, after } };
}

/** Returns the marks between which the thought with this meta stood in the text; null: it came as a thought. */
export function findThinkingMarks(meta: ProviderMeta | undefined): ThinkingMarks | null {
  const marks = meta?.[MARKS_KEY];
  if (!isJsonObject(marks)) return null;
  const { before, after } = marks;
  return typeof before === 'string' && typeof after === 'string' ? { before, after } : null;
}

/** Whether nothing of the blocks can be missing: none is open, and the arguments of each call can be read. */
export function areBlocksComplete(blocks: readonly AnswerBlock[]): boolean {
  const hasContent = blocks.some((block) => block.type === 'call' || block.text.trim() !== '');
  return (
    hasContent &&
    blocks.every((block) =>
      block.type === 'call'
        ? block.hasEnded ||
          (block.raw.trim() !== '' && parseCallArguments(block.raw).malformed === undefined)
        : !block.isOpen,
    ) &&
    blocks.at(-1)?.type !== 'reasoning'
  );
}
