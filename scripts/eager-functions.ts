import { parseSync, Visitor } from 'rolldown/utils';

/** Of one file: `start:end` of each function that a run has called, in characters. */
export type CalledFunctions = ReadonlySet<string>;

/**
 * The same program, whose called functions are compiled together with the file: the engine does that
 * with functions that begin with a parenthesis. All others it compiles at their first call, and the
 * compile cache holds only what was compiled with the file: some 900 functions would be compiled anew
 * at each start. https://v8.dev/blog/preparser#pife
 *
 * A declared function becomes a variable at the top of the file, where declarations are set, too. So it
 * is not there before its file has run: files must not import each other in a circle.
 */
export function compiledWithFile(code: string, called: CalledFunctions): string {
  const { program } = parseSync('chunk.js', code);
  const isCalled = ({ start, end }: Span): boolean => called.has(`${start}:${end}`);
  const parentheses: Insertion[] = [];
  new Visitor({
    ArrowFunctionExpression(node) {
      if (!isCalled(node)) return;
      parentheses.push({ at: node.start, text: '(' }, { at: node.end, text: ')' });
    },
  }).visit(program);
  parentheses.sort((a, b) => a.at - b.at);
  const text = (span: Span): string => withInsertions(code, span, parentheses);

  let declarations = '';
  let rest = '';
  let end = 0;
  for (const node of program.body) {
    if (node.type !== 'FunctionDeclaration' || node.id === null || !isCalled(node)) continue;
    const kind = `${node.async ? 'async ' : ''}function${node.generator ? '*' : ''}`;
    const body = text({ start: node.id.end, end: node.end });
    declarations += `var ${node.id.name}=(${kind}${body});`;
    rest += text({ start: end, end: node.start });
    end = node.end;
  }
  return declarations + rest + text({ start: end, end: code.length });
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Insertion {
  readonly at: number;
  readonly text: '(' | ')';
}

function withInsertions(code: string, { start, end }: Span, all: readonly Insertion[]): string {
  let text = '';
  let from = start;
  for (const insertion of all) {
    if (insertion.at < start || insertion.at > end) continue;
    text += code.slice(from, insertion.at) + insertion.text;
    from = insertion.at;
  }
  return text + code.slice(from, end);
}
