import type { WireProtocol } from '../wire-request.ts';
import {
  createAnthropicError,
  writeAnthropicFrames,
  writeAnthropicBody,
} from './anthropic-answer.ts';
import { listAnthropicBlocks, parseAnthropic } from './anthropic-request.ts';
import { writeChatFrames, writeChatBody, createOpenaiError } from './chat-answer.ts';
import { listChatBlocks, parseChat } from './chat-request.ts';
import { formatServerEvent, type WireCodec } from './codec.ts';
import { createGoogleError, writeGoogleFrames, writeGoogleBody } from './google-answer.ts';
import { listGoogleBlocks, parseGoogle } from './google-request.ts';
import {
  writeResponsesErrorEvent,
  writeResponsesFrames,
  writeResponsesBody,
} from './responses-answer.ts';
import { parseResponses, listResponsesBlocks } from './responses-request.ts';

/** The ping for protocols without a ping event: a comment, which readers of events must skip. */
const COMMENT_PING = ': ping\n\n';

export const CODECS: Readonly<Record<WireProtocol, WireCodec>> = {
  anthropic: {
    callIdPrefix: 'toolu_',
    cache: 'breakpoints',
    parse: parseAnthropic,
    listBlocks: listAnthropicBlocks,
    writeFrames: writeAnthropicFrames,
    writeBody: writeAnthropicBody,
    writeErrorBody: createAnthropicError,
    overloaded: { status: 529, message: 'Overloaded' },
    writeErrorEvent: (status, message) =>
      formatServerEvent(createAnthropicError(status, message), 'error'),
    ping: formatServerEvent({ type: 'ping' }, 'ping'),
  },
  responses: {
    callIdPrefix: 'call_',
    cache: 'automatic',
    parse: parseResponses,
    listBlocks: listResponsesBlocks,
    writeFrames: writeResponsesFrames,
    writeBody: writeResponsesBody,
    writeErrorBody: createOpenaiError,
    overloaded: {
      status: 503,
      message: 'Our servers are currently overloaded. Please try again later.',
    },
    writeErrorEvent: writeResponsesErrorEvent,
    ping: COMMENT_PING,
  },
  chat: {
    callIdPrefix: 'call_',
    cache: 'automatic',
    parse: parseChat,
    listBlocks: listChatBlocks,
    writeFrames: writeChatFrames,
    writeBody: writeChatBody,
    writeErrorBody: createOpenaiError,
    overloaded: { status: 503, message: 'The server is overloaded. Please try again later.' },
    writeErrorEvent: (status, message) => formatServerEvent(createOpenaiError(status, message)),
    ping: COMMENT_PING,
  },
  google: {
    callIdPrefix: 'call_',
    cache: 'automatic',
    parse: parseGoogle,
    listBlocks: listGoogleBlocks,
    writeFrames: writeGoogleFrames,
    writeBody: writeGoogleBody,
    writeErrorBody: createGoogleError,
    overloaded: { status: 503, message: 'The model is overloaded. Please try again later.' },
    writeErrorEvent: (status, message) => formatServerEvent(createGoogleError(status, message)),
    ping: COMMENT_PING,
  },
};
