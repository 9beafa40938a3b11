import { AsyncLocalStorage } from 'node:async_hooks';
import { errorMessage } from '../../base/errors.ts';
import type { AnyTool } from '../../protocol/tool.ts';
import { listenToOwnChanges } from '../../sys/files/own-writes.ts';
import { listenToGivenNames } from '../../sys/files/temporary-files.ts';
import { FrameReader, NO_FRAME_LIMITS } from './frames.ts';
import type { CallData, MessageToProcess, QueryPort } from './messages.ts';
import { ParentChannel } from './parent-channel.ts';
import { createRemoteContext } from './remote-context.ts';

/**
 * Runs the calls that Muster sends to this process, with these tools, until its stdin ends. It then ends this process,
 * whatever still runs.
 */
export function serveCalls(tools: readonly AnyTool[]): void {
  new CallServer(tools).listen();
}

class CallServer {
  private readonly tools: ReadonlyMap<string, AnyTool>;
  private readonly channel = new ParentChannel();
  private readonly running = new Map<number, AbortController>();
  /** The number of the call on whose behalf the present code runs. */
  private readonly current = new AsyncLocalStorage<number>();

  constructor(tools: readonly AnyTool[]) {
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  listen(): void {
    listenToOwnChanges({
      before: (path) => this.report('beginOwnChange', path),
      after: (path) => this.report('endOwnChange', path),
    });
    listenToGivenNames((name) => this.report('nameTemporary', name));
    const reader = new FrameReader(NO_FRAME_LIMITS);
    process.stdin.on('data', (chunk: Buffer) => {
      // Muster itself has written the messages, so they need no check.
      for (const { header } of reader.add(chunk)) this.take(header as unknown as MessageToProcess);
    });
    process.stdin.on('end', () => process.exit(0));
    process.stdin.on('error', () => process.exit(1));
  }

  /** Reports something about files that Muster's own process has to know before this process goes on. */
  private report(port: QueryPort, text: string): void {
    const number = this.current.getStore();
    if (number !== undefined) this.channel.query({ number, port, args: [text] });
  }

  private take(message: MessageToProcess): void {
    switch (message.type) {
      case 'call':
        void this.current.run(message.number, () => this.runCall(message));
        return;
      case 'abort':
        this.running.get(message.number)?.abort();
        return;
      case 'answer':
        this.channel.answer(message);
        return;
    }
  }

  private async runCall({
    number,
    tool: name,
    input,
    data,
  }: {
    readonly number: number;
    readonly tool: string;
    readonly input: unknown;
    readonly data: CallData;
  }): Promise<void> {
    const controller = new AbortController();
    this.running.set(number, controller);
    try {
      const tool = this.tools.get(name);
      if (tool === undefined) throw new Error(`the process of the task has no tool ${name}`);
      const { signal } = controller;
      const context = createRemoteContext(this.channel, { number, data, signal });
      const output = await tool.run(input, context);
      this.channel.send({ type: 'output', number, output });
    } catch (thrown) {
      this.channel.send({ type: 'threw', number, message: errorMessage(thrown) });
    } finally {
      this.running.delete(number);
    }
  }
}
