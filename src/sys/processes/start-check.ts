import type { Duplex } from 'node:stream';

/** The descriptor on which a program asks the process that started it whether to continue. */
const DESCRIPTOR = 3;

/**
 * Lines of POSIX sh that end the shell with code 125 unless the process that started it is alive and answers.
 * `--die-with-parent` of bwrap(1) asks the kernel to send a signal when the parent ends, but a parent that
 * ended earlier is missed, and its sandbox would run on. When the program in the sandbox starts, all of these
 * requests have been made. It therefore asks once at its start: if the parent answers then, its later end will
 * be noticed.
 */
export const START_CHECK: readonly string[] = [
  `echo ready >&${DESCRIPTOR}`,
  `read -r answer <&${DESCRIPTOR} || exit 125`,
  `exec ${DESCRIPTOR}>&-`,
];

/** Answers the start check on the other end of its descriptor, a socket. */
export function answerStartCheck(socket: Duplex): void {
  socket.once('data', () => socket.write('start\n'));
  // The program has ended before it could ask or read, which its exit reports.
  socket.on('error', () => socket.destroy());
}
