import { collapseWhitespace } from '../../base/text.ts';
import { printError } from '../../sys/print.ts';
import type { Run } from '../../api/index.ts';
import { offeredRules, type Question } from '../../protocol/question.ts';
import { describeQuestionContent } from '../../report/question-content.ts';
import { canAcceptAsShown } from '../../report/server-question.ts';

/** Prints the questions that a run was parked for, and the commands that answer them, on stderr. */
export function printParkedQuestions(run: Run, dataDir: string | null): void {
  const lines = run.parkedOn().flatMap(({ question }) => questionLines(question, dataDir));
  for (const line of lines) printError(`${line}\n`);
}

const WANTS: Readonly<Record<Question['kind'], string>> = {
  input: 'asks',
  plan: 'asks to carry out this plan',
  permission: 'asks to run ',
  server: 'passes on a question of an MCP server',
};

/**
 * Writes a question for a person in full, with the commands that answer it. The lines may hold any text, and
 * must be made safe to print.
 *
 * @param dataDir the data directory, if it was given on the command line
 */
export function questionLines(question: Question, dataDir: string | null): readonly string[] {
  const { id, chain, tool } = question;
  const lines = describeQuestionContent(question);
  const about = question.description === undefined ? '' : ` (${question.description})`;
  const who = collapseWhitespace(`${chain.join(' > ')}${about}`);
  return [
    `${id}  ${who} ${WANTS[question.kind]}${question.kind === 'permission' ? tool : ''}:`,
    ...lines.flatMap((text) => text.split('\n')).map((line) => `  | ${line}`),
    ...answerCommands(question, dataDir).map((line) => `  ${line}`),
  ];
}

function answerCommands(question: Question, dataDir: string | null): readonly string[] {
  const location = dataDir === null ? '' : `--data-dir ${quoteForShell(dataDir)} `;
  const command = `muster tasks answer ${location}${question.id}`;
  if (question.kind === 'input') {
    const { options } = question;
    return [
      ...options.map((option, index) => `${index + 1}: ${collapseWhitespace(option)}`),
      `${command} ${options.length === 0 ? '"TEXT"' : `"TEXT"|1..${options.length}`}`,
    ];
  }
  if (question.kind === 'plan') {
    return [`${command} yes|no`, `${command} always   edits run unasked from then on`];
  }
  if (question.kind === 'server') return serverAnswerCommands(question, command);
  const { reason, scopes, offersEdits, modeToGrant, serverSays } = question;
  const rules = offeredRules(question);
  const commands = [
    collapseWhitespace(reason),
    ...(serverSays === undefined ? [] : [collapseWhitespace(serverSays)]),
    `${command} yes|no`,
  ];
  if (rules.length > 0) {
    const given = `${rules.length === 1 ? 'the rule' : 'the rules'} ${rules.join(', ')}`;
    commands.push(`${command} always${scopeFlag(scopes)}   gives ${given}`);
  }
  if (offersEdits === true) {
    commands.push(`${command} edits   allows it, and sets acceptEdits for the conversation`);
  }
  if (modeToGrant === undefined) return commands;
  const agent = collapseWhitespace(modeToGrant.agent);
  const grant = `${command} mode${scopeFlag(modeToGrant.scopes)}`;
  return [...commands, `${grant}   lets ${agent} run in its mode, ${modeToGrant.mode}`];
}

function serverAnswerCommands(
  question: Extract<Question, { kind: 'server' }>,
  command: string,
): readonly string[] {
  const { url, fields } = question;
  const words = canAcceptAsShown(question) ? 'yes|no|cancel' : 'no|cancel';
  if (url !== null || fields.length === 0) return [`${command} ${words}`];
  const [first] = fields;
  return [`${command} "${first?.name ?? ''}: VALUE; …"`, `${command} ${words}`];
}

function scopeFlag(scopes: readonly string[]): string {
  return scopes.length > 1 ? ` --scope ${scopes.join('|')}` : '';
}

function quoteForShell(text: string): string {
  return /^[\w/.-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
