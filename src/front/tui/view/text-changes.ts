import { isJsonObject, type JsonValue } from '../../../base/json.ts';
import { truncate } from '../../../base/text.ts';
import type { TextChange } from './block.ts';

/** Of one side of a change, in code points. */
const MOST = 2_000;

/** The changes of text that a call of Write, Edit or MultiEdit asks for; none for other calls. */
export function textChanges(tool: string, input: JsonValue): readonly TextChange[] {
  if (!isJsonObject(input)) return [];
  switch (tool) {
    case 'Write':
      return [change('', input['content'])];
    case 'Edit':
      return [change(input['old_string'], input['new_string'])];
    case 'MultiEdit': {
      const { edits } = input;
      if (!Array.isArray(edits)) return [];
      return edits.flatMap((edit: JsonValue) =>
        isJsonObject(edit) ? [change(edit['old_string'], edit['new_string'])] : [],
      );
    }
    default:
      return [];
  }
}

function change(before: JsonValue | undefined, after: JsonValue | undefined): TextChange {
  return { before: text(before), after: text(after) };
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? truncate(value, MOST) : '';
}
