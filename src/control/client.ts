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
import { checkSocketDirectory, socketError } from './socket-directory.ts';
import { decodeReply, malformedReply } from './reply-line.ts';
import { encodeRequest } from './request-line.ts';

export interface ControlCallOptions {
  /** The time limit of the whole call. */
  readonly timeoutMs: number;
  /** The required owner of the socket's directory. Default: this process's user. */
  readonly uid?: number;
}

/**
 * Sends a request to the process that listens at `path`. A request that it refuses is a reply (`ok: false`). Throws
 * if there is no reply: `NOT_FOUND` when nobody listens, `TIMEOUT` when no answer came, `CONFLICT` for another
 * version of Muster, `LIMIT_EXCEEDED` for a request that is too long, `PERMISSION_DENIED` for a socket that is not
 * safely ours, `INTERNAL_ERROR` for an answer that cannot be read. After `INTERNAL_ERROR` and `TIMEOUT` it is unknown
 * whether the request was carried out.
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
      `the request has ${byteLength(line)} bytes and may have ${CONTROL_LIMITS.requestBytes}: put long text into a file and name that`,
    );
  }
  try {
    await checkSocketDirectory(dirname(path), options.uid ?? currentUid());
  } catch (thrown) {
    throw thrown instanceof MusterError && thrown.code === 'NOT_FOUND'
      ? nobody(path, thrown)
      : thrown;
  }
  return exchange(path, line, options.timeoutMs);
}

function exchange(path: string, line: string, timeoutMs: number): Promise<ControlReply> {
  const socket = connect({ path });
  const timer = setTimeout(() => socket.destroy(noAnswer(timeoutMs)), timeoutMs);
  return new Promise<ControlReply>((resolve, reject) => {
    socket.once('connect', () => socket.write(line));
    readReply(socket, resolve);
    socket.once('error', (error) => reject(callError(path, error)));
    socket.once('close', () => reject(malformedReply('it hung up without an answer')));
  }).finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}

/**
 * Reads lines until the reply, and skips those of other types. An error in reading ends the socket with it.
 */
function readReply(socket: Socket, found: (reply: ControlReply) => void): void {
  const buffer = new LineBuffer(MAX_REPLY_BYTES);
  socket.on('data', (chunk: Buffer) => {
    try {
      const lines = buffer.push(chunk);
      if (lines === 'too-long')
        throw malformedReply(`a line of more than ${MAX_REPLY_BYTES} bytes`);
      for (const line of lines) {
        const reply = decodeReply(line);
        if (reply !== undefined) return found(reply);
      }
    } catch (thrown) {
      socket.destroy(thrown instanceof Error ? thrown : malformedReply(String(thrown)));
    }
  });
  socket.once('end', () => {
    if (buffer.pendingBytes > 0) socket.destroy(malformedReply('half a line'));
  });
}

function callError(path: string, error: Error): MusterError {
  if (error instanceof MusterError) return error;
  switch (systemErrorCode(error)) {
    case 'ENOENT':
    case 'ECONNREFUSED':
    case 'ENOTSOCK':
      return nobody(path, error);
    case 'ECONNRESET':
    case 'EPIPE':
      return malformedReply('it hung up without an answer');
    default:
      return socketError('reach the running Muster process at', path, error);
  }
}

function nobody(path: string, cause: unknown): MusterError {
  return new MusterError('NOT_FOUND', `no running Muster process listens at ${path}`, { cause });
}

/**
 * Not retryable, because the request may still be waiting there, and a message sent again would arrive twice.
 */
function noAnswer(timeoutMs: number): MusterError {
  return new MusterError(
    'TIMEOUT',
    `the running Muster process gave no answer within ${timeoutMs} ms: it may be busy, or suspended; whether it did what was asked, or will, is unknown: \`muster tasks show\` tells`,
  );
}
