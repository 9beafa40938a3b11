import { isJsonObject } from '../../../base/json.ts';
import type { AssistantPart, ProviderMeta } from '../../../protocol/message.ts';
import type { Repair } from '../../../protocol/repair.ts';
import { parseCallArguments } from './call-arguments.ts';
import type { ThoughtTags } from './thinking-tags.ts';

/** The bytes that are counted for a block in addition to its text, so that the number of empty blocks is limited too. */
export const BLOCK_BYTES = 64;

/** A block of text or reasoning. */
export interface TextBlock {
  readonly type: 'text' | 'reasoning';
  text: string;
  meta: ProviderMeta | undefined;
  /** True if the block was begun explicitly and has not ended. At the end of the stream, such a block may be cut off. */
  isOpen: boolean;
}

/** A tool call. */
export interface ToolCallBlock {
  readonly type: 'call';
  readonly id: string;
  name: string;
  /** The arguments as the server sent them. */
  raw: string;
  /** True if the end of the call has arrived. Otherwise, empty arguments may mean that the arguments were lost. */
  hasEnded: boolean;
  /** True if the server used the id of another call of this answer, so that `id` is a new id. */
  readonly isRenamed: boolean;
  meta: ProviderMeta | undefined;
}

/** One block of an answer. */
export type AnswerBlock = TextBlock | ToolCallBlock;

/** The key in `meta` for the tags that enclosed a thought in the text. Logs contain it. */
const TAGS_KEY = 'marks';

/**
 * Converts a block of a finished answer to a message part. Returns an empty list if the block has no content. `isCut`:
 * true if the answer ended inside the block because of the output limit.
 */
export function toAssistantParts(
  block: AnswerBlock,
  { isCut, repair }: { readonly isCut: boolean; readonly repair: (repair: Repair) => void },
): AssistantPart[] {
  const meta = block.meta === undefined ? {} : { meta: block.meta };
  if (block.type === 'call') {
    const { id, name, raw, hasEnded } = block;
    if (name.trim() === '') repair('missing_call_name');
    // A call that was cut off before its arguments looks like a call without arguments, so it is marked as malformed.
    const areArgumentsLost = (isCut || !hasEnded) && raw.trim() === '';
    const { repair: repaired, ...args } = areArgumentsLost
      ? { input: raw, malformed: raw, repair: undefined }
      : parseCallArguments(raw);
    if (repaired !== undefined) repair(repaired);
    const renamed = block.isRenamed ? ({ renamed: true } as const) : {};
    return [{ type: 'tool_call', id, name, ...args, ...renamed, ...meta }];
  }
  if (block.text === '' && block.meta === undefined) return [];
  return [{ type: block.type, text: block.text, ...meta }];
}

/** Creates the metadata of a thought that was between tags in the text, so that the thought can be sent back unchanged. */
export function toThoughtTagsMeta({ before, after }: ThoughtTags): ProviderMeta {
  return { [TAGS_KEY]: { before, after } };
}

/** Returns the tags that enclosed a thought in the text; null: the server sent it as reasoning. */
export function findThoughtTags(meta: ProviderMeta | undefined): ThoughtTags | null {
  const tags = meta?.[TAGS_KEY];
  if (!isJsonObject(tags)) return null;
  const { before, after } = tags;
  return typeof before === 'string' && typeof after === 'string' ? { before, after } : null;
}

/** Returns true if the blocks look like a complete answer: no block is open, and the arguments of each call can be parsed. */
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
