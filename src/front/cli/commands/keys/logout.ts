import { loadAccounts } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { defineCommand, refuseAgents } from '../../command.ts';

/** `muster logout`: the exit code is 1 if a key could not be removed. */
export const logoutCommand = defineCommand({
  words: 'logout',
  summary: 'remove stored keys from the file and the keychain',
  operands: [{ name: '[PROVIDER]', completes: { found: 'stored providers' } }],
  flags: ['account', 'all', 'data-dir'],
  flagDetails: {
    account: { help: 'the account, if the provider has several' },
    all: { help: 'all accounts of PROVIDER, or of all providers', group: 'Keys' },
    'data-dir': { help: 'where accounts and keys are kept' },
  },
  examples: [
    'muster logout openrouter',
    'muster logout openrouter --account work',
    'muster logout --all',
  ],
  parse: ({ operands: [provider = null], flags }) => {
    const [account, all] = [flags.text('account'), flags.has('all')];
    if (account !== null && all) {
      throw new UsageError('--account names one account, and --all means all; give one of them');
    }
    return { provider, account, all, dataDir: flags.text('data-dir') };
  },
  run: async ({ dataDir, ...request }, context) => {
    refuseAgents(context.environment, 'remove a key');
    const { stateLocation } = await import('../../configuration.ts');
    const state = stateLocation({ cwd: null, dataDir }, context);
    const { signOut } = await loadAccounts();
    const { removed, problems, notes } = await signOut(request, state);
    for (const { provider, account, store } of removed) {
      const place = store === 'keychain' ? 'the keychain' : 'the file';
      context.out(`Removed the account "${account}" of ${provider}, and its key from ${place}.\n`);
    }
    if (removed.length === 0 && problems.length === 0) context.out('No account is stored.\n');
    for (const note of notes) context.out(`${note}\n`);
    for (const problem of problems) context.err(`muster: ${problem}\n`);
    return problems.length === 0 ? 0 : 1;
  },
});
