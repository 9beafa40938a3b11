import { MusterError } from '../../base/errors.ts';
import type { SandboxPort } from '../../protocol/tool.ts';
import { Slot, Slots } from './slots.ts';

const LIMIT = 'max_processes';

/**
 * The commands of one tree that run at a time. One that is waited for queues; one in the background
 * may last for ever, so that nothing waits behind such ones alone: beyond the limit it is an error.
 */
export class CommandQueue {
  private readonly size: number;
  private readonly slots: Slots;
  /** In the foreground, at work or queued. */
  private foreground = 0;

  constructor(most: number) {
    this.size = most;
    this.slots = new Slots(most);
  }

  /** Throws MusterError where no lane can be waited for; rejects when the signal aborts meanwhile. */
  async take(signal: AbortSignal, { serves }: { readonly serves: boolean }): Promise<Slot> {
    const { slots: lanes, size: most } = this;
    if (lanes.isFull && (serves || this.foreground === 0)) {
      throw new MusterError(
        'LIMIT_EXCEEDED',
        `the limit ${LIMIT} = ${most} is reached: so many commands of this run are at work${serves ? '' : ', all in the background'}. End one with TaskStop first.`,
      );
    }
    if (serves) return lanes.acquire(signal, { resuming: false });
    this.foreground += 1;
    try {
      const lane = await lanes.acquire(signal, { resuming: false });
      return new Slot(() => {
        this.foreground -= 1;
        lane.release();
      });
    } catch (thrown) {
      this.foreground -= 1;
      throw thrown;
    }
  }

  /** A sandbox whose commands each hold a lane, from before they start until nothing of them is left. */
  queueCommands(sandbox: SandboxPort, signal: AbortSignal): SandboxPort {
    return {
      confine: async (argv, options) => {
        const lane = await this.take(signal, options);
        try {
          const command = await sandbox.confine(argv, options);
          const release = (): void => {
            command.release();
            lane.release();
          };
          return { ...command, release };
        } catch (thrown) {
          lane.release();
          throw thrown;
        }
      },
    };
  }
}
