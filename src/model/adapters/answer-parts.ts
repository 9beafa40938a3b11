import type { JsonValue } from '../../base/json.ts';
import type { AssistantPart, ProviderMeta } from '../../protocol/message.ts';

export interface TextBlock {
  readonly type: 'text' | 'reasoning';
  text: string;
  meta: ProviderMeta | undefined;
}

export interface CallBlock {
  readonly type: 'call';
  readonly id: string;
  readonly name: string;
  /** The arguments as they came. */
  raw: string;
  /** Its end has come: without it, no arguments may mean that they were lost. */
  isWhole: boolean;
  /** Its id was another call's of this answer. */
  readonly isRenamed: boolean;
  meta: ProviderMeta | undefined;
}

/** What has come of one part of an answer, once that has ended. Empty: nothing worth keeping. */
export function finishedPart(
  block: TextBlock | CallBlock,
  { isCut }: { readonly isCut: boolean },
): AssistantPart[] {
  const meta = block.meta === undefined ? {} : { meta: block.meta };
  if (block.type === 'call') {
    const { id, name, raw, isWhole } = block;
    // Cut before its arguments, it looks like one that has none. Cut later, they are no whole object.
    const isLost = (isCut || !isWhole) && raw.trim() === '';
    const args = isLost ? { input: raw, malformed: raw } : parseArguments(raw);
    const renamed = block.isRenamed ? ({ renamed: true } as const) : {};
    return [{ type: 'tool_call', id, name, ...args, ...renamed, ...meta }];
  }
  if (block.text === '' && block.meta === undefined) return [];
  return [{ type: block.type, text: block.text, ...meta }];
}

/** Never mended: what is not whole JSON is kept as it came and marked. */
function parseArguments(raw: string): { input: JsonValue; malformed?: string } {
  if (raw.trim() === '') return { input: {} };
  try {
    const input: JsonValue = JSON.parse(raw);
    return { input };
  } catch {
    // Not an error here: the model is told, by whoever reads `malformed`.
    return { input: raw, malformed: raw };
  }
}
