import { connect } from 'node:net';
import { systemErrorCode } from '../base/errors.ts';

/**
 * Whether a process listens on the socket file at `path`. Only a refused connection proves a dead
 * one; whatever else goes wrong (no descriptors left, a full queue) proves nothing: `unknown`. (BSD
 * kernels refuse where the queue is full, too: a process there with 128 clients waiting looks dead.)
 */
export function probeSocket(path: string): Promise<'listening' | 'dead' | 'gone' | 'unknown'> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once('connect', () => {
      socket.destroy();
      resolve('listening');
    });
    socket.once('error', (error) => {
      const code = systemErrorCode(error);
      if (code === 'ECONNREFUSED') resolve('dead');
      else resolve(code === 'ENOENT' ? 'gone' : 'unknown');
    });
  });
}
