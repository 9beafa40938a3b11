/** A part of an answer. */
export interface ProseBlock {
  readonly isCode: boolean;
  readonly text: string;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/** Splits an answer at its fenced blocks of code. A block that is not closed reaches to the end. */
export function splitCodeBlocks(text: string): readonly ProseBlock[] {
  const blocks: ProseBlock[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const finish = (isCode: boolean): void => {
    const joined = isCode ? lines.join('\n') : lines.join('\n').trim();
    if (joined !== '') blocks.push({ isCode, text: joined });
    lines = [];
  };
  for (const line of text.split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    if (fence === null && mark !== undefined) {
      finish(false);
      fence = mark;
    } else if (fence !== null && mark?.startsWith(fence) === true && line.trim() === mark) {
      finish(true);
      fence = null;
    } else {
      lines.push(line);
    }
  }
  finish(fence !== null);
  return blocks;
}
