import type { AnyTool } from '../../src/protocol/tool.ts';

/** Creates tools that do what the functions do, by their names. */
export function createFaultTools(
  faults: Readonly<Record<string, () => never>>,
): readonly AnyTool[] {
  return Object.entries(faults).map(([name, fault]) => ({
    name,
    kind: 'read',
    replay: 'pure',
    description: name,
    inputSchema: { type: 'object' },
    parse: (input) => ({ ok: true, input }),
    run: fault,
  }));
}
