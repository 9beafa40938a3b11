import type { Environment } from '../env.ts';

/**
 * Variables that tell programs that nobody reads page by page, answers a prompt or wants to hear of a newer
 * version. A check for a newer version would wait for a network that a sandbox does not have: `npm init` took
 * minutes. Each name is in the documentation of its program, and none changes other behavior (as `CI=1` would).
 */
export const UNATTENDED: Environment = {
  // Pagers: the one that all ask for (`PAGER`) and git's own are in git-environment.ts.
  MANPAGER: 'cat', // man(1)
  SYSTEMD_PAGER: 'cat', // systemctl(1), journalctl(1): the same as --no-pager
  GH_PAGER: 'cat', // `gh help environment`
  AWS_PAGER: '', // AWS CLI user guide, "Setting the client-side pager": empty for none
  BAT_PAGER: 'cat', // bat README, "Using a different pager"
  DELTA_PAGER: 'cat', // delta manual, "Choice of pager"
  PSQL_PAGER: 'cat', // psql(1), "Environment"
  PERLDOC_PAGER: 'cat', // perldoc(1), "Environment"
  APT_LISTCHANGES_FRONTEND: 'none', // apt-listchanges(1)

  // Checks for a newer version.
  npm_config_update_notifier: 'false', // npm documentation, "update-notifier"; pnpm reads it, too
  NO_UPDATE_NOTIFIER: '1', // README of the package update-notifier, which many programs use
  GH_NO_UPDATE_NOTIFIER: '1', // `gh help environment`
  GH_NO_EXTENSION_UPDATE_NOTIFIER: '1', // the same
  PIP_DISABLE_PIP_VERSION_CHECK: '1', // pip documentation, "--disable-pip-version-check"
  RUBYGEMS_PREVENT_UPDATE_SUGGESTION: '1', // RubyGems, Gem::ConfigFile
  CONDA_NOTIFY_OUTDATED_CONDA: 'false', // conda documentation, "notify_outdated_conda"
  HOMEBREW_NO_AUTO_UPDATE: '1', // brew(1), "Environment"
  DENO_NO_UPDATE_CHECK: '1', // Deno manual, "Environment variables"
  DOTNET_CLI_WORKLOAD_UPDATE_NOTIFY_DISABLE: '1', // .NET documentation, "Environment variables"
  CHECKPOINT_DISABLE: '1', // Terraform and Packer documentation
  VAGRANT_CHECKPOINT_DISABLE: '1', // Vagrant documentation, "Environmental variables"
  PULUMI_SKIP_UPDATE_CHECK: 'true', // Pulumi documentation, "Environment variables"
  SENTRY_DISABLE_UPDATE_CHECK: '1', // sentry-cli documentation, "Updating"
  SKAFFOLD_UPDATE_CHECK: 'false', // Skaffold documentation, "--update-check"
  MINIKUBE_WANTUPDATENOTIFICATION: 'false', // minikube documentation, "Environment variables"
  CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK: 'true', // `gcloud topic configurations`

  // Prompts.
  DEBIAN_FRONTEND: 'noninteractive', // debconf(7)
  COREPACK_ENABLE_DOWNLOAD_PROMPT: '0', // Corepack README, "Environment variables"
  PIP_NO_INPUT: '1', // pip documentation, "--no-input"
  POETRY_NO_INTERACTION: '1', // Poetry documentation, "--no-interaction"
  COMPOSER_NO_INTERACTION: '1', // Composer documentation, "Environment variables"
  GH_PROMPT_DISABLED: '1', // `gh help environment`
  CLOUDSDK_CORE_DISABLE_PROMPTS: '1', // `gcloud topic configurations`
};
