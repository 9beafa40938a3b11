import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Environment } from '../../src/sys/env.ts';

/** Starts the keychain and prints the address of its bus. The session ends with its input. */
const SCRIPT = `
  if [ "$1" = unlocked ]; then
    printf password | gnome-keyring-daemon --unlock --components=secrets
  else
    gnome-keyring-daemon --start --components=secrets
  fi >/dev/null 2>&1
  printf '%s\\n' "$DBUS_SESSION_BUS_ADDRESS"
  exec cat >/dev/null`;

/** A session bus of its own, with GNOME's keychain. */
export class KeychainSession implements AsyncDisposable {
  /** What a program needs to use the keychain. */
  readonly environment: Environment;
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess, environment: Environment) {
    this.child = child;
    this.environment = environment;
  }

  /** Opens the keychain in a home directory, where it keeps its files. */
  static async open(home: string, state: 'unlocked' | 'locked'): Promise<KeychainSession> {
    const runtime = join(home, 'run');
    mkdirSync(runtime, { recursive: true, mode: 0o700 });
    const own = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, XDG_RUNTIME_DIR: runtime };
    const child = spawn('dbus-run-session', ['--', '/bin/sh', '-c', SCRIPT, 'sh', state], {
      env: own,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let address = '';
    while (!address.includes('\n')) address += (await once(child.stdout, 'data'))[0];
    return new KeychainSession(child, { ...own, DBUS_SESSION_BUS_ADDRESS: address.trim() });
  }

  /** Stops the bus, so that nothing on it answers. */
  freeze(): void {
    const { pid } = this.child;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    const nameOf = (each: string) => readFileSync(`/proc/${each}/comm`, 'utf8');
    const bus = children.find((each) => nameOf(each).startsWith('dbus-daemon'));
    process.kill(Number(bus), 'SIGSTOP');
    this.thaw = () => process.kill(Number(bus), 'SIGCONT');
  }

  private thaw = (): unknown => undefined;

  async [Symbol.asyncDispose](): Promise<void> {
    this.thaw();
    const ended = once(this.child, 'exit');
    this.child.stdin?.end();
    await ended;
  }
}
