import { loadConversations, type EventListener, type Run, type Session } from '../../api/index.ts';
import { deferred, onAbort } from '../../base/async.ts';
import { MusterError, UsageError } from '../../base/errors.ts';
import { resultLine } from '../../protocol/stream-line.ts';
import { printJson } from '../../sys/print.ts';
import type { HeadlessOptions } from './headless.ts';
import { readInputLines, refuseQuestions, type InputMessage } from './stream-input.ts';

export interface StreamOptions extends Pick<HeadlessOptions, 'verbose' | 'dataDir' | 'onStarted'> {
  /** Starts or continues the conversation with the first message. The signal is aborted when the process has to end. */
  start(text: string, onEvent: EventListener, signal: AbortSignal): Promise<Run>;
  /** Gathers the items that a further message names. `to`: the id of the conversation. Rejects with MusterError. */
  gather(text: string, to: string, signal: AbortSignal): Promise<Pick<InputMessage, 'enclosed'>>;
}

/** Runs a conversation whose messages are lines of JSON on stdin. Resolves to the exit code. */
export async function runStream(
  muster: Session,
  { start, gather, ...options }: StreamOptions,
): Promise<number> {
  const [{ runHeadless }, { converse }] = await Promise.all([
    import('./headless.ts'),
    loadConversations(),
  ]);
  const begin = async (onEvent: EventListener, signal: AbortSignal): Promise<Run> => {
    const stopped = deferred<void>();
    onAbort(signal, () => stopped.resolve());
    let current: Run | null = null;
    const messages = readInputLines(readStdinUntilAborted(signal), {
      session: muster,
      conversation: () => current?.id ?? null,
      gather: async (text, to) => ({ text, ...(await gather(text, to, signal)) }),
    });
    const { value: first } = await messages.next();
    if (first === undefined) {
      if (signal.aborted) throw new MusterError('CANCELLED', 'stdin was not read to its end');
      throw new UsageError('no message: stdin ended without a line {"type":"user","text":"…"}');
    }
    const started = await start(first.text, onEvent, signal);
    const { id } = started;
    current = reportResult(started);
    const result = converse({
      first: current,
      messages: refuseQuestionsAfter(messages, muster),
      stopped: stopped.promise,
      send: ({ text, enclosed }) => muster.send(id, text, enclosed),
      async resume({ text, ...items }) {
        current = reportResult(await muster.resume({ id, prompt: text, ...items }, onEvent));
        return current;
      },
    });
    return { ...started, result, parkedOn: () => current?.parkedOn() ?? [] };
  };
  // Each result is printed when its run ends, before the next message arrives.
  return runHeadless(muster, begin, {
    ...options,
    format: 'stream-json',
    printResult: () => {},
  });
}

/** Returns a run that prints its result line as soon as it has ended. */
function reportResult(run: Run): Run {
  const result = run.result.then((envelope) => {
    printJson(resultLine(envelope));
    return envelope;
  });
  return { ...run, result };
}

/** Passes on the messages. Once there are no more, questions are refused, because nobody can answer them. */
async function* refuseQuestionsAfter(
  messages: AsyncIterable<InputMessage>,
  muster: Session,
): AsyncGenerator<InputMessage, void, undefined> {
  yield* messages;
  refuseQuestions(muster);
}

/** Reads stdin until it ends or the signal aborts. */
async function* readStdinUntilAborted(
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const { stdin } = process;
  const stopListening = onAbort(signal, () => stdin.destroy());
  try {
    for await (const chunk of stdin) yield Buffer.from(chunk);
  } catch (thrown) {
    // The abort has destroyed stdin.
    if (!signal.aborted) throw thrown;
  } finally {
    stopListening();
  }
}
