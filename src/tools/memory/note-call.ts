import { MusterError } from '../../base/errors.ts';
import type { MemoryPlace, MemoryPort } from '../../protocol/memory.ts';
import type { ToolContext } from '../../protocol/tool.ts';

/** A call about one note. */
export interface NoteCall {
  readonly place: MemoryPlace;
  /** Of its file. */
  readonly name: string;
  readonly context: ToolContext;
}

export function memoryOf({ memory }: Pick<ToolContext, 'memory'>): MemoryPort {
  if (memory !== undefined) return memory;
  throw new MusterError('NOT_FOUND', 'no memory is kept here');
}

/** `project memory`, `own project memory`. */
export function placeName({ scope, owner }: MemoryPlace): string {
  return owner === null ? `${scope} memory` : `own ${scope} memory`;
}
