import { isAbsolute } from 'node:path';
import { errorMessage } from '../../../base/errors.ts';
import { formatDuration } from '../../../base/text.ts';
import { readEnvironment } from '../../../sys/env.ts';
import { spawnGroup } from '../../../sys/processes.ts';
import { StringDecoder } from 'node:string_decoder';

/** From asking it to end to killing it. */
const GRACE_MS = 2_000;

/** A command of the person's own that runs. */
export interface ShellCommand {
  readonly output: OutputKeeper;
  /** How it ended: "exit code 0". Never rejects. */
  readonly ended: Promise<string>;
  /** It and all that it started; killed after `graceMs`, and with 0 before this returns. */
  end(graceMs?: number): Promise<void>;
}

/** In the person's own shell, with their whole environment: it is they who run it. */
export function startShellCommand(
  command: string,
  { cwd, onOutput }: { readonly cwd: string; readonly onOutput: () => void },
): ShellCommand {
  const environment = readEnvironment();
  const shell = environment['SHELL'] ?? '';
  const output = new OutputKeeper();
  const began = performance.now();
  const group = spawnGroup(isAbsolute(shell) ? shell : '/bin/sh', ['-c', command], {
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
  const exited = async () => {
    try {
      const { code, signal } = await group.exited;
      // What it left in the background would hold its pipes open, and goes with it.
      await group.end({ graceMs: GRACE_MS });
      output.end();
      const how = code === null ? `ended by ${signal ?? 'a signal'}` : `exit code ${code}`;
      const by = isStopped ? 'stopped by the user, ' : '';
      return `${by}${how}, ${formatDuration(Math.round(performance.now() - began))}`;
    } catch (thrown) {
      return `not started: ${errorMessage(thrown)}`;
    }
  };
  return {
    output,
    ended: exited(),
    async end(graceMs = GRACE_MS) {
      isStopped = true;
      await group.end({ graceMs });
    },
  };
}

/** Characters of an output that are kept from its beginning and from its end. */
const MOST_HEAD = 1024 * 1024;
const MOST_TAIL = 3 * 1024 * 1024;

/** What a command prints, as it comes: of very much its beginning and its end. */
export class OutputKeeper {
  private readonly decoder = new StringDecoder('utf8');
  private head = '';
  private tail = '';
  private lost = 0;
  private lineEnds = 0;

  add(bytes: Buffer): void {
    this.take(this.decoder.write(bytes));
  }

  end(): void {
    this.take(this.decoder.end());
  }

  /** Lines that have come. */
  get lines(): number {
    const last = this.tail === '' ? this.head : this.tail;
    return this.lineEnds + (last === '' || last.endsWith('\n') ? 0 : 1);
  }

  /** All that is kept. */
  get text(): string {
    if (this.lost === 0) return this.head + this.tail;
    const most = MOST_HEAD + MOST_TAIL;
    return `${this.head}\n[… ${this.lost} characters left out: the limit kept_characters = ${most} …]\n${this.tail}`;
  }

  /** The last of it, for the screen. */
  lastOf(characters: number): string {
    const end = (this.head.slice(-characters) + this.tail.slice(-characters)).slice(-characters);
    const cut = end.indexOf('\n') + 1;
    // A line that is cut off at its beginning is left out, unless it is all that there is.
    return end.length < characters || cut === end.length ? end : end.slice(cut);
  }

  private take(text: string): void {
    this.lineEnds += text.split('\n').length - 1;
    const room = MOST_HEAD - this.head.length;
    this.head += text.slice(0, room);
    if (text.length <= room) return;
    this.tail += text.slice(Math.max(0, room));
    const over = this.tail.length - MOST_TAIL;
    // Some at a time: each cut copies what is left.
    if (over < MOST_TAIL / 4) return;
    this.tail = this.tail.slice(over);
    this.lost += over;
  }
}
