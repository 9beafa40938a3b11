import type { Duplex } from 'node:stream';

/** The descriptor on which a program asks the process that started it whether to go on. */
const DESCRIPTOR = 3;

/**
 * Lines of POSIX sh that end the shell, with code 125, unless the process that started it is alive and
 * answers. `--die-with-parent` of bwrap(1) asks the kernel to send a signal when a parent ends, and a
 * parent that has ended before is missed: its sandbox would run on without anybody. All of these requests
 * have been made when the program in the sandbox starts, so it asks once at its start, and a parent that
 * answers then is known to be seen by them when it ends later.
 */
export const START_CHECK: readonly string[] = [
  `echo ready >&${DESCRIPTOR}`,
  `read -r answer <&${DESCRIPTOR} || exit 125`,
  `exec ${DESCRIPTOR}>&-`,
];

/** Answers the start check on the other end of its descriptor, a socket. */
export function answerStartCheck(socket: Duplex): void {
  socket.once('data', () => socket.write('start\n'));
  // The program has ended before it could ask or read: its exit says so.
  socket.on('error', () => socket.destroy());
}
