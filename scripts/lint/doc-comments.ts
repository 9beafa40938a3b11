/**
 * A lint rule: no sentence of a doc comment starts with a word that makes the reader look for its subject, such as
 * "What" or "Whose". A doc comment says what the export is or does in a full sentence (docs/contributing.md).
 */

interface Comment {
  readonly type: string;
  readonly value: string;
  readonly range: readonly [number, number];
}

interface Context {
  readonly sourceCode: { getAllComments(): readonly Comment[] };
  report(problem: { readonly message: string; readonly node: Comment }): void;
}

const FORBIDDEN = /^(?:What|Of|Where|Whose|Whom|Null:|Absent:|Those|How|Whether nobody)\b/;

/** Splits the text of a doc comment into its sentences. */
function sentences(value: string): readonly string[] {
  const text = value.replaceAll(/^\s*\* ?/gm, '').trim();
  return text.split(/(?<=[.!?])\s+(?=[A-Z])/);
}

const docComments = {
  create: (context: Context) => ({
    Program() {
      for (const comment of context.sourceCode.getAllComments()) {
        if (comment.type !== 'Block' || !comment.value.startsWith('*')) continue;
        const wrong = sentences(comment.value.slice(1)).find((each) => FORBIDDEN.test(each));
        if (wrong === undefined) continue;
        const start = wrong.slice(0, 40).replaceAll('\n', ' ');
        context.report({
          message: `Start this sentence with a verb or a noun phrase: "${start}…"`,
          node: comment,
        });
      }
    },
  }),
};

export default { meta: { name: 'muster' }, rules: { 'doc-comments': docComments } };
