import { MusterError } from '../../base/errors.ts';
import type { SandboxPort } from '../../protocol/tool.ts';
import { Slot, Slots } from './slots.ts';

/**
 * Bounds the number of commands of one tree that run at the same time. A foreground command queues. A
 * background command may run for ever, so a command never waits behind background commands alone: that is an
 * error.
 */
export class CommandQueue {
  private readonly size: number;
  private readonly slots: Slots;
  /** The number of foreground commands that run or queue. */
  private foreground = 0;

  constructor(size: number) {
    this.size = size;
    this.slots = new Slots(size);
  }

  /**
   * Takes a slot for one command, and waits for it if need be. Throws MusterError (`LIMIT_EXCEEDED`) when
   * waiting might never end. Rejects when the signal aborts during the wait.
   *
   * @param serves whether the command runs in the background
   */
  async take(signal: AbortSignal, { serves }: { readonly serves: boolean }): Promise<Slot> {
    const { slots, size } = this;
    if (slots.isFull && (serves || this.foreground === 0)) {
      throw new MusterError(
        'LIMIT_EXCEEDED',
        `the limit max_processes = ${size} is reached: as many commands of this run are at work${serves ? '' : ', all of them in the background'}. End one with TaskStop first.`,
      );
    }
    if (serves) return slots.acquire(signal, { resuming: false });
    this.foreground += 1;
    try {
      const slot = await slots.acquire(signal, { resuming: false });
      return new Slot(() => {
        this.foreground -= 1;
        slot.release();
      });
    } catch (thrown) {
      this.foreground -= 1;
      throw thrown;
    }
  }

  /** Wraps a sandbox so that each command holds a slot from before it starts until it is released. */
  queueCommands(sandbox: SandboxPort, signal: AbortSignal): SandboxPort {
    return {
      confine: async (argv, options) => {
        const slot = await this.take(signal, options);
        try {
          const command = await sandbox.confine(argv, options);
          const release = (): void => {
            command.release();
            slot.release();
          };
          return { ...command, release };
        } catch (thrown) {
          slot.release();
          throw thrown;
        }
      },
    };
  }
}
