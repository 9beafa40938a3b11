import { resolve } from 'node:path';
import { loadOutputSchema } from './file-options.ts';
import type { RunFlags } from './run-options.ts';
import { gatherItems, openRunSession, reportOffline, startPrompt } from './run-prompt.ts';

/** Runs a conversation whose messages arrive on stdin (`--input-format stream-json`). Resolves to the exit code. */
export async function runStreamInput(options: RunFlags): Promise<number> {
  const { dataDir, outputSchema, resume, verbose } = options;
  const [muster, { runStream }, schema] = await Promise.all([
    openRunSession(options),
    import('../headless/run-stream.ts'),
    outputSchema === null ? null : loadOutputSchema(outputSchema),
  ]);
  try {
    return await runStream(muster, {
      verbose: verbose || muster.verbose,
      dataDir: dataDir === null ? null : resolve(dataDir),
      onStarted: () => {
        if (resume === null) reportOffline(muster);
      },
      // With the prompt in the options, an agent that may start by itself does not look for one on stdin.
      start: (prompt, onEvent, signal) =>
        startPrompt(muster, { ...options, prompt }, { prompt, schema, onEvent, signal }),
      gather: (text, to, signal) => gatherItems(muster, text, { to, signal }),
    });
  } finally {
    await muster.close();
  }
}
