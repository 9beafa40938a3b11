import type { Fault } from './answer.ts';
import type { Frame, WireCodec } from './wire/codec.ts';

/** The frames of a stream that are sent, and the way in which the stream ends. */
export interface StreamPlan {
  readonly frames: Iterable<Frame>;
  readonly ending: 'end' | 'reset' | 'hang' | 'pings';
}

/** Adds a fault to a stream. Without a fault, the frames are not read in advance, because a stream may be endless. */
export function planStream(
  frames: Iterable<Frame>,
  fault: Fault | undefined,
  codec: Pick<WireCodec, 'overloaded' | 'writeErrorEvent'>,
): StreamPlan {
  switch (fault?.kind) {
    case 'reset':
      return { frames: splitAtBreak(frames, fault).sent, ending: 'reset' };
    case 'hang_after':
      return { frames: splitAtBreak(frames, fault).sent, ending: 'hang' };
    case 'truncate':
      return { frames: truncateFrames([...frames], fault.afterEvents), ending: 'end' };
    case 'half_event': {
      const { sent, rest } = splitAtBreak(frames, fault);
      const next = rest[0];
      const half =
        next === undefined ? [] : [createContentFrame(next.text.slice(0, next.text.length / 2))];
      return { frames: [...sent, ...half], ending: 'end' };
    }
    case 'malformed_frame': {
      const { sent, rest } = splitAtBreak(frames, fault);
      return { frames: [...sent, createContentFrame(MALFORMED_EVENT), ...rest], ending: 'end' };
    }
    case 'overloaded':
    case 'error_event': {
      const { status, message = `The fake model breaks off with ${status}.` } =
        fault.kind === 'overloaded' ? codec.overloaded : fault;
      const event = codec.writeErrorEvent(status, message);
      return {
        frames: [...splitAtBreak(frames, fault).sent, createContentFrame(event)],
        ending: 'end',
      };
    }
    case 'ping_forever':
      return { frames: [...frames].filter((frame) => frame.stage === 'open'), ending: 'pings' };
    default:
      return { frames, ending: 'end' };
  }
}

const MALFORMED_EVENT = 'data: {"type": "content_block_delta", "delta": {"text: oops\n\n';

function createContentFrame(text: string): Frame {
  return { stage: 'content', text };
}

/**
 * Splits the frames of a stream at the point where the stream breaks. Default: after the opening frames and half of the
 * content frames, and after at least one frame.
 */
function splitAtBreak(frames: Iterable<Frame>, fault: { readonly afterEvents?: number }) {
  const all = [...frames];
  const opening = all.filter((frame) => frame.stage === 'open').length;
  const middle = Math.ceil(all.filter((frame) => frame.stage === 'content').length / 2);
  const at = fault.afterEvents ?? Math.max(opening + middle, 1);
  return { sent: all.slice(0, at), rest: all.slice(at) };
}

function truncateFrames(all: readonly Frame[], afterEvents: number | undefined): readonly Frame[] {
  if (afterEvents !== undefined) return all.slice(0, afterEvents);
  return all.filter((frame) => frame.stage !== 'close');
}
