import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../src/base/ids.ts';
import { BIN, type Sandbox } from './muster.ts';

/** Far longer than any wait on an idle machine, and shorter than the time limit of a test, whose error has no screen. */
const MAX_WAIT_MS = 60_000;

/** A program, the built one unless another is named, in a real terminal, of its own tmux server, which is ended when it is disposed of. */
export class TmuxTerminal implements Disposable {
  private readonly socket: string;
  private readonly sandbox: Sandbox;

  constructor(
    sandbox: Sandbox,
    args: readonly string[],
    {
      env,
      size = [90, 30],
      onStopped = null,
      program = [process.execPath, BIN],
      background = null,
    }: {
      readonly env: Readonly<Record<string, string>>;
      readonly size?: readonly [number, number];
      /** Run in a shell with job control, which says when it is stopped and takes Enter for this. Default: in none. */
      readonly onStopped?: string | null;
      readonly program?: readonly string[];
      /** The color that the terminal reports as its background, such as `#ffffff`. Default: it reports none. */
      readonly background?: string | null;
    },
  ) {
    this.sandbox = sandbox;
    // Of its own: the server of another terminal may still be ending.
    this.socket = join(sandbox.root, newId());
    const [columns, rows] = size;
    const variables = Object.entries(sandbox.environment({ TERM: 'screen-256color', ...env }));
    const command = [
      'env',
      '-i',
      ...variables.map(([name, value]) => `${name}=${value}`),
      ...program,
      ...args,
    ];
    const run = command.map(quoted).join(' ');
    const end = 'echo "exit $?"; exec cat';
    const job = `${run}; echo "stopped $?"; read -r; ${onStopped}; ${end}`;
    const line = onStopped === null ? `${run}; ${end}` : `exec bash --norc -ic ${quoted(job)}`;
    this.tmux(
      '-f',
      '/dev/null',
      ...(background === null ? [] : ['set', '-g', 'window-style', `bg=${background}`, ';']),
      'new-session',
      '-d',
      '-x',
      String(columns),
      '-y',
      String(rows),
      '-c',
      sandbox.workspace,
      line,
    );
  }

  /** What the person sees. */
  screen(): string {
    return this.tmux('capture-pane', '-p');
  }

  /** The same with its colours, as escape sequences. */
  painted(): string {
    return this.tmux('capture-pane', '-p', '-e');
  }

  /** The lines as the program wrote them: a line that was too long for the screen is not broken. */
  unbrokenLines(): readonly string[] {
    return this.tmux('capture-pane', '-p', '-J')
      .split('\n')
      .map((line) => line.trimEnd());
  }

  /** The title that the program has set. */
  title(): string {
    return this.tmux('display-message', '-p', '#{pane_title}').trimEnd();
  }

  /** Whether the alternate screen is shown, and whether the mouse is reported. */
  modes(): { readonly alternate: string; readonly mouse: string } {
    const [alternate = '', mouse = ''] = this.tmux(
      'display-message',
      '-p',
      '#{alternate_on} #{mouse_any_flag}',
    )
      .trim()
      .split(' ');
    return { alternate, mouse };
  }

  /** The process of this terminal whose command line contains a text but does not begin with a shell. */
  programOf(text: string): number {
    const tty = this.tmux('display-message', '-p', '#{pane_tty}').trim();
    const args = ['-t', tty.replace('/dev/', ''), '-o', 'pid=,comm=,args='];
    const found = execFileSync('ps', args, { encoding: 'utf8' })
      .split('\n')
      .map((line) => /^\s*(\d+)\s+(\S+)\s+(.*)$/.exec(line))
      .findLast((row) => row?.[2]?.endsWith('sh') === false && row[3]?.includes(text) === true);
    return Number(found?.[1]);
  }

  type(text: string): void {
    this.tmux('send-keys', '-l', '--', text);
  }

  /** As a terminal pastes it. */
  paste(text: string): void {
    this.tmux('set-buffer', text);
    this.tmux('paste-buffer', '-p');
  }

  /** Sends bytes that a terminal sends by itself, such as a report that it has got the focus. */
  report(bytes: string): void {
    this.tmux('set-buffer', bytes);
    this.tmux('paste-buffer');
  }

  /** Keys by the names that tmux has for them. */
  press(...keys: readonly string[]): void {
    this.tmux('send-keys', ...keys);
  }

  resize(columns: number, rows: number): void {
    this.tmux('resize-window', '-x', String(columns), '-y', String(rows));
  }

  /** Appends everything that the program writes to a file. */
  record(path: string): void {
    this.tmux('pipe-pane', '-O', `cat >> ${quoted(path)}`);
  }

  /** Waits until it can be seen; a test that waits in vain runs into its own limit, and says what was there. */
  async sees(text: string | RegExp | ((screen: string) => boolean)): Promise<string> {
    const startedAt = performance.now();
    while (performance.now() - startedAt < MAX_WAIT_MS) {
      const screen = this.screen();
      if (matches(screen, text)) return screen;
      await sleep(50);
    }
    throw new Error(`not to be seen: ${String(text)}\n${this.screen()}`);
  }

  [Symbol.dispose](): void {
    this.tmux('kill-server');
  }

  private tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-S', this.socket, ...args], {
      encoding: 'utf8',
      env: { ...this.sandbox.environment(), TERM: 'xterm-256color' },
    });
  }
}

function matches(screen: string, text: string | RegExp | ((screen: string) => boolean)): boolean {
  if (typeof text === 'string') return screen.includes(text);
  return text instanceof RegExp ? text.test(screen) : text(screen);
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
