import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk/unstable';
import { UsageError } from '../../base/errors.ts';
import { sanitizeLine } from '../../base/terminal-text.ts';
import { EFFORTS, modelName, type Effort } from '../../protocol/model.ts';
import { PERMISSION_MODES, type PermissionMode } from '../../protocol/permission.ts';
import type { AcpSession } from './acp-session.ts';

/** The names and descriptions of the permission modes for people. */
const MODE_TEXTS: Readonly<Record<PermissionMode, readonly [string, string]>> = {
  plan: ['Plan', 'Reads and plans; changes nothing'],
  default: ['Ask', 'Asks before it edits files or runs commands that do more than read'],
  acceptEdits: ['Accept edits', 'Edits files in the workspace without asking'],
  autonomous: ['Autonomous', 'Asks nothing; commands run in a sandbox'],
};

/** The value of an option that leaves the choice to the model or the configuration. */
const DEFAULT_VALUE = 'default';

/** Returns the permission modes, and the one in force. */
export function describeModes({ mode }: AcpSession): SessionModeState {
  return {
    currentModeId: mode,
    availableModes: PERMISSION_MODES.map((id) => {
      const [name, description] = MODE_TEXTS[id];
      return { id, name, description };
    }),
  };
}

/** Finds the mode with an id. Throws UsageError, which lists the modes. */
export function findMode(id: string): PermissionMode {
  const mode = PERMISSION_MODES.find((each) => each === id);
  if (mode !== undefined) return mode;
  throw new UsageError(`no mode ${JSON.stringify(id)}: choose ${PERMISSION_MODES.join(', ')}`);
}

/** Lists the options that the user can set in the client: the mode, the model, its effort and the main agent. */
export async function listConfigOptions(acp: AcpSession): Promise<SessionConfigOption[]> {
  const { session } = acp;
  const { availableModes, currentModeId } = describeModes(acp);
  const current = modelName(session.mainModel());
  const listed = await session.listModels({ isAsking: false });
  const known = listed.flatMap(({ provider, models }) =>
    models.map(({ id }) => modelName({ provider, id })),
  );
  const models = [...new Set([current, ...known])];
  const agents = session.agents.agents.filter(({ unusable }) => unusable === undefined);
  const agent = acp.agent ?? DEFAULT_VALUE;
  return [
    {
      type: 'select',
      id: 'mode',
      name: 'Mode',
      category: 'mode',
      currentValue: currentModeId,
      options: availableModes.map(({ id, name, description = null }) => {
        return { value: id, name, description };
      }),
    },
    {
      type: 'select',
      id: 'model',
      name: 'Model',
      category: 'model',
      currentValue: current,
      options: models.map((value) => ({ value, name: sanitizeLine(value) })),
    },
    {
      type: 'select',
      id: 'effort',
      name: 'Effort',
      category: 'thought_level',
      currentValue: session.mainEffort() ?? DEFAULT_VALUE,
      options: [DEFAULT_VALUE, ...EFFORTS].map((value) => ({ value, name: value })),
    },
    {
      type: 'select',
      id: 'agent',
      name: 'Agent',
      description: 'The main agent of a new conversation',
      category: '_agent',
      currentValue: agent,
      options: acp.hasBegun
        ? [{ value: agent, name: sanitizeLine(agent) }]
        : [
            { value: DEFAULT_VALUE, name: 'The main agent' },
            ...agents.map(({ name, description }) => ({
              value: name,
              name: sanitizeLine(name),
              description: sanitizeLine(description),
            })),
          ],
    },
  ];
}

/** Sets an option. Throws UsageError or MusterError for an unknown option or value, and has changed nothing then. */
export async function setConfigOption(acp: AcpSession, id: string, value: unknown): Promise<void> {
  if (typeof value !== 'string') throw new UsageError(`${id}: must be a text`);
  const { session } = acp;
  switch (id) {
    case 'mode':
      acp.setMode(findMode(value));
      return;
    case 'model':
      session.setModel(await session.findModel(value));
      return;
    case 'effort':
      session.setModel(modelName(session.mainModel()), readEffort(value));
      return;
    case 'agent':
      setAgent(acp, value);
      return;
    default:
      throw new UsageError(`no option ${JSON.stringify(id)}: set mode, model, effort or agent`);
  }
}

function readEffort(value: string): Effort | null {
  if (value === DEFAULT_VALUE) return null;
  const effort = EFFORTS.find((each) => each === value);
  if (effort !== undefined) return effort;
  throw new UsageError(
    `effort: must be ${DEFAULT_VALUE}, ${EFFORTS.join(', ')}, not ${JSON.stringify(value)}`,
  );
}

function setAgent(acp: AcpSession, value: string): void {
  if (value === (acp.agent ?? DEFAULT_VALUE)) return;
  if (acp.hasBegun)
    throw new UsageError('agent: the conversation has begun; choose the agent of a new one');
  const { agents } = acp.session.agents;
  const isKnown = agents.some(({ name }) => name === value);
  if (value !== DEFAULT_VALUE && !isKnown)
    throw new UsageError(`agent: there is no agent ${JSON.stringify(value)}`);
  acp.agent = value === DEFAULT_VALUE ? null : value;
}
