import { describe, expect, it } from 'vitest';
import type { Fault } from '../../src/testing/index.ts';
import { planStream } from '../../src/testing/stream-plan.ts';
import type { Frame } from '../../src/testing/wire/codec.ts';

const FRAMES: readonly Frame[] = [
  { stage: 'open', text: 'O;' },
  { stage: 'content', text: 'a;' },
  { stage: 'content', text: 'b;' },
  { stage: 'content', text: 'c;' },
  { stage: 'close', text: 'Z;', usage: true },
];
const BAD = 'data: {"type": "content_block_delta", "delta": {"text: oops\n\n';

describe('a fault in a stream', () => {
  it.each<[Fault | undefined, string, string]>([
    [undefined, 'O;a;b;c;Z;', 'end'],
    [{ kind: 'duplicate_tool_ids' }, 'O;a;b;c;Z;', 'end'],
    [{ kind: 'reset' }, 'O;a;b;', 'reset'],
    [{ kind: 'reset', afterEvents: 0 }, '', 'reset'],
    [{ kind: 'hang_after', afterEvents: 1 }, 'O;', 'hang'],
    [{ kind: 'hang_after', afterEvents: 99 }, 'O;a;b;c;Z;', 'hang'],
    [{ kind: 'truncate' }, 'O;a;b;c;', 'end'],
    [{ kind: 'truncate', afterEvents: 2 }, 'O;a;', 'end'],
    [{ kind: 'half_event', afterEvents: 2 }, 'O;a;b', 'end'],
    [{ kind: 'half_event', afterEvents: 5 }, 'O;a;b;c;Z;', 'end'],
    [{ kind: 'malformed_frame', afterEvents: 1 }, `O;${BAD}a;b;c;Z;`, 'end'],
    [{ kind: 'overloaded', afterEvents: 0 }, '!', 'end'],
    [{ kind: 'overloaded' }, 'O;a;b;!', 'end'],
    [{ kind: 'ping_forever' }, 'O;', 'pings'],
  ])('%j', (fault, text, ending) => {
    const plan = planStream(FRAMES, fault, {
      writeErrorEvent: (_status, message) => message,
      overloaded: { status: 529, message: '!' },
    });
    expect([[...plan.frames].map((frame) => frame.text).join(''), plan.ending]).toEqual([
      text,
      ending,
    ]);
  });
});
