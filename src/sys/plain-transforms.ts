import { AHEAD, PlainReadableStream, type End, type Stage } from './plain-streams.ts';

interface TransformController<O> {
  readonly desiredSize: number;
  enqueue(value: O): void;
  error(reason: unknown): void;
  terminate(): void;
}

interface Transformer<I, O> {
  start?(controller: TransformController<O>): void;
  transform?(value: I, controller: TransformController<O>): unknown;
  flush?(controller: TransformController<O>): unknown;
}

type Step<I> =
  | { readonly kind: 'transform'; readonly value: I }
  | { readonly kind: 'flush' }
  | { readonly kind: 'finish'; readonly end: End };

/** A stage between two plain streams. `pipeThrough` is the only way in: it has no writable side. */
export class PlainTransformStream<I, O> implements Stage<I, O> {
  readonly readable: PlainReadableStream<O>;
  private readonly transformer: Transformer<I, O>;
  private readonly controller: TransformController<O>;
  private readonly steps: Step<I>[] = [];
  private isBusy = false;
  private upstream: PlainReadableStream<I> | null = null;

  constructor(transformer: Transformer<I, O> = {}) {
    this.transformer = transformer;
    this.readable = new PlainReadableStream<O>({
      pull: () => this.upstream?.ask(),
      flows: () => this.upstream?.flows === true,
      cancel: (reason) => {
        this.steps.length = 0;
        return this.upstream?.leave(reason);
      },
    });
    this.controller = new StageController(this);
    transformer.start?.(this.controller);
  }

  follow(upstream: PlainReadableStream<I>): void {
    this.upstream = upstream;
  }

  write(value: I): void {
    this.run({ kind: 'transform', value });
  }

  close(): void {
    this.run({ kind: 'flush' });
    this.run({ kind: 'finish', end: { failed: false } });
  }

  fail(reason: unknown): void {
    this.run({ kind: 'finish', end: { failed: true, reason } });
  }

  wantsMore(): boolean {
    return this.steps.length < AHEAD && this.readable.wantsMore();
  }

  /** What comes from upstream is dropped from here on. */
  breakOff(reason: unknown): void {
    this.readable.finish({ failed: true, reason });
    this.stopUpstream(reason);
  }

  /** Why it ends is told downstream; what the source says to being left changes nothing. */
  stopUpstream(reason: unknown): void {
    this.steps.length = 0;
    this.upstream?.leave(reason).catch(() => {});
  }

  private run(step: Step<I>): void {
    // Most find nothing before them: to queue those, too, was an array's memory for each value.
    if (this.isBusy) this.steps.push(step);
    else this.work(step);
  }

  /** One step after the other: at once, but behind those that take their time. */
  private work(first: Step<I> | undefined): void {
    this.isBusy = true;
    try {
      for (let step = first; step !== undefined; step = this.steps.shift()) {
        const result = this.take(step);
        if (!(result instanceof Promise)) continue;
        void this.goOnAfter(result);
        return;
      }
    } catch (thrown) {
      this.breakOff(thrown);
    }
    this.isBusy = false;
  }

  private async goOnAfter(step: Promise<unknown>): Promise<void> {
    try {
      await step;
    } catch (reason) {
      this.breakOff(reason);
    }
    this.work(this.steps.shift());
    this.upstream?.ask();
  }

  private take(step: Step<I>): unknown {
    switch (step.kind) {
      case 'transform':
        return this.transformer.transform?.(step.value, this.controller);
      case 'flush':
        return this.transformer.flush?.(this.controller);
      case 'finish':
        return this.readable.finish(step.end);
      default:
        return step satisfies never;
    }
  }
}

class StageController<I, O> implements TransformController<O> {
  private readonly stage: PlainTransformStream<I, O>;

  constructor(stage: PlainTransformStream<I, O>) {
    this.stage = stage;
  }

  get desiredSize(): number {
    return this.stage.readable.wantsMore() ? 1 : 0;
  }

  enqueue(value: O): void {
    this.stage.readable.put(value);
  }

  error(reason: unknown): void {
    this.stage.breakOff(reason);
  }

  terminate(): void {
    this.stage.readable.finish({ failed: false });
    this.stage.stopUpstream(undefined);
  }
}

export class PlainTextDecoderStream extends PlainTransformStream<Uint8Array, string> {
  constructor() {
    const decoder = new TextDecoder();
    const give = (text: string, controller: TransformController<string>): void => {
      if (text !== '') controller.enqueue(text);
    };
    super({
      transform: (bytes, controller) => give(decoder.decode(bytes, { stream: true }), controller),
      flush: (controller) => give(decoder.decode(), controller),
    });
  }
}
