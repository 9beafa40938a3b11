import { UsageError } from '../../../base/errors.ts';
import { isLoopback, type HttpAddress } from '../../../sys/http/http-address.ts';
import { defineCommand, refuseAgents } from '../command.ts';
import { TASK_VALUES } from '../completion-values.ts';
import type { FlagReader } from '../flag-reader.ts';
import { SESSION_FLAGS, sessionOptions } from '../run-options.ts';
import type { WebOptions } from '../run-web.ts';

/** The port that is tried first. */
const DEFAULT_PORT = 7373;
const MAX_PORT = 65_535;

/** `muster web` */
export const webCommand = defineCommand<WebOptions>({
  words: 'web',
  summary: 'a page in the browser with all tasks: what they do, their questions, their results',
  operands: [{ name: '[ID]', completes: TASK_VALUES }],
  flags: ['port', 'host', 'no-browser', 'notify', 'export', ...SESSION_FLAGS],
  examples: [
    'muster web',
    'muster web --port 0 --no-browser',
    'muster web --notify ntfy+https://ntfy.sh/TOPIC',
    'muster web --export page 4f2k9x',
  ],
  parse: ({ operands: [id = null], flags }) => ({
    session: sessionOptions(flags),
    action: readAction(id, flags),
  }),
  run: async (options, context) => {
    // The page answers questions, which agents must not answer.
    if (options.action.kind === 'serve') refuseAgents(context.environment, 'serve the page');
    const { runWeb } = await import('../run-web.ts');
    return await runWeb(options, context);
  },
});

/** The flags of the server, which an export does not have. */
const SERVER_ONLY = ['port', 'host', 'no-browser', 'notify'] as const;

function readAction(id: string | null, flags: FlagReader): WebOptions['action'] {
  const directory = flags.text('export');
  if (directory === null) {
    if (id !== null) throw new UsageError(`which directory? muster web --export DIR ${id}`);
    return {
      kind: 'serve',
      address: readAddress(flags),
      triesNextPorts: !flags.has('port'),
      opensBrowser: !flags.has('no-browser'),
      notify: flags.text('notify'),
    };
  }
  const [given] = flags.findGivenFlags(SERVER_ONLY);
  if (given !== undefined) throw new UsageError(`${given} does not go with --export`);
  return { kind: 'export', directory, id };
}

function readAddress(flags: FlagReader): HttpAddress {
  const port = flags.count('port', 0) ?? DEFAULT_PORT;
  if (port > MAX_PORT) throw new UsageError(`--port ${port}: the highest port is ${MAX_PORT}`);
  const host = flags.text('host') ?? '127.0.0.1';
  const address = { host, port };
  if (!isLoopback(address)) {
    throw new UsageError(
      `--host ${host}: other machines could reach the page, and nothing encrypts it on the way. Use 127.0.0.1, ::1 or localhost, and on the other machine: ssh -L 7373:127.0.0.1:7373 THIS_MACHINE`,
    );
  }
  return address;
}
