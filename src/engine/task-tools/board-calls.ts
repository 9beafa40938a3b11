import { MusterError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { formatAge, truncate } from '../../base/text.ts';
import {
  MAX_FINDING_TITLE,
  MAX_TASK_FINDINGS,
  MAX_TREE_FINDINGS,
  findFinding,
  selectOwnFindings,
  type BoardFinding,
} from '../../protocol/board.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { failure, fitLines } from '../../tools/shared/output.ts';
import type { TaskRun } from '../task/task-run.ts';
import { failedCall } from './argument-reader.ts';

/** The input of Board. */
export type BoardInput =
  | { readonly action: 'post'; readonly title: string; readonly text: string }
  /** `id`: the finding after which the list begins; null: it begins with the first finding. */
  | { readonly action: 'list'; readonly id: string | null }
  | { readonly action: 'read'; readonly id: string };

/** The maximum number of findings that one call lists. */
const MAX_LISTED = 100;
/** The maximum length, in code points, of an agent's name, and of a wrong id in a message. */
const MAX_NAME_LENGTH = 60;
/** The bytes reserved for the lines around a list. */
const NOTE_BYTES = 300;

/** Runs a call of Board. Nothing is awaited, so that two posts never get the same number. */
export function runBoardCall(caller: TaskRun, input: BoardInput, context: ToolContext): ToolOutput {
  switch (input.action) {
    case 'post':
      return postFinding(caller, input, context);
    case 'list':
      return listFindings(caller, input, context);
    case 'read':
      return readFinding(caller, input, context);
  }
}

function postFinding(
  { tree, journal, state }: TaskRun,
  { title, text }: Extract<BoardInput, { action: 'post' }>,
  { callId }: ToolContext,
): ToolOutput {
  const board = tree.board.list();
  const isSamePost = (each: BoardFinding) =>
    each.callId === callId && each.title === title && each.text === text;
  const earlier = state.findings.find(isSamePost);
  if (earlier !== undefined) return { text: describePost(earlier) };
  const own = selectOwnFindings(state.findings, state.spec.id).length;
  const full = describeFullBoard({ own, all: board.length });
  if (full !== null) return failure('LIMIT_EXCEEDED', `Board: ${full}`);
  const number = (board.at(-1)?.number ?? 0) + 1;
  journal.record({ type: 'finding.posted', finding: newId(), number, title, text, callId });
  const posted = state.findings.slice(-1);
  tree.board.add(posted);
  return { text: posted.map(describePost).join('') };
}

function describePost({ finding }: BoardFinding): string {
  return `Posted as ${finding}.`;
}

/** Says which limit keeps a task from posting; null if it may post. */
function describeFullBoard({ own, all }: { readonly own: number; readonly all: number }) {
  if (own >= MAX_TASK_FINDINGS) {
    return `the limit of ${MAX_TASK_FINDINGS} findings of one task is reached (${own} posted); put the rest into your answer`;
  }
  if (all >= MAX_TREE_FINDINGS) {
    return `the limit of ${MAX_TREE_FINDINGS} findings on the board of a task tree is reached (${all} posted); put the rest into your answer`;
  }
  return null;
}

function listFindings(
  { tree, spec }: TaskRun,
  { id }: Extract<BoardInput, { action: 'list' }>,
  { clock, caps }: ToolContext,
): ToolOutput {
  const board = tree.board.list();
  const after = id === null ? null : findFinding(board, id);
  if (after instanceof MusterError) return failedCall('Board', after);
  const start = after === null ? 0 : board.indexOf(after) + 1;
  if (start === board.length) {
    const text =
      after === null
        ? 'No agent of this task tree has posted a finding yet.'
        : `No finding is newer than ${after.finding}.`;
    return { text };
  }
  const page = board.slice(start, start + MAX_LISTED);
  const listed = page.map((each) => formatListed(each, { reader: spec.id, now: clock.now() }));
  const fitted = fitLines(listed, caps.resultBytes - NOTE_BYTES).lines;
  // A page has at least one line, so that reading page by page comes to an end.
  const lines = fitted.length === 0 ? listed.slice(0, 1) : fitted;
  const end = start + lines.length;
  const next = `Board(action: "list", id: "${board[end - 1]?.finding}")`;
  const rest = end === board.length ? 'Later ones' : `The next ${board.length - end}`;
  const head = `[Findings ${start + 1} to ${end} of ${board.length}, the oldest first. ${rest}: ${next}]`;
  return { text: [head, ...lines].join('\n'), hasOutsideText: true };
}

/** @param reader the id of the task that reads the list */
function formatListed(
  { finding, title, author }: BoardFinding,
  { reader, now }: { readonly reader: string; readonly now: number },
): string {
  const by = author.task === reader ? 'you' : nameAuthor(author);
  const shown = truncate(sanitizeLine(title), MAX_FINDING_TITLE);
  return `${finding} (${by}, ${formatAge(now - author.at)}): ${shown}`;
}

function nameAuthor({ agent, task }: BoardFinding['author']): string {
  return `${truncate(sanitizeLine(agent), MAX_NAME_LENGTH)}, task ${task}`;
}

function readFinding(
  { tree }: TaskRun,
  { id }: Extract<BoardInput, { action: 'read' }>,
  { clock }: ToolContext,
): ToolOutput {
  const found = findFinding(tree.board.list(), id);
  if (found instanceof MusterError) return failedCall('Board', found);
  const { title, text, author } = found;
  const head = `${sanitizeLine(title)} (${nameAuthor(author)}, ${formatAge(clock.now() - author.at)})`;
  return { text: `${head}\n\n${text}`, hasOutsideText: true };
}
