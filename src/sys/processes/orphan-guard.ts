import { spawn, type ChildProcess } from 'node:child_process';
import { stdioWithoutInherited } from './inherited-descriptors.ts';
import type { ProcessGroup } from './process-group.ts';

/** The time that the guard gives processes between TERM and KILL, in seconds. */
const GRACE_SECONDS = 1;

/**
 * The script of the guard in POSIX sh. Each line of its stdin adds or removes a group. When stdin ends, the process
 * that started the guard has ended in whatever way, and the guard ends the remaining groups. A process that has left
 * its group is found by the mark in its environment, where there is a /proc.
 */
const GUARD = `
groups=' '
while read -r action group mark; do
  case $action in
    add) groups="$groups$group:$mark " ;;
    remove) groups=\${groups%%" $group:"*}' '\${groups#*" $group:$mark "} ;;
  esac
done
send() {
  for entry in $groups; do
    kill -s "$1" -- "-\${entry%%:*}"
    for file in $(grep -alF -- "\${entry#*:}" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      kill -s "$1" "\${pid%/environ}"
    done
  done 2>/dev/null
}
case $groups in *:*) ;; *) exit 0 ;; esac
send TERM
sleep ${GRACE_SECONDS}
send KILL
`;

/** The guard of this process, which is started at the first use. */
let guard: ChildProcess | null = null;

/**
 * Makes sure that a group of processes ends when this process ends without ending the group itself, for example
 * because it was killed with signal 9. Use it for programs that run for a long time and that no record on the disk
 * mentions. A small shell waits for the end of this process; all groups share it. Returns a function to call after the
 * group has ended.
 */
export function guardAgainstOrphans({ pid, mark }: ProcessGroup): () => void {
  if (pid === undefined) return () => {};
  const { stdin } = (guard ??= startGuard());
  stdin?.write(`add ${pid} ${mark}\n`);
  return () => void stdin?.write(`remove ${pid} ${mark}\n`);
}

function startGuard(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', GUARD], {
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore', ...stdioWithoutInherited()],
  });
  // Without a guard, groups still end with this process unless it is killed. The next group starts a new guard.
  const forget = (): void => void (guard = guard === child ? null : guard);
  child.on('error', forget);
  child.on('exit', forget);
  child.stdin?.on('error', forget);
  // Neither the guard nor its pipe keeps this process alive.
  child.unref();
  const { stdin } = child;
  if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  return child;
}
