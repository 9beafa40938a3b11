import type { Duplex } from 'node:stream';
import { deferred } from '../../base/async.ts';

/** The descriptor on which a program asks the process that started it whether to continue. */
const DESCRIPTOR = 3;

/**
 * Lines of POSIX sh that end the shell with code 125 unless the process that started the shell answers. They close a
 * gap of `--die-with-parent` in bwrap(1), which asks the kernel for a signal when the parent ends: if the parent ends
 * before bwrap has made this request, the sandbox would run on. The program in the sandbox starts only after the
 * request. If the parent answers at that time, its later end will be noticed.
 */
export const START_CHECK: readonly string[] = [
  `echo ready >&${DESCRIPTOR}`,
  `read -r answer <&${DESCRIPTOR} || exit 125`,
  `exec ${DESCRIPTOR}>&-`,
];

/**
 * Answers the start check on the other end of its descriptor, a socket. Resolves to true when the program has asked, and
 * to false if it has ended before. Never rejects.
 */
export function answerStartCheck(socket: Duplex): Promise<boolean> {
  const asked = deferred<boolean>();
  socket.once('data', () => {
    socket.write('start\n');
    asked.resolve(true);
  });
  // The program has ended before it asked or read the answer. Its exit code reports the failure.
  socket.on('error', () => socket.destroy());
  socket.once('close', () => asked.resolve(false));
  return asked.promise;
}
