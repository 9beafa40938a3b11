import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { MusterError, systemErrorCode } from '../base/errors.ts';
import { byteLength } from '../base/text.ts';
import { LineBuffer } from './line-buffer.ts';
import {
  CONTROL_LIMITS,
  MAX_REPLY_BYTES,
  type ControlReply,
  type ControlRequest,
} from './protocol.ts';
import { checkPathLength, currentUid } from './path.ts';
import { checkSocketDirectory, createSocketError } from './socket-directory.ts';
import { decodeReply, createMalformedReplyError } from './reply-line.ts';
import { encodeRequest } from './request-line.ts';

/** The options of a request to a control socket. */
export interface ControlCallOptions {
  /** The time limit of the complete call, in milliseconds. */
  readonly timeoutMs: number;
  /** The required owner of the socket's directory. Default: this process's user. */
  readonly uid?: number;
}

/**
 * Sends a request to the process that listens at `path`. If the process refuses the request, this is a reply, too (`ok:
 * false`). Throws if there is no reply: `NOT_FOUND` if no process listens, `TIMEOUT` if no answer arrives in time,
 * `CONFLICT` for another version of Muster, `LIMIT_EXCEEDED` for a request that is too long, `PERMISSION_DENIED` if
 * another user may control the socket, and `INTERNAL_ERROR` for an answer that cannot be read. After `INTERNAL_ERROR`
 * and `TIMEOUT`, it is unknown whether the request was carried out.
 */
export async function sendControlRequest(
  path: string,
  request: ControlRequest,
  options: ControlCallOptions,
): Promise<ControlReply> {
  checkPathLength(path);
  const line = encodeRequest(request);
  if (byteLength(line) > CONTROL_LIMITS.requestBytes) {
    throw new MusterError(
      'LIMIT_EXCEEDED',
      `the request has ${byteLength(line)} bytes, and the limit is ${CONTROL_LIMITS.requestBytes}: write long text to a file and refer to it`,
    );
  }
  try {
    await checkSocketDirectory(dirname(path), options.uid ?? currentUid());
  } catch (thrown) {
    throw thrown instanceof MusterError && thrown.code === 'NOT_FOUND'
      ? createNoListenerError(path, thrown)
      : thrown;
  }
  return exchange(path, line, options.timeoutMs);
}

function exchange(path: string, line: string, timeoutMs: number): Promise<ControlReply> {
  const socket = connect({ path });
  const timer = setTimeout(() => socket.destroy(createTimeoutError(timeoutMs)), timeoutMs);
  return new Promise<ControlReply>((resolve, reject) => {
    socket.once('connect', () => socket.write(line));
    readReply(socket, resolve);
    socket.once('error', (error) => reject(toCallError(path, error)));
    socket.once('close', () =>
      reject(createMalformedReplyError('it closed the connection without an answer')),
    );
  }).finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}

/**
 * Reads lines until the reply, and skips lines of other types. If reading fails, destroys the socket with the error.
 */
function readReply(socket: Socket, onReply: (reply: ControlReply) => void): void {
  const buffer = new LineBuffer(MAX_REPLY_BYTES);
  socket.on('data', (chunk: Buffer) => {
    try {
      const lines = buffer.push(chunk);
      if (lines === 'too-long')
        throw createMalformedReplyError(`a line of more than ${MAX_REPLY_BYTES} bytes`);
      for (const line of lines) {
        const reply = decodeReply(line);
        if (reply !== undefined) return onReply(reply);
      }
    } catch (thrown) {
      socket.destroy(thrown instanceof Error ? thrown : createMalformedReplyError(String(thrown)));
    }
  });
  socket.once('end', () => {
    if (buffer.pendingBytes > 0) socket.destroy(createMalformedReplyError('an incomplete line'));
  });
}

function toCallError(path: string, error: Error): MusterError {
  if (error instanceof MusterError) return error;
  switch (systemErrorCode(error)) {
    case 'ENOENT':
    case 'ECONNREFUSED':
    case 'ENOTSOCK':
      return createNoListenerError(path, error);
    case 'ECONNRESET':
    case 'EPIPE':
      return createMalformedReplyError('it closed the connection without an answer');
    default:
      return createSocketError('connect to the running Muster process at', path, error);
  }
}

function createNoListenerError(path: string, cause: unknown): MusterError {
  return new MusterError('NOT_FOUND', `no running Muster process listens at ${path}`, { cause });
}

/**
 * Creates the error for a missing answer. It is not retryable, because the process may still handle the request later,
 * and a message that is sent again would arrive twice.
 */
function createTimeoutError(timeoutMs: number): MusterError {
  return new MusterError(
    'TIMEOUT',
    `the running Muster process gave no answer within ${timeoutMs} ms: it may be busy or suspended, so it is unknown whether the request was or will be carried out: check with \`muster tasks show\``,
  );
}
