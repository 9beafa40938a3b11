import { plural, formatDuration } from '../../../base/text.ts';
import type { UiMessage } from '../update/message.ts';
import type { CommandOutput } from '../../../api/index.ts';
import { isAbsolute } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { errorMessage } from '../../../base/errors.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { spawnProcessGroup } from '../../../sys/processes/process-group.ts';

/** The number of characters of an output that the screen shows. The message contains more of the output. */
const SHOWN_CHARACTERS = 4_096;
/** The maximum number of outputs that wait for the next message. If there are more, the oldest ones are dropped with a hint. */
const MAX_WAITING = 8;
/** The time between two updates of a running output. Output arrives in very many pieces, which are shown together. */
const SHOW_INTERVAL_MS = 60;

interface ShellOptions {
  readonly cwd: string;
  readonly dispatch: (message: UiMessage) => void;
  /** Called with the full output of a command. */
  readonly onEnded: (output: CommandOutput) => void;
}

/** Runs the user's own shell commands, one at a time. Their outputs wait for the next message. */
export class ShellCommands {
  private readonly options: ShellOptions;
  private running: ShellProcess | null = null;
  private waiting: readonly CommandOutput[] = [];
  private isShowing = false;
  /** The full output of the command that ended last, with the key of its entry. */
  private newest: { readonly key: number; readonly output: CommandOutput } | null = null;

  constructor(options: ShellOptions) {
    this.options = options;
  }

  /** Runs a command. `key` is the key of the entry that shows it. If `isShared` is true, the output is attached to the next message. */
  async run(
    command: string,
    { key, isShared }: { readonly key: number; readonly isShared: boolean },
  ): Promise<void> {
    const { cwd, dispatch, onEnded } = this.options;
    const show = (outcome: string | null) => {
      const output = running.output.readEnd(SHOWN_CHARACTERS);
      const change = { output, outputLines: running.output.lines, outcome };
      dispatch({ type: 'shell-output', key, change });
    };
    const running: ShellProcess = startShellProcess(command, cwd, () => {
      if (this.isShowing) return;
      this.isShowing = true;
      setTimeout(() => {
        this.isShowing = false;
        if (this.running === running) show(null);
      }, SHOW_INTERVAL_MS).unref();
    });
    this.running = running;
    const outcome = await running.ended;
    this.running = null;
    show(outcome);
    const ended = { command, outcome, text: running.output.text };
    this.newest = { key, output: ended };
    onEnded(ended);
    if (isShared) this.keep(ended);
  }

  /** Asks the running command to end, and kills it after 2 s. */
  async stop(): Promise<void> {
    await this.running?.end();
  }

  /** Kills the running command at once, because the process is about to end. */
  kill(): void {
    void this.running?.end(0);
  }

  /** Returns the outputs that wait for a message. A later call returns only newer outputs. */
  takeOutputs(): readonly CommandOutput[] {
    const { waiting } = this;
    this.waiting = [];
    return waiting;
  }

  /** Returns the full output of the command that ended last, given the key of its entry; null for other entries. */
  fullOutput(key: number): string | null {
    return this.newest?.key === key ? this.newest.output.text : null;
  }

  private keep(output: CommandOutput): void {
    const all = [...this.waiting, output];
    this.waiting = all.slice(-MAX_WAITING);
    const dropped = all.length - this.waiting.length;
    if (dropped === 0) return;
    const text = `${plural(dropped, 'earlier output')} not attached: a message takes at most ${MAX_WAITING}`;
    this.options.dispatch({ type: 'hint', text });
  }
}

/** The time from asking a command to end to killing it. */
const GRACE_MS = 2_000;

/** A running shell command of the user's. */
type ShellProcess = ReturnType<typeof startShellProcess>;

/** Starts a command in the user's own shell with the full environment, because the user runs it and no agent does. */
function startShellProcess(command: string, cwd: string, onOutput: () => void) {
  const environment = readEnvironment();
  const shell = environment['SHELL'] ?? '';
  const output = new OutputBuffer();
  const startedAt = performance.now();
  const group = spawnProcessGroup(isAbsolute(shell) ? shell : '/bin/sh', ['-c', command], {
    cwd,
    env: environment,
  });
  for (const stream of [group.stdout, group.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      output.add(bytes);
      onOutput();
    });
  }
  let isStopped = false;
  const outcome = async () => {
    try {
      const { code, signal } = await group.exited;
      // Processes that the command left in the background are ended, too, because they would keep its pipes open.
      await group.end({ graceMs: GRACE_MS });
      output.end();
      const exit = code === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${code}`;
      const by = isStopped ? 'stopped by the user, ' : '';
      return `${by}${exit}, ${formatDuration(Math.round(performance.now() - startedAt))}`;
    } catch (thrown) {
      return `not started: ${errorMessage(thrown)}`;
    }
  };
  return {
    output,
    /** Resolves to the outcome, such as "exit code 0". Never rejects. */
    ended: outcome(),
    /** Ends the command and all processes that it started. Kills those that have not ended after `graceMs`. */
    async end(graceMs = GRACE_MS) {
      isStopped = true;
      await group.end({ graceMs });
    },
  };
}

/** The maximum numbers of characters that are kept from the start and from the end of an output. */
const MAX_HEAD = 1024 * 1024;
const MAX_TAIL = 3 * 1024 * 1024;

/** The output of a command. If the output is very long, only its start and its end are kept. */
export class OutputBuffer {
  private readonly decoder = new StringDecoder('utf8');
  private head = '';
  private tail = '';
  private dropped = 0;
  private lineEnds = 0;

  add(bytes: Buffer): void {
    this.append(this.decoder.write(bytes));
  }

  /** Adds a character that was still incomplete at the end of the output. */
  end(): void {
    this.append(this.decoder.end());
  }

  /** The number of lines so far. */
  get lines(): number {
    const last = this.tail === '' ? this.head : this.tail;
    return this.lineEnds + (last === '' || last.endsWith('\n') ? 0 : 1);
  }

  /** The kept output, with a note at the position where characters were left out. */
  get text(): string {
    if (this.dropped === 0) return this.head + this.tail;
    const limit = MAX_HEAD + MAX_TAIL;
    return `${this.head}\n[… ${this.dropped} characters left out: the limit kept_characters = ${limit} …]\n${this.tail}`;
  }

  /** Returns the last characters, beginning at the start of a line if possible. */
  readEnd(characters: number): string {
    const end = (this.head.slice(-characters) + this.tail.slice(-characters)).slice(-characters);
    const cut = end.indexOf('\n') + 1;
    return end.length < characters || cut === end.length ? end : end.slice(cut);
  }

  private append(text: string): void {
    this.lineEnds += text.split('\n').length - 1;
    const room = MAX_HEAD - this.head.length;
    this.head += text.slice(0, room);
    if (text.length <= room) return;
    this.tail += text.slice(Math.max(0, room));
    const extra = this.tail.length - MAX_TAIL;
    // The tail is cut rarely, because each cut copies the rest.
    if (extra < MAX_TAIL / 4) return;
    this.tail = this.tail.slice(extra);
    this.dropped += extra;
  }
}
