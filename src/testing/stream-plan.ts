import type { Fault } from './answer.ts';
import type { Frame, WireCodec } from './wire/codec.ts';

/** The frames of a stream that are sent, and the way in which it ends. */
export interface StreamPlan {
  readonly frames: Iterable<Frame>;
  readonly ending: 'end' | 'reset' | 'hang' | 'pings';
}

/** Adds a fault to a stream. Endless streams stay lazy. */
export function planStream(
  frames: Iterable<Frame>,
  fault: Fault | undefined,
  codec: Pick<WireCodec, 'overloaded' | 'errorEvent'>,
): StreamPlan {
  switch (fault?.kind) {
    case 'reset':
      return { frames: cut(frames, fault).sent, ending: 'reset' };
    case 'hang_after':
      return { frames: cut(frames, fault).sent, ending: 'hang' };
    case 'truncate':
      return { frames: truncated([...frames], fault.afterEvents), ending: 'end' };
    case 'half_event': {
      const { sent, rest } = cut(frames, fault);
      const next = rest[0];
      const half = next === undefined ? [] : [content(next.text.slice(0, next.text.length / 2))];
      return { frames: [...sent, ...half], ending: 'end' };
    }
    case 'malformed_frame': {
      const { sent, rest } = cut(frames, fault);
      return { frames: [...sent, content(MALFORMED), ...rest], ending: 'end' };
    }
    case 'overloaded':
    case 'error_event': {
      const { status, message = `The fake model breaks off with ${status}.` } =
        fault.kind === 'overloaded' ? codec.overloaded : fault;
      const event = codec.errorEvent(status, message);
      return { frames: [...cut(frames, fault).sent, content(event)], ending: 'end' };
    }
    case 'ping_forever':
      return { frames: [...frames].filter((frame) => frame.stage === 'open'), ending: 'pings' };
    default:
      return { frames, ending: 'end' };
  }
}

const MALFORMED = 'data: {"type": "content_block_delta", "delta": {"text: oops\n\n';

function content(text: string): Frame {
  return { stage: 'content', text };
}

/**
 * Splits a stream at the break. By default the opening frames and half of the content, at least one frame, come
 * before it.
 */
function cut(frames: Iterable<Frame>, fault: { readonly afterEvents?: number }) {
  const all = [...frames];
  const opening = all.filter((frame) => frame.stage === 'open').length;
  const middle = Math.ceil(all.filter((frame) => frame.stage === 'content').length / 2);
  const at = fault.afterEvents ?? Math.max(opening + middle, 1);
  return { sent: all.slice(0, at), rest: all.slice(at) };
}

function truncated(all: readonly Frame[], afterEvents: number | undefined): readonly Frame[] {
  if (afterEvents !== undefined) return all.slice(0, afterEvents);
  return all.filter((frame) => frame.stage !== 'close');
}
