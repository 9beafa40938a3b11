import type { ListedFile } from '../../../../trust/list-files.ts';
import { escapeLine } from '../../../../config/message-text.ts';
import type { ProjectPluginSettings } from '../../../../trust/plugin-settings.ts';
import type { SavedMode } from '../../../../trust/saved-modes.ts';
import type { SavedAnswer } from '../../../../trust/saved-answers.ts';
import { defineCommand } from '../../command.ts';
import { columns } from '../../layout.ts';
import { outputOptions } from '../../run-options.ts';
import { openApprovals, projectPath, plainJson } from './approvals.ts';
import { UsageError } from '../../../../base/errors.ts';
import { FILES } from '../../completion-values.ts';

/** `muster trust list` */
export const trustListCommand = defineCommand({
  words: 'trust list',
  summary: 'the files of this project that could act, and which of them you have trusted',
  operands: [],
  flags: ['json', 'cwd', 'data-dir'],
  examples: ['muster trust list', 'muster trust list --json'],
  parse: ({ flags }) => ({ ...outputOptions(flags), cwd: flags.text('cwd') }),
  run: async (options, context) => {
    const approvals = await openApprovals(options, context);
    const { savedModeName } = await import('../../../../trust/saved-modes.ts');
    const { project, files, effects, answers, modes, plugins } = await approvals.list();
    if (options.json) {
      context.out(plainJson({ project, files, effects, answers, modes, plugins }));
      return 0;
    }
    context.out(`Project ${escapeLine(project)}\n`);
    if (files.length === 0 && answers.length === 0 && modes.length === 0) {
      context.out('Nothing in it could act on Muster, and no answer was saved.\n');
    }
    const rows = columns(files.map((file) => fileRow(project, file))).split('\n');
    for (const [index, lines] of effects.entries())
      context.out([rows[index] ?? '', ...formatEffects(lines), ''].join('\n'));
    context.out(columns(answers.map(answerRow)));
    context.out(columns(modes.map((mode) => modeRow(mode, savedModeName(mode)))));
    context.out(plugins.map((settings) => pluginText(project, settings)).join(''));
    const postponedOn = approvals.postponedOn(await approvals.propose([]));
    if (postponedOn !== null) context.out(postponedText(postponedOn));
    return 0;
  },
});

/** The maximum number of effects of one file that the list shows. */
const MAX_EFFECTS = 20;

function formatEffects(effects: readonly string[]): readonly string[] {
  const left = effects.length - MAX_EFFECTS;
  return [
    ...effects.slice(0, MAX_EFFECTS).map((effect) => `  ${escapeLine(effect)}`),
    ...(left > 0 ? [`  … and ${left} more: muster trust list --json`] : []),
  ];
}

function fileRow(project: string, file: ListedFile): readonly string[] {
  const size = file.size === null ? '' : `${file.size} bytes`;
  const hash = file.sha256 === null ? '' : `sha256 ${file.sha256.slice(0, 12)}`;
  return [file.state, file.kind, projectPath(project, file.path), size, hash, remark(file)];
}

function remark({ state, trustedOn, reason }: ListedFile): string {
  if (reason !== null) return escapeLine(reason);
  if (trustedOn === null) return '';
  const on = formatDay(trustedOn);
  if (state === 'changed') return `changed since you trusted it on ${on}`;
  return `trusted on ${on}`;
}

function answerRow({ rule, project, answeredOn }: SavedAnswer): readonly string[] {
  const scope = project === null ? 'in every project' : 'in this project';
  return ['always', scope, escapeLine(rule), `answered on ${formatDay(answeredOn)}`];
}

function modeRow({ path, answeredOn }: SavedMode, name: string): readonly string[] {
  return [
    'mode',
    'in every project',
    escapeLine(name),
    escapeLine(path),
    `answered on ${formatDay(answeredOn)}`,
  ];
}

function postponedText(answeredOn: string): string {
  const on = formatDay(answeredOn);
  return `You chose “Not now” on ${on}: the terminal UI does not ask about these files until one changes. muster trust add reviews them.\n`;
}

function pluginText(
  project: string,
  { path, plugins, marketplaces }: ProjectPluginSettings,
): string {
  const named = [
    ...(plugins.length === 0 ? [] : [`the plugins ${plugins.join(', ')}`]),
    ...(marketplaces.length === 0 ? [] : [`the marketplaces ${marketplaces.join(', ')}`]),
  ].join(' and ');
  const file = projectPath(project, path);
  return `${file} names ${escapeLine(named)}. That has no effect: install what you want with muster plugin install.\n`;
}

/** Formats the day of a time: `2026-11-22`. */
function formatDay(time: string): string {
  return time.slice(0, 10);
}

/** `muster trust revoke`: does not ask, and lists what was revoked. */
export const trustRevokeCommand = defineCommand({
  words: 'trust revoke',
  summary:
    'stop trusting files, or take an answer "always" back; --all: everything of this project',
  operands: [{ name: '[NAME…]', completes: FILES }],
  flags: ['all', 'json', 'cwd', 'data-dir'],
  flagDetails: { all: { help: 'everything of this project' } },
  examples: [
    'muster trust revoke .claude/settings.json',
    'muster trust revoke "Bash(npm test)"',
    'muster trust revoke --all',
  ],
  parse: ({ operands, flags }) => {
    const all = flags.has('all');
    if (all !== (operands.length === 0)) {
      throw new UsageError('name what to revoke, or give --all: muster trust revoke PATH…');
    }
    // The names are paths and rules; null for everything of the project.
    const names = all ? null : operands;
    return { ...outputOptions(flags), cwd: flags.text('cwd'), names };
  },
  run: async (options, context) => {
    const { json, names } = options;
    const approvals = await openApprovals(options, context);
    const { savedModeName } = await import('../../../../trust/saved-modes.ts');
    const { files, answers, modes } =
      names === null ? await approvals.revokeAll() : approvals.revoke(names);
    if (json) {
      context.out(plainJson({ revoked: { files: files.map(({ path }) => path), answers, modes } }));
      return 0;
    }
    const lines = [
      ...files.map(({ project, path }) => `not trusted any more: ${projectPath(project, path)}`),
      ...answers.map(({ rule }) => `not always allowed any more: ${escapeLine(rule)}`),
      ...modes.map((mode) => `mode not granted any more: ${escapeLine(savedModeName(mode))}`),
    ];
    context.out(
      lines.length === 0
        ? 'Nothing of this project was trusted.\n'
        : lines.map((line) => `${line}\n`).join(''),
    );
    return 0;
  },
});
