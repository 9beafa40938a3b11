import { byteLength } from '../base/text.ts';
import { estimateTokens } from '../base/token-estimate.ts';
import type { RequestPrefix } from '../protocol/model.ts';

/** A text that stands in a request. Tokens are estimated. */
export interface ContextSource {
  readonly name: string;
  readonly bytes: number;
  readonly tokens: number;
}

export function sourceOf(name: string, text: string): ContextSource {
  return { name, bytes: byteLength(text), tokens: estimateTokens(text) };
}

/** The tools of a request, each as JSON, in its order. */
export function toolSources({ tools }: Pick<RequestPrefix, 'tools'>): readonly ContextSource[] {
  return tools.map((tool) => sourceOf(`tool ${tool.name}`, JSON.stringify(tool)));
}

/**
 * The system prompt by its parts; the empty line behind a part counts with it, so that they add up to the
 * prompt. One source, `system prompt`, where nothing is recorded of its parts.
 */
export function systemSources({
  system,
  parts,
}: Pick<RequestPrefix, 'system' | 'parts'>): readonly ContextSource[] {
  const [shared, ...own] = system;
  if (shared === undefined) return [];
  return [...sharedSources(shared, parts), ...own.map((text) => sourceOf('task line', text))];
}

const BETWEEN = '\n\n';

function sharedSources(text: string, parts: RequestPrefix['parts']): readonly ContextSource[] {
  const sources: ContextSource[] = [];
  let at = 0;
  for (const { name, length } of parts ?? []) {
    const end = at + length;
    const isLast = sources.length + 1 === parts?.length;
    // A log that was brought here may say anything.
    if (!isLast && text.slice(end, end + BETWEEN.length) !== BETWEEN) break;
    const behind = isLast ? end : end + BETWEEN.length;
    sources.push(sourceOf(name, text.slice(at, behind)));
    at = behind;
  }
  return sources.length > 0 && at === text.length ? sources : [sourceOf('system prompt', text)];
}
