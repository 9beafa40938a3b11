import { MusterError } from '../../base/errors.ts';
import { suggestNames } from '../../base/name-suggestions.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import { defineBuiltinTool } from '../shared/define-tool.ts';

export const currentTimeTool = defineBuiltinTool({
  name: 'CurrentTime',
  kind: 'meta',
  replay: 'pure',
  ownWords: true,
  description: 'The date, time and weekday now.',
  input: {
    type: 'object',
    properties: {
      timezone: { type: 'string', minLength: 1, description: 'IANA name; default: local' },
    },
    required: [],
  },
  aliases: { tz: 'timezone', zone: 'timezone' },
  describe: () => NO_ACCESS,
  async run({ timezone }, { clock }) {
    return { text: formatTime(clock.now(), timezone) };
  },
});

/**
 * Formats a time: `2026-11-22T12:26:45+02:00, Sunday, Europe/Kyiv, Unix time 1795343205`. Throws INVALID_PARAM for an
 * unknown zone.
 */
function formatTime(now: number, timezone: string | undefined): string {
  const format = createFormat(timezone);
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
  const date = `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
  const time = `${part('hour')}:${part('minute')}:${part('second')}`;
  // This part of the text is `GMT+02:00`, or only `GMT` if there is no offset.
  const offset = part('timeZoneName').replace('GMT', '') || '+00:00';
  const { timeZone } = format.resolvedOptions();
  const unix = Math.floor(now / 1000);
  return `${date}T${time}${offset}, ${part('weekday')}, ${timeZone}, Unix time ${unix}`;
}

function createFormat(timeZone: string | undefined): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      ...(timeZone === undefined ? {} : { timeZone }),
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      weekday: 'long',
      timeZoneName: 'longOffset',
    });
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    throw new MusterError('INVALID_PARAM', describeUnknownZone(timeZone ?? ''), { cause: thrown });
  }
}

function describeUnknownZone(timezone: string): string {
  const near = suggestNames(timezone, Intl.supportedValuesOf('timeZone'));
  const hint = near.length === 0 ? '' : `. Near it: ${near.join(', ')}`;
  return `timezone: ${JSON.stringify(timezone)} is not known; valid: an IANA name such as Europe/Berlin or UTC, or an offset such as +02:00${hint}`;
}

const MAX_SECONDS = 300;

export const sleepTool = defineBuiltinTool({
  name: 'Sleep',
  kind: 'meta',
  replay: 'pure',
  // Other calls may use the slot of this call while it waits.
  waits: true,
  ownWords: true,
  description: 'Wait. For a task or shell use TaskOutput instead.',
  input: {
    type: 'object',
    properties: { seconds: { type: 'number', minimum: 0, maximum: MAX_SECONDS } },
    required: ['seconds'],
  },
  aliases: { duration: 'seconds', secs: 'seconds', duration_seconds: 'seconds' },
  describe: () => NO_ACCESS,
  async run({ seconds }, context) {
    await context.sleep(seconds * 1000);
    return { text: `${seconds} s have passed.` };
  },
});
