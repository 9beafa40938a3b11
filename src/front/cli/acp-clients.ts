/** The configuration with which a client starts `muster acp`. */
interface AcpClient {
  /** The name of the client for people. */
  readonly title: string;
  /** The file that contains the text, for people. */
  readonly file: string;
  /** The language of the text, as Markdown names it. */
  readonly language: 'json' | 'lua' | 'elisp';
  readonly text: string;
}

const SERVER = { command: 'muster', args: ['acp'], env: {} };

/** The clients of the Agent Client Protocol whose configuration is known, by name. docs/acp.md shows the same lines. */
export const ACP_CLIENTS = {
  zed: {
    title: 'Zed',
    file: 'the settings of Zed (~/.config/zed/settings.json)',
    language: 'json',
    text: toJson({ agent_servers: { Muster: { type: 'custom', ...SERVER } } }),
  },
  jetbrains: {
    title: 'JetBrains AI Assistant',
    file: '~/.jetbrains/acp.json',
    language: 'json',
    text: toJson({ agent_servers: { Muster: SERVER } }),
  },
  vscode: {
    title: 'VS Code with the extension ACP Client (formulahendry.acp-client)',
    file: 'the settings of VS Code (settings.json)',
    language: 'json',
    text: toJson({ 'acp.agents': { Muster: SERVER } }),
  },
  codecompanion: {
    title: 'Neovim with codecompanion.nvim',
    file: 'the configuration of Neovim',
    language: 'lua',
    text: `require("codecompanion").setup({
  adapters = {
    acp = {
      muster = function()
        local helpers = require("codecompanion.adapters.acp.helpers")
        return {
          name = "muster",
          formatted_name = "Muster",
          type = "acp",
          roles = { llm = "assistant", user = "user" },
          opts = { vision = true },
          commands = { default = { "muster", "acp" } },
          defaults = { mcpServers = {}, timeout = 20000 },
          parameters = {
            protocolVersion = 1,
            clientCapabilities = { fs = { readTextFile = true, writeTextFile = true } },
            clientInfo = { name = "CodeCompanion.nvim", version = "1.0.0" },
          },
          handlers = {
            lifecycle = {
              setup = function() return true end,
              auth = function() return true end,
            },
            request = { build_messages = helpers.build_messages },
          },
        }
      end,
    },
  },
  interactions = { chat = { adapter = "muster" } },
})`,
  },
  avante: {
    title: 'Neovim with avante.nvim',
    file: 'the configuration of Neovim',
    language: 'lua',
    text: `require("avante").setup({
  provider = "muster",
  acp_providers = {
    muster = { command = "muster", args = { "acp" }, env = { NODE_NO_WARNINGS = "1" } },
  },
})`,
  },
  emacs: {
    title: 'Emacs with agent-shell',
    file: 'the init file of Emacs',
    language: 'elisp',
    text: `(with-eval-after-load 'agent-shell
  (add-to-list 'agent-shell-agent-configs
               (agent-shell-make-agent-config
                :identifier 'muster
                :mode-line-name "Muster"
                :buffer-name "Muster"
                :shell-prompt "Muster> "
                :shell-prompt-regexp "Muster> "
                :client-maker (lambda (buffer)
                                (acp-make-client :context-buffer buffer
                                                 :command "muster"
                                                 :command-params '("acp"))))))`,
  },
} as const satisfies Readonly<Record<string, AcpClient>>;

export type AcpClientName = keyof typeof ACP_CLIENTS;

/** The names of the clients, in the order of the page. */
export const ACP_CLIENT_NAMES: readonly AcpClientName[] =
  Object.keys(ACP_CLIENTS).filter(isAcpClientName);

/** Returns whether the configuration of a client with this name is known. */
export function isAcpClientName(name: string): name is AcpClientName {
  return Object.hasOwn(ACP_CLIENTS, name);
}

function toJson(value: object): string {
  return JSON.stringify(value, null, 2);
}
