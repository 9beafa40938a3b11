import { byteLength } from '../base/text.ts';
import { estimateTokens } from '../base/token-estimate.ts';
import type { RequestPrefix } from '../protocol/model.ts';

/** A text of a request. Tokens are estimated. */
export interface RequestText {
  readonly name: string;
  readonly bytes: number;
  readonly tokens: number;
}

export function measureText(name: string, text: string): RequestText {
  return { name, bytes: byteLength(text), tokens: estimateTokens(text) };
}

/** Returns the tools of a request, each as JSON, in its order. */
export function toolTexts({ tools }: Pick<RequestPrefix, 'tools'>): readonly RequestText[] {
  return tools.map((tool) => measureText(`tool ${tool.name}`, JSON.stringify(tool)));
}

/**
 * Returns the parts of the system prompt. The empty line after a part counts with it, so that they add up to the
 * prompt. If the log does not record parts, there is one, `system prompt`.
 */
export function systemTexts({
  system,
  parts,
}: Pick<RequestPrefix, 'system' | 'parts'>): readonly RequestText[] {
  const [shared, ...own] = system;
  if (shared === undefined) return [];
  return [...sharedSources(shared, parts), ...own.map((text) => measureText('task line', text))];
}

const BETWEEN = '\n\n';

function sharedSources(text: string, parts: RequestPrefix['parts']): readonly RequestText[] {
  const sources: RequestText[] = [];
  let at = 0;
  for (const { name, length } of parts ?? []) {
    const end = at + length;
    const isLast = sources.length + 1 === parts?.length;
    // A log that was brought here may say anything.
    if (!isLast && text.slice(end, end + BETWEEN.length) !== BETWEEN) break;
    const behind = isLast ? end : end + BETWEEN.length;
    sources.push(measureText(name, text.slice(at, behind)));
    at = behind;
  }
  return sources.length > 0 && at === text.length ? sources : [measureText('system prompt', text)];
}
