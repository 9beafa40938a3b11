import { NO_USAGE, type ModelRequest, type Usage } from '../../../src/protocol/model.ts';
import type { TaskEvent } from '../../../src/protocol/event.ts';
import type { AnyTool } from '../../../src/protocol/tool.ts';

/** What a provider that takes four characters for a token would count. */
export function countedTokens({ prefix, messages }: ModelRequest): number {
  return Math.ceil(JSON.stringify([prefix, messages]).length / 4);
}

export function usageOf(request: ModelRequest): Usage {
  return { ...NO_USAGE, input: countedTokens(request), output: 20 };
}

/** Gives so many characters, other ones for each number. */
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

/** All that is said in a request by no model. */
export function textOf({ messages }: ModelRequest): string {
  return messages
    .flatMap(({ content }) => content.map((part) => ('text' in part ? part.text : '')))
    .join('\n');
}

export function typesOf(events: readonly TaskEvent[], task: string): readonly string[] {
  return events.filter((event) => event.task === task).map(({ type }) => type);
}
