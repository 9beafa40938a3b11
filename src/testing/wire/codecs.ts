import type { WireProtocol } from '../wire-request.ts';
import { anthropicError, anthropicFrames, anthropicWhole } from './anthropic-answer.ts';
import { anthropicBlocks, parseAnthropic } from './anthropic-request.ts';
import { chatFrames, chatWhole, openaiError } from './chat-answer.ts';
import { chatBlocks, parseChat } from './chat-request.ts';
import { sse, type WireCodec } from './codec.ts';
import { googleError, googleFrames, googleWhole } from './google-answer.ts';
import { googleBlocks, parseGoogle } from './google-request.ts';
import { responsesErrorEvent, responsesFrames, responsesWhole } from './responses-answer.ts';
import { parseResponses, responsesBlocks } from './responses-request.ts';

/** The ping of a protocol that has none of its own: a comment, which readers of events must skip. */
const COMMENT_PING = ': ping\n\n';

export const CODECS: Readonly<Record<WireProtocol, WireCodec>> = {
  anthropic: {
    callIdPrefix: 'toolu_',
    cache: 'breakpoints',
    parse: parseAnthropic,
    blocks: anthropicBlocks,
    frames: anthropicFrames,
    whole: anthropicWhole,
    errorBody: anthropicError,
    overloaded: { status: 529, message: 'Overloaded' },
    errorEvent: (status, message) => sse(anthropicError(status, message), 'error'),
    ping: sse({ type: 'ping' }, 'ping'),
  },
  responses: {
    callIdPrefix: 'call_',
    cache: 'automatic',
    parse: parseResponses,
    blocks: responsesBlocks,
    frames: responsesFrames,
    whole: responsesWhole,
    errorBody: openaiError,
    overloaded: {
      status: 503,
      message: 'Our servers are currently overloaded. Please try again later.',
    },
    errorEvent: responsesErrorEvent,
    ping: COMMENT_PING,
  },
  chat: {
    callIdPrefix: 'call_',
    cache: 'automatic',
    parse: parseChat,
    blocks: chatBlocks,
    frames: chatFrames,
    whole: chatWhole,
    errorBody: openaiError,
    overloaded: { status: 503, message: 'The server is overloaded. Please try again later.' },
    errorEvent: (status, message) => sse(openaiError(status, message)),
    ping: COMMENT_PING,
  },
  google: {
    callIdPrefix: 'call_',
    cache: 'automatic',
    parse: parseGoogle,
    blocks: googleBlocks,
    frames: googleFrames,
    whole: googleWhole,
    errorBody: googleError,
    overloaded: { status: 503, message: 'The model is overloaded. Please try again later.' },
    errorEvent: (status, message) => sse(googleError(status, message)),
    ping: COMMENT_PING,
  },
};
