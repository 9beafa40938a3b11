import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BIN } from '../../e2e/muster.ts';
import type { WireMessage } from '../../e2e/acp-schema.ts';
import type { World } from '../../e2e/world.ts';

/** Returns the command that starts the built program behind the recorder, which writes to a file of the sandbox. */
export function recordedCommand(
  { sandbox }: World,
  name: string,
  flags: readonly string[] = [],
): { readonly file: string; readonly command: string; readonly args: readonly string[] } {
  const file = join(sandbox.root, `${name}.jsonl`);
  const recorder = join(import.meta.dirname, 'wire-recorder.mjs');
  return {
    file,
    command: process.execPath,
    args: [recorder, file, process.execPath, BIN, 'acp', ...flags],
  };
}

interface RecordedLine {
  readonly connection: number;
  readonly from: WireMessage['from'];
  readonly line: string;
}

/** Reads what recorders have written into a file: one list for each connection, because each counts its requests anew. */
export function readWires(file: string): readonly (readonly WireMessage[])[] {
  if (!existsSync(file)) return [];
  const wires = new Map<number, WireMessage[]>();
  for (const record of readFileSync(file, 'utf8').trimEnd().split('\n')) {
    const { connection, from, line }: RecordedLine = JSON.parse(record);
    const wire = wires.get(connection) ?? [];
    wire.push({ from, message: JSON.parse(line) });
    wires.set(connection, wire);
  }
  return [...wires.values()];
}
