import { checkSkillsIn } from '../../../../api/index.ts';
import { collapseWhitespace, plural } from '../../../../base/text.ts';
import { printJson, printText } from '../../../../sys/print.ts';
import { defineCommand } from '../../command.ts';
import { PROJECT_FLAGS } from '../../run-options.ts';
import { parseSkills, skillsLocation } from './list.ts';

/** `muster skills check`: exit code 1 for an error. */
export const skillsCheckCommand = defineCommand({
  words: 'skills check',
  summary: 'what is wrong with the skills here; exits with 1 for errors',
  operands: [],
  flags: ['json', 'dir', ...PROJECT_FLAGS, 'data-dir'],
  examples: ['muster skills check', 'muster skills check --dir my-skills/deploy'],
  parse: parseSkills,
  run: async (options) => {
    const report = await checkSkillsIn(skillsLocation(options));
    const { checked, errors, findings, warnings } = report;
    if (options.json) printJson(report, 2);
    else {
      for (const { path, line, severity, message } of findings) {
        const where = line === undefined ? path : `${path}:${line}`;
        printText(`${severity}: ${where}: ${collapseWhitespace(message)}\n`);
      }
      printText(
        `${plural(checked, 'skill')} checked: ${plural(errors, 'error')}, ${plural(warnings, 'warning')}\n`,
      );
    }
    return errors === 0 ? 0 : 1;
  },
});
