import { MusterError } from '../../../../api/index.ts';
import { findFinding, type BoardFinding } from '../../../../protocol/board.ts';
import { boardLines, findingLines } from '../../../../report/board-lines.ts';
import { TASK_VALUES } from '../../completion-values.ts';
import { printJsonDocument, printLines, printProse } from './print.ts';
import { defineTasksCommand } from './with-tasks.ts';

/** `muster tasks board`: the findings of a task's tree, or the text of one. */
export const tasksBoardCommand = defineTasksCommand({
  words: 'tasks board',
  summary: 'the findings that the tasks of a tree share, or one of them',
  operands: [{ name: 'ID', completes: TASK_VALUES }, { name: '[FINDING]' }],
  flags: [],
  examples: ['muster tasks board 4f2k9x', 'muster tasks board 4f2k9x 81mq0z --json'],
  parse: ({ operands: [id = '', finding = null] }) => ({ id, finding }),
  run: async (tasks, { id, finding, json }) => {
    const board = await tasks.board(id);
    if (finding === null) {
      if (json) printJsonDocument(board.map(toJson));
      else if (board.length === 0) printLines('No task of this tree has posted a finding.');
      else printProse(...boardLines(board));
      return;
    }
    const found = findFinding(board, finding);
    if (found instanceof MusterError) throw found;
    if (json) printJsonDocument(toJson(found));
    else printProse(...findingLines(found));
  },
});

function toJson({ finding, title, text, author }: BoardFinding): object {
  const { task, agent, at } = author;
  return { id: finding, title, text, task_id: task, subagent_type: agent, posted: at };
}
