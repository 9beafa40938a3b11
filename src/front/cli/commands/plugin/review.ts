import type { PluginProposal, PluginReview } from '../../../../api/index.ts';
import { MusterError, UsageError } from '../../../../base/errors.ts';
import { toPrintableJson } from '../../../../base/printable-json.ts';
import { plural } from '../../../../base/text.ts';
import { escapeLine } from '../../../../config/message-text.ts';
import type { CommandContext } from '../../command.ts';

/** How the approval of a plugin is given. */
export interface ApprovalOptions {
  readonly json: boolean;
  /** The hash that is approved. Null to ask a person. */
  readonly approve: string | null;
}

/** The beginning of a hash that is enough to approve it, in characters. */
const MIN_HASH_LENGTH = 12;

/** Reads the value of `--approve`. Throws UsageError for a text that is no hash. */
export function readApproval(text: string | null): string | null {
  if (text === null || /^[0-9a-f]{12,64}$/.test(text)) return text;
  throw new UsageError(
    `--approve needs the hash that the review shows: at least ${MIN_HASH_LENGTH} characters of 0-9 and a-f`,
  );
}

/**
 * Shows what a plugin can do and installs it if a person or `--approve` agrees. Returns the exit code: 1 if it is not
 * installed in the end. Throws UsageError if nobody can be asked.
 */
export async function reviewAndInstall(
  { review, install }: PluginProposal,
  { json, approve }: ApprovalOptions,
  context: CommandContext,
): Promise<number> {
  const isKnown = review.state === 'installed';
  if (!json) context.out(isKnown ? formatHead(review) : formatReview(review));
  const isAgreed = isKnown || (await decide(review, { json, approve }, context));
  // For files that are approved already, this restores a copy that was damaged.
  if (isAgreed) install();
  if (json) context.out(`${toPrintableJson({ ...review, installed: isAgreed }, 2)}\n`);
  else context.out(formatOutcome(review, isAgreed));
  return isAgreed || json ? 0 : 1;
}

async function decide(
  { id, hash }: PluginReview,
  { json, approve }: ApprovalOptions,
  { confirm }: CommandContext,
): Promise<boolean> {
  if (approve !== null) {
    if (hash.startsWith(approve)) return true;
    const message = `${id} has the hash ${hash}, not ${approve}: look at them again. Nothing was installed`;
    throw new MusterError('CONFLICT', message);
  }
  if (json) return false;
  if (confirm === null) {
    throw new UsageError(
      `there is no terminal to ask on; to install what is shown, add --approve ${hash}`,
    );
  }
  return await confirm(`Install ${id} with exactly these files? [y/N] `);
}

function formatHead({ id, version, description, format, source, commit, ...rest }: PluginReview) {
  const { hash, files, bytes } = rest;
  const product = format === 'claude' ? 'plugin of Claude Code' : 'extension of Gemini CLI';
  return [
    `${id}${version === null ? '' : ` ${version}`} (${product})`,
    ...(description === null ? [] : [description]),
    `from ${source}${commit === null ? '' : ` at commit ${commit}`}`,
    `${plural(files, 'file')}, ${bytes} bytes, hash ${hash}`,
  ]
    .map((line) => `${escapeLine(line)}\n`)
    .join('');
}

function formatReview(review: PluginReview): string {
  const { difference, effects, state } = review;
  const lines =
    difference === null
      ? [
          ...(state === 'changed' ? ['The installed files have changed or are missing.'] : []),
          'It can do this:',
          ...effects.map((line) => `  ${line}`),
        ]
      : [
          'Changes from the version that you have approved:',
          ...listChanges('+ can now', difference.effects.added),
          ...listChanges('- no longer', difference.effects.removed),
          ...listChanges('added file', difference.files.added),
          ...listChanges('removed file', difference.files.removed),
          ...listChanges('changed file', difference.files.changed),
        ];
  return `${formatHead(review)}\n${lines.map((line) => `${escapeLine(line)}\n`).join('')}\n`;
}

function listChanges(label: string, lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${label}: ${line.trim()}`);
}

function formatOutcome({ id, state }: PluginReview, isAgreed: boolean): string {
  if (!isAgreed) {
    return state === 'changed'
      ? `Nothing was installed. The approved version of ${id} stays.\n`
      : 'Nothing was installed.\n';
  }
  switch (state) {
    case 'installed':
      return `${id} is installed with exactly these files.\n`;
    case 'changed':
      return `Updated ${id}.\n`;
    case 'new':
      return `Installed ${id}. Its agents and skills have names of the form ${id.split('@')[0] ?? id}:NAME.\n`;
  }
}
