import { loadHookList } from '../../../../api/index.ts';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { hookLines } from '../../../../report/hook-lines.ts';
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
    const report = await listHooks(stateLocation(options, context));
    const text = hookLines(report)
      .map((line) => `${sanitizeLine(line)}\n`)
      .join('');
    return { json: report, text };
  },
});
