import { describeProblem } from '../../../../config/source.ts';
import type { ConfigFile } from '../../../../config/files.ts';
import type { ConfigReading } from '../../../../config/load.ts';
import { terminalText } from '../../../../base/terminal-text.ts';
import { fail, ok, warn, type Check } from './check.ts';

/** The configuration files that were found, and everything wrong in them or in variables and flags. */
export function configChecks(reading: ConfigReading): readonly Check[] {
  return [
    ...reading.files.flatMap(fileCheck),
    ...reading.problems.map((problem) => fail('config', describeProblem(problem), 'mend it')),
    ...reading.notices.map((notice) => warn('config', describeProblem(notice), null)),
  ];
}

function fileCheck(file: ConfigFile): readonly Check[] {
  const path = terminalText(file.path, 'exact');
  switch (file.state) {
    case 'absent':
      return [ok('config', `no ${file.scope} file (${path}); the defaults hold`)];
    case 'read':
      return [ok('config', `${file.scope} file ${path}`)];
    case 'broken':
    case 'untrusted':
    case 'changed':
      // A problem, a notice or the check of trust says more of it.
      return [];
  }
}
