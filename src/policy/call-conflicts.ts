import type { Access } from '../protocol/permission.ts';
import type { ToolKind } from '../protocol/tool.ts';
import { isInside } from '../base/path-inside.ts';

/**
 * The properties of a call that the scheduler needs. Paths are absolute, with links resolved if possible, because links
 * hide that two paths lead to one file.
 */
export interface ScheduledCall {
  readonly kind: ToolKind;
  readonly access: Pick<Access, 'reads' | 'writes'>;
}

/** Tells whether two calls of one message must not run at the same time. Symmetric. */
export function doCallsConflict(a: ScheduledCall, b: ScheduledCall): boolean {
  if (!usesFiles(a) || !usesFiles(b)) return false;
  if (a.kind === 'execute' || b.kind === 'execute') return true;
  return writesInto(a, b) || writesInto(b, a);
}

/** Returns for each call the indices of the earlier calls that it has to wait for. */
export function scheduleCalls(calls: readonly ScheduledCall[]): readonly (readonly number[])[] {
  const fileCalls: number[] = [];
  return calls.map((call, index) => {
    if (!usesFiles(call)) return [];
    const waitsFor = fileCalls.filter((earlierIndex) => {
      const earlier = calls[earlierIndex];
      return earlier !== undefined && doCallsConflict(earlier, call);
    });
    fileCalls.push(index);
    return waitsFor;
  });
}

function usesFiles({ kind }: ScheduledCall): boolean {
  switch (kind) {
    case 'read':
    case 'edit':
    case 'execute':
      return true;
    case 'network':
    case 'delegate':
    case 'meta':
      return false;
  }
}

/**
 * Tells whether one call changes something that the other reads or writes. A call that names no path may touch any
 * path.
 */
function writesInto(writer: ScheduledCall, other: ScheduledCall): boolean {
  const { writes } = writer.access;
  if (writer.kind !== 'edit' && writes.length === 0) return false;
  const touched = [...other.access.reads, ...other.access.writes];
  if (writes.length === 0 || touched.length === 0) return true;
  return writes.some((path) =>
    touched.some((each) => isInside(path, each) || isInside(each, path)),
  );
}
