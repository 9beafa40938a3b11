import { type ModelRequest, type Usage, NO_USAGE } from '../../../src/protocol/model.ts';
import type { TaskEvent } from '../../../src/protocol/events/event.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';

/** Counts the tokens of a request like a provider whose tokens have four characters each. */
export function countedTokens({ prefix, messages }: ModelRequest): number {
  return Math.ceil(JSON.stringify([prefix, messages]).length / 4);
}

export function usageOf(request: ModelRequest): Usage {
  return { ...NO_USAGE, input: countedTokens(request), output: 20 };
}

/** A tool that returns a text of the given size. The text differs for each part number. */
export const readTool: AnyTool = {
  name: 'Read',
  kind: 'read',
  replay: 'pure',
  description: 'read',
  inputSchema: { type: 'object' },
  parse: (input) => ({ ok: true, input }),
  describe: () => ({ reads: [], writes: [], commands: [], hosts: [] }),
  run: async ({ part, size }: { readonly part: number; readonly size: number }) => ({
    text: `part ${part}: `.padEnd(size, `line ${part} of what it holds\n`),
  }),
};

export function isSummaryRequest({ messages }: ModelRequest): boolean {
  const last = messages.at(-1);
  return last?.role === 'user' && last.content.some(({ text }) => text.includes('write now'));
}

/** Returns all texts of a request, without the arguments of calls. */
export function textOf({ messages }: ModelRequest): string {
  return messages
    .flatMap(({ content }) => content.map((part) => ('text' in part ? part.text : '')))
    .join('\n');
}

export function typesOf(events: readonly TaskEvent[], task: string): readonly string[] {
  return events.filter((event) => event.task === task).map(({ type }) => type);
}
