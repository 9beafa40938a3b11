import type { PermissionQuestion, ProposedEdit, Question } from '../protocol/question.ts';
import { describeServerQuestion } from './server-question.ts';

/**
 * Describes what a question is about, in full and line by line: the commands, paths, hosts and edits of a call, or the text. The
 * lines may hold any text, and must be made safe to print.
 */
export function describeQuestionContent(question: Question): readonly string[] {
  if (question.kind === 'permission') return callLines(question);
  return question.kind === 'server' ? describeServerQuestion(question) : [question.text];
}

function callLines(question: PermissionQuestion): readonly string[] {
  const { commands, paths, hosts, edits, input } = question;
  const texts = [...commands, ...paths, ...hosts, ...(input === null ? [] : [input])];
  return [...texts, ...edits.flatMap(editLines)];
}

function editLines({ before, after, everywhere }: ProposedEdit): readonly string[] {
  const added = marked('+', after);
  if (before === null) return added;
  const head = everywhere ? ['every occurrence:'] : [];
  return [...head, ...marked('-', before), ...added];
}

function marked(mark: string, text: string): string[] {
  return text.split('\n').map((line) => `${mark} ${line}`);
}
