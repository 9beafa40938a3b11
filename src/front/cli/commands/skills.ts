import { loadDefinitions, type SkillListings, type ListSkillsOptions } from '../../../api/index.ts';
import { collapseWhitespace, plural, truncate } from '../../../base/text.ts';
import { defineReportCommand, type CommandArguments, type CommandContext } from '../command.ts';
import { PROJECT_FLAGS } from '../run-options.ts';
import { agentsLocation, agentsOptions, directoryOption } from './agents/location.ts';
import { dropMissing } from '../../../base/drop-missing.ts';

/** The maximum length of a description in a list for people, in code points. */
const SHOWN_DESCRIPTION = 160;

/** `muster skills list` */
export const skillsListCommand = defineReportCommand({
  words: 'skills list',
  summary: 'which skills there are, where each comes from and how it runs',
  operands: [],
  flags: ['json', 'dir', ...PROJECT_FLAGS, 'data-dir'],
  examples: ['muster skills list --json'],
  parse: parseSkills,
  run: async (options, context) => {
    const { listSkillsIn } = await loadDefinitions();
    const listings = await listSkillsIn(skillsLocation(options, context));
    return { json: listings, text: asText(listings) };
  },
});

/** `muster skills check`: the exit code is 1 if there is an error. */
export const skillsCheckCommand = defineReportCommand({
  words: 'skills check',
  summary: 'what is wrong with the skills here; exits with 1 for errors',
  operands: [],
  flags: ['json', 'dir', ...PROJECT_FLAGS, 'data-dir'],
  examples: ['muster skills check', 'muster skills check --dir my-skills/deploy'],
  parse: parseSkills,
  run: async (options, context) => {
    const { checkSkillsIn } = await loadDefinitions();
    const report = await checkSkillsIn(skillsLocation(options, context));
    const { checked, errors, findings, warnings } = report;
    const lines = findings.map(({ path, line, severity, message }) => {
      const where = line === undefined ? path : `${path}:${line}`;
      return `${severity}: ${where}: ${collapseWhitespace(message)}\n`;
    });
    const text = `${lines.join('')}${plural(checked, 'skill')} checked: ${plural(errors, 'error')}, ${plural(warnings, 'warning')}\n`;
    return { json: report, text, code: errors === 0 ? 0 : 1 };
  },
});

/** Parses the arguments of `muster skills …`. */
function parseSkills({ flags }: CommandArguments) {
  return { ...agentsOptions(flags), dir: flags.text('dir') };
}

/** Returns the directories in which `muster skills …` searches: all below `--dir`, or those of a run. */
function skillsLocation(
  options: ReturnType<typeof parseSkills>,
  context: CommandContext,
): ListSkillsOptions {
  const { dir: below } = directoryOption(options.dir, context);
  return { ...agentsLocation(options, context), ...dropMissing({ below }) };
}

function asText({ skills, skipped }: SkillListings): string {
  if (skills.length === 0 && skipped.length === 0) return 'There are no skills here.\n';
  const lines = skills.flatMap((skill) => {
    const state = skill.shadowedBy === null ? '' : `  [shadowed by ${skill.shadowedBy}]`;
    const description = collapseWhitespace(skill.description);
    const short = truncate(description, SHOWN_DESCRIPTION);
    return [
      `${skill.name}${state}`,
      `  ${short}${short.length < description.length ? '…' : ''}`,
      `  ${[skill.path, ...traits(skill)].join(' · ')}`,
      ...skill.shadows.map((path) => `  in the place of ${path}`),
      ...skill.warnings.map(({ message }) => `  ! ${message}`),
    ];
  });
  const skippedLines = skipped.map(({ path, reason }) => `skipped ${path}: ${reason}`);
  return [...lines, ...skippedLines].map((line) => `${line}\n`).join('');
}

/** Lists the ways in which a skill differs from one that a model loads and follows itself. */
function traits({
  agent,
  model,
  allowedTools,
  modelInvocable,
}: SkillListings['skills'][number]): readonly string[] {
  return [
    ...(modelInvocable ? [] : ['not for the model']),
    ...(agent === null ? [] : [`a task of type ${agent}`]),
    ...(agent === null || allowedTools === null ? [] : [`tools: ${allowedTools.join(', ')}`]),
    ...(agent === null || model === null ? [] : [model]),
  ];
}
