import { Tokenizer } from 'htmlparser2';
import { PageElement } from './html/element.ts';

/** Elements nested deeper than this are ignored, with their texts. */
const MAX_DEPTH = 64;

/** Parses XML without its declarations, comments and instructions. Names keep their prefixes, in lower case. */
export function parseXml(xml: string): PageElement {
  const root = new PageElement('');
  const open = [root];
  let ignored = 0;
  let name = '';
  let attributes: Map<string, string> | undefined;
  let attribute = '';
  let value = '';
  const addText = (text: string): void => {
    if (ignored === 0) open.at(-1)?.append(text);
  };
  const openTag = (isEmpty: boolean): void => {
    if (open.length >= MAX_DEPTH) {
      if (!isEmpty) ignored += 1;
      return;
    }
    const element = new PageElement(name, attributes);
    open.at(-1)?.append(element);
    if (!isEmpty) open.push(element);
  };
  const tokenizer = new Tokenizer(
    { xmlMode: true, decodeEntities: true },
    {
      ontext: (start, end) => addText(xml.slice(start, end)),
      ontextentity: (code) => addText(String.fromCodePoint(code)),
      oncdata: (start, end, offset) => addText(xml.slice(start, end - offset)),
      onopentagname: (start, end) => {
        name = xml.slice(start, end).toLowerCase();
        attributes = undefined;
      },
      onattribname: (start, end) => {
        attribute = xml.slice(start, end).toLowerCase();
        value = '';
      },
      onattribdata: (start, end) => {
        value += xml.slice(start, end);
      },
      onattribentity: (code) => {
        value += String.fromCodePoint(code);
      },
      onattribend: () => {
        attributes ??= new Map();
        // Elements of feeds have few attributes.
        if (attributes.size < 32) attributes.set(attribute, value);
      },
      onopentagend: () => openTag(false),
      onselfclosingtag: () => openTag(true),
      onclosetag: (start, end) => {
        if (ignored > 0) {
          ignored -= 1;
          return;
        }
        const closed = xml.slice(start, end).toLowerCase();
        const index = open.findLastIndex((element) => element.name === closed);
        if (index > 0) open.length = index;
      },
      oncomment: () => {},
      ondeclaration: () => {},
      onprocessinginstruction: () => {},
      onend: () => {},
    },
  );
  tokenizer.write(xml);
  tokenizer.end();
  return root;
}
