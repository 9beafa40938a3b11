import { resolve } from 'node:path';
import { checkSkillsIn, listSkillsIn, type ListSkillsOptions } from '../../../api/index.ts';
import { oneLine, plural, truncate } from '../../../base/text.ts';
import { printJson, printText } from '../../../sys/print.ts';
import type { SkillsCommand } from '../command.ts';
import { stderrNotice } from '../stderr.ts';

/** Characters of a description in a list for people. */
const SHOWN_DESCRIPTION = 160;

/** `muster skills …`. The exit code of a check with errors is 1. */
export async function skillsCommand(command: SkillsCommand): Promise<number> {
  const options = {
    cwd: resolve(command.cwd ?? '.'),
    ...(command.dir === null ? {} : { below: resolve(command.dir) }),
    trustProject: command.trustProject,
    ...(command.dataDir === null ? {} : { dataDir: resolve(command.dataDir) }),
    onNotice: stderrNotice,
  };
  return command.kind === 'skills-list'
    ? listCommand(options, command)
    : checkCommand(options, command);
}

async function listCommand(options: ListSkillsOptions, { json }: SkillsCommand): Promise<number> {
  const listings = await listSkillsIn(options);
  if (json) {
    printJson(listings, 2);
    return 0;
  }
  const { skills, skipped } = listings;
  if (skills.length === 0 && skipped.length === 0) printText('There are no skills here.\n');
  for (const skill of skills) {
    const state = skill.shadowedBy === null ? '' : `  [shadowed by ${skill.shadowedBy}]`;
    const description = oneLine(skill.description);
    const short = truncate(description, SHOWN_DESCRIPTION);
    const lines = [
      `${skill.name}${state}`,
      `  ${short}${short.length < description.length ? '…' : ''}`,
      `  ${[skill.path, ...traits(skill)].join(' · ')}`,
      ...skill.shadows.map((path) => `  in the place of ${path}`),
      ...skill.warnings.map(({ message }) => `  ! ${message}`),
    ];
    printText(`${lines.join('\n')}\n`);
  }
  for (const { path, reason } of skipped) printText(`skipped ${path}: ${reason}\n`);
  return 0;
}

type Listed = Awaited<ReturnType<typeof listSkillsIn>>['skills'][number];

/** What sets it apart from instructions that a model loads and follows itself. */
function traits({ agent, model, allowedTools, modelInvocable }: Listed): readonly string[] {
  return [
    ...(modelInvocable ? [] : ['not for the model']),
    ...(agent === null ? [] : [`a task of type ${agent}`]),
    ...(agent === null || allowedTools === null ? [] : [`tools: ${allowedTools.join(', ')}`]),
    ...(agent === null || model === null ? [] : [model]),
  ];
}

async function checkCommand(options: ListSkillsOptions, { json }: SkillsCommand): Promise<number> {
  const checks = await checkSkillsIn(options);
  if (json) printJson(checks, 2);
  else {
    for (const { path, line, severity, message } of checks.findings) {
      const where = line === undefined ? path : `${path}:${line}`;
      printText(`${severity}: ${where}: ${oneLine(message)}\n`);
    }
    const { checked, errors, warnings } = checks;
    printText(
      `${plural(checked, 'skill')} checked: ${plural(errors, 'error')}, ${plural(warnings, 'warning')}\n`,
    );
  }
  return checks.errors === 0 ? 0 : 1;
}
