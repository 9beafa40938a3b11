import { loadHookImport, type HookImport } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { plural } from '../../../../base/text.ts';
import { defineCommand, refuseAgents, type CommandContext } from '../../command.ts';

/** `muster hooks import`: with `--json` and without `--yes`, it only lists the hooks. */
export const hooksImportCommand = defineCommand({
  words: 'hooks import',
  summary: 'add the hooks that you have configured in other products',
  operands: [],
  flags: ['project', 'yes', 'json', 'cwd'],
  flagDetails: {
    project: {
      help: "add the hooks of this project's files to .muster/hooks.json, which needs trust",
    },
    yes: { help: 'add them without asking' },
    json: { help: 'print JSON; nothing is added without --yes' },
  },
  examples: ['muster hooks import', 'muster hooks import --project', 'muster hooks import --json'],
  parse: ({ flags }) => ({
    json: flags.has('json'),
    yes: flags.has('yes'),
    scope: flags.has('project') ? ('project' as const) : ('user' as const),
    cwd: flags.text('cwd'),
  }),
  run: async ({ json, yes, scope, cwd }, context) => {
    refuseAgents(context.environment, 'import hooks');
    const { stateLocation } = await import('../../configuration.ts');
    const { findHooksToImport } = await loadHookImport();
    const found = await findHooksToImport(stateLocation({ cwd, dataDir: null }, context), scope);
    const { target, files, newCount, problems } = found;
    for (const problem of problems) context.err(`muster: ${sanitizeLine(problem)}\n`);
    if (!json) context.out(formatFiles(found));
    const isAgreed = newCount > 0 && (yes || (!json && (await ask(found, context))));
    if (isAgreed) await found.add();
    if (json)
      context.out(`${toPrintableJson({ target, files, added: isAgreed ? newCount : 0 }, 2)}\n`);
    else context.out(formatOutcome(found, { isAgreed, scope }));
    return 0;
  },
});

function ask({ target, newCount }: HookImport, { confirm }: CommandContext): Promise<boolean> {
  if (confirm === null)
    throw new UsageError('there is no terminal to ask on; to add what is shown, add --yes');
  return confirm(`Add ${plural(newCount, 'group')} of hooks to ${sanitizeLine(target)}? [y/N] `);
}

function formatFiles({ files }: HookImport): string {
  const lines = files.flatMap(({ product, file, hooks, missing, note }) => [
    `${product} (${file})`,
    ...hooks.map((hook) => `  ${hook}`),
    ...missing.map((each) => `  ! not imported: ${each}`),
    ...(note === null ? [] : [`  note: ${note}`]),
  ]);
  return lines.map((line) => `${sanitizeLine(line)}\n`).join('');
}

function formatOutcome(
  { files, target, newCount }: HookImport,
  { isAgreed, scope }: { readonly isAgreed: boolean; readonly scope: 'user' | 'project' },
): string {
  const file = sanitizeLine(target);
  if (isAgreed) {
    const next = scope === 'user' ? 'muster hooks list' : 'muster trust add';
    return `Added ${plural(newCount, 'group')} of hooks to ${file}. Next: ${next}\n`;
  }
  if (newCount > 0) return 'Nothing was added.\n';
  return files.length === 0 ? 'No other product has hooks here.\n' : 'Nothing is new.\n';
}
