import { byteLength } from '../base/text.ts';
import { estimateTokens } from '../base/token-estimate.ts';
import type { RequestPrefix } from '../protocol/model.ts';

/** The size of a text of a request. The number of tokens is an estimate. */
export interface RequestText {
  readonly name: string;
  readonly bytes: number;
  readonly tokens: number;
}

export function measureText(name: string, text: string): RequestText {
  return { name, bytes: byteLength(text), tokens: estimateTokens(text) };
}

/** Measures the tools of a request, each as JSON, in the order of the request. */
export function measureTools({ tools }: Pick<RequestPrefix, 'tools'>): readonly RequestText[] {
  return tools.map((tool) => measureText(`tool ${tool.name}`, JSON.stringify(tool)));
}

/**
 * Measures the parts of the system prompt. The empty line after a part belongs to the part, so that the sum of all
 * parts is the size of the prompt. If the log does not record parts, there is only one part, `system prompt`.
 */
export function measureSystemPrompt({
  system,
  parts,
}: Pick<RequestPrefix, 'system' | 'parts'>): readonly RequestText[] {
  const [shared, ...taskParts] = system;
  if (shared === undefined) return [];
  return [
    ...measureShared(shared, parts),
    ...taskParts.map((text) => measureText('task line', text)),
  ];
}

const PART_SEPARATOR = '\n\n';

function measureShared(text: string, parts: RequestPrefix['parts']): readonly RequestText[] {
  const sources: RequestText[] = [];
  let at = 0;
  for (const { name, length } of parts ?? []) {
    const end = at + length;
    const isLast = sources.length + 1 === parts?.length;
    // An imported log may contain wrong lengths.
    if (!isLast && text.slice(end, end + PART_SEPARATOR.length) !== PART_SEPARATOR) break;
    const partEnd = isLast ? end : end + PART_SEPARATOR.length;
    sources.push(measureText(name, text.slice(at, partEnd)));
    at = partEnd;
  }
  return sources.length > 0 && at === text.length ? sources : [measureText('system prompt', text)];
}
