import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { serveCalls } from '../../src/engine/process/serve-calls.ts';
import type { AnyTool, ToolContext } from '../../src/protocol/tool.ts';
import { PROCESS_TOOLS } from '../../src/tools/process-tools.ts';

const KEPT_BUFFERS = 100;
const FLOOD_LINES = 20_000;

/** What reading a file of this name does, before it is read. */
const FAULTS: Readonly<Record<string, (context: ToolContext) => void>> = {
  'spin.txt': () => {
    for (;;);
  },
  // The process keeps 400 MB and takes new memory all the time.
  'allocate.txt': () => {
    const kept: Buffer[] = [];
    for (let next = 0; ; next = (next + 1) % KEPT_BUFFERS) kept[next] = Buffer.alloc(4_000_000, 1);
  },
  'flood.txt': ({ progress }) => {
    for (let line = 0; line < FLOOD_LINES; line += 1) progress(`line ${line}`);
  },
};

/** The program of the process of a task, in which some files make Read misbehave. */
serveCalls(PROCESS_TOOLS.map((tool) => (tool.name === 'Read' ? makeFaulty(tool) : tool)));

function makeFaulty(tool: AnyTool): AnyTool {
  return {
    ...tool,
    run: async (input: { readonly file_path: string }, context) => {
      const fault = FAULTS[basename(input.file_path)];
      // The benchmark waits for this file.
      if (fault !== undefined) writeFileSync(join(context.cwd, 'begun'), '');
      fault?.(context);
      return await tool.run(input, context);
    },
  };
}
