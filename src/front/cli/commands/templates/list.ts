import { resolve } from 'node:path';
import { listTemplatesIn } from '../../../../api/templates/list.ts';
import { oneLine } from '../../../../base/text.ts';
import { printJson, printText } from '../../../../sys/print.ts';
import type { RunTemplateCommand } from '../../command.ts';
import { stderrNotice } from '../../stderr.ts';

/** `muster run --list`. What could not be loaded is listed, too, with the reason. */
export async function listTemplates(command: RunTemplateCommand): Promise<number> {
  const found = await listTemplatesIn({
    cwd: resolve(command.cwd ?? '.'),
    trustProject: command.trustProject,
    ...(command.dataDir === null ? {} : { dataDir: resolve(command.dataDir) }),
    onNotice: stderrNotice,
  });
  if (command.format === 'json') {
    printJson(found, 2);
    return 0;
  }
  for (const { name, description, path, agent, model, problems } of found.templates) {
    const traits = [
      path,
      ...(agent === undefined ? [] : [agent]),
      ...(model === undefined ? [] : [model]),
    ];
    const lines = [
      name,
      `  ${oneLine(description)}`,
      `  ${traits.join(' · ')}`,
      ...found.shadowed
        .filter(({ by }) => by === path)
        .map(({ template }) => `  in the place of ${template.path}`),
      ...problems.map(({ message }) => `  ! ${message}`),
    ];
    printText(`${lines.join('\n')}\n`);
  }
  for (const { path, reason } of found.skipped) printText(`skipped ${path}: ${reason}\n`);
  return 0;
}
