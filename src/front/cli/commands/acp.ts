import { UsageError } from '../../../base/errors.ts';
import { defineCommand } from '../command.ts';
import {
  ACP_CLIENT_NAMES,
  ACP_CLIENTS,
  isAcpClientName,
  type AcpClientName,
} from '../acp-clients.ts';
import { signInWithQuestions } from './keys/login.ts';
import { SESSION_FLAGS, sessionOptions, type SessionFlags } from '../run-options.ts';

type AcpOptions =
  | { readonly kind: 'serve'; readonly session: SessionFlags }
  | { readonly kind: 'login'; readonly dataDir: string | null }
  | { readonly kind: 'print-config'; readonly client: AcpClientName };

/** `muster acp` */
export const acpCommand = defineCommand<AcpOptions>({
  words: 'acp',
  summary: 'work in an editor that speaks the Agent Client Protocol, on stdin and stdout',
  operands: [],
  flags: ['print-config', 'login', 'no-log', ...SESSION_FLAGS],
  examples: ['muster acp --print-config zed', 'muster acp --permission-mode plan'],
  parse: ({ flags }) => {
    const client = flags.text('print-config');
    if (client !== null) {
      if (!isAcpClientName(client))
        throw new UsageError(
          `--print-config: no client ${JSON.stringify(client)} is known: choose ${ACP_CLIENT_NAMES.join(', ')}`,
        );
      return { kind: 'print-config', client };
    }
    if (flags.has('login')) return { kind: 'login', dataDir: flags.text('data-dir') };
    return { kind: 'serve', session: sessionOptions(flags) };
  },
  run: async (options, context) => {
    switch (options.kind) {
      case 'print-config': {
        const { file, text } = ACP_CLIENTS[options.client];
        context.err(`muster: this belongs into ${file}\n`);
        context.out(`${text}\n`);
        return 0;
      }
      case 'login':
        return await signInWithQuestions(options, context);
      case 'serve': {
        const { runAcpServer } = await import('../run-acp-server.ts');
        return await runAcpServer(options.session);
      }
    }
  },
});
