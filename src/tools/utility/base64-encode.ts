import { NO_ACCESS } from '../../protocol/permission.ts';
import { byteLength } from '../../base/text.ts';
import { defineTool } from '../shared/define-tool.ts';
import { failure } from '../shared/output.ts';

/** Four digits for three bytes. */
const GROWTH = 4 / 3;

export const base64EncodeTool = defineTool({
  name: 'Base64Encode',
  kind: 'read',
  replay: 'pure',
  ownWords: true,
  description: 'Text (as UTF-8) in Base64.',
  input: {
    type: 'object',
    properties: {
      text: { type: 'string' },
      url: { type: 'boolean', description: 'URL-safe, unpadded' },
    },
    required: ['text'],
  },
  aliases: { input: 'text', data: 'text', value: 'text', string: 'text', url_safe: 'url' },
  describe: () => NO_ACCESS,
  async run({ text, url = false }, { caps }) {
    const most = Math.floor(caps.resultBytes / GROWTH);
    const size = byteLength(text);
    if (size > most) {
      return failure('LIMIT_EXCEEDED', `text: has ${size} bytes, more than ${most}; use Bash`);
    }
    const encoded = Buffer.from(text, 'utf8').toString(url ? 'base64url' : 'base64');
    return { text: encoded === '' ? '[nothing: the text is empty]' : encoded };
  },
});
