import { describeAttachment } from '../../protocol/attachment.ts';
import type { ToolContext, ToolOutput } from '../../protocol/tool.ts';
import type { WebResponse } from '../../protocol/web.ts';
import { describeExcess, inspectAttachment } from '../attachments/inspect-file.ts';
import { failure } from '../shared/output.ts';

/** Attaches an image from the web for the model, if the model accepts it. */
export async function attachWebImage(
  { url, body, isCut }: WebResponse,
  { attach }: Pick<ToolContext, 'attach'>,
): Promise<ToolOutput> {
  const details = isCut ? 'it is larger than the size limit' : inspectAttachment(body);
  const attachment =
    typeof details === 'string'
      ? details
      : (describeExcess(details) ??
        (await attach?.add(details, body)) ??
        'images cannot be shown here');
  if (typeof attachment === 'string' || typeof details === 'string') {
    const reason = typeof attachment === 'string' ? attachment : '';
    return failure('INVALID_PARAM', `The image ${url.href} cannot be shown: ${reason}.`);
  }
  return { text: `[${url.href}: ${describeAttachment(details)}]`, attachments: [attachment] };
}
