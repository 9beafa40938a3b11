import { loadHookList, type HookRow } from '../../../../api/index.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { defineReportCommand } from '../../command.ts';
import { outputOptions } from '../../run-options.ts';

/** `muster hooks list` */
export const hooksListCommand = defineReportCommand({
  words: 'hooks list',
  summary: 'the hooks of yours and of this project',
  operands: [],
  flags: ['json', 'cwd', 'data-dir'],
  examples: ['muster hooks list'],
  parse: ({ flags }) => ({ ...outputOptions(flags), cwd: flags.text('cwd') }),
  run: async (options, context) => {
    const { stateLocation } = await import('../../configuration.ts');
    const { listHooks } = await loadHookList();
    const report = listHooks(stateLocation(options, context));
    const { hooks, untrusted, problems } = report;
    const lines = [
      ...hooks.map(formatHook),
      ...(hooks.length === 0 ? ['No hook runs here.'] : []),
      ...untrusted.map(
        ({ path, state }) =>
          `! ${path} has hooks that do not run, because ${state === 'changed' ? 'it has changed since you trusted it' : 'you have not trusted it'}: muster trust add`,
      ),
      ...problems.map((problem) => `! ${problem}`),
    ];
    return { json: report, text: lines.map((line) => `${sanitizeLine(line)}\n`).join('') };
  },
});

const PREFIXES = { command: '', http: 'POST ', prompt: 'ask: ' } as const;

function formatHook({
  event,
  matcher,
  kind,
  what,
  source,
  timeoutSeconds,
  isAsync,
  isOnce,
}: HookRow): string {
  const when = matcher === '' ? event : `${event} (${matcher})`;
  const notes = [
    ...(isAsync ? ['nobody waits for it'] : []),
    ...(isOnce ? ['once'] : []),
    `${timeoutSeconds} s`,
    `${source.kind}: ${source.where}`,
  ];
  return `${when}  ${PREFIXES[kind]}${what}  (${notes.join(', ')})`;
}
