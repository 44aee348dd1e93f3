import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvFile, setInEnvFile, unwritable } from './config/env-file.ts';
import { gitHubPages, namesAnApp, type SetupConfig } from './config.ts';
import { CountersignError, messageOf } from './core/errors.ts';
import { PACKAGE_ROOT } from './shipped.ts';
import { WEBHOOK_PATH } from './webhook/server.ts';
import {
  alreadyRegistered,
  cannotKeepSettings,
  cannotOfferSetup,
  noManifest,
  registerByHand,
} from './words/process.ts';

/**
 * Offers Probot's setup page, which registers the App on GitHub from `app.yml`, and writes its credentials to an env file,
 * once. Resolves with the page's address once it listens. For a process that does nothing else: Probot takes what it needs from
 * the process's folder and environment, so both are changed.
 * @throws CountersignError when the credentials could not be kept, are there already, or the page cannot listen.
 */
export async function offerSetup(
  config: SetupConfig,
  { file, onRegistered }: { file: string; onRegistered: () => void },
): Promise<string> {
  if (!existsSync(join(PACKAGE_ROOT, 'app.yml'))) {
    throw new CountersignError('setup.no_manifest', noManifest(PACKAGE_ROOT));
  }
  const refuseSecond = () => {
    if (namesAnApp(readEnvFile(file)))
      throw new CountersignError('setup.registered', alreadyRegistered(file));
  };
  const because = unwritable(file);
  if (because !== undefined)
    throw new CountersignError('setup.cannot_keep', cannotKeepSettings(file, because));
  refuseSecond();

  const github = gitHubForProbot(config.githubApiUrl);
  // The manifest is read from the process's folder.
  process.chdir(PACKAGE_ROOT);
  prepareEnvironment(config, github);
  // Loaded here and not above: an app that is registered never needs it, and would start later by it.
  const { run } = await import('probot');
  try {
    const server = await run(() => {}, {
      env: { HOST: config.host, PORT: String(config.port), LOG_LEVEL: 'error' },
      // Probot's own writes to the process's folder, readable by everybody, as often as it is asked to.
      updateEnv: (values) => {
        refuseSecond();
        setInEnvFile(file, values);
        onRegistered();
        return values;
      },
    });
    return `http://${config.host}:${server.port}`;
  } catch (error) {
    throw new CountersignError('http.cannot_listen', cannotOfferSetup(messageOf(error)));
  }
}

/**
 * An enterprise's own GitHub, `undefined` for github.com. Probot looks for an enterprise's API at `/api/v3` of the host that people
 * see; where it is elsewhere, the App would be made and its key never fetched.
 */
function gitHubForProbot(apiUrl: string): URL | undefined {
  if (apiUrl === 'https://api.github.com') return undefined;
  const pages = new URL(gitHubPages(apiUrl));
  if (apiUrl === `${pages.origin}/api/v3`) return pages;
  throw new CountersignError('setup.by_hand', registerByHand(pages.origin));
}

function prepareEnvironment({ publicUrl, port }: SetupConfig, enterprise: URL | undefined): void {
  const { env } = process;
  delete env.GHE_HOST;
  if (enterprise) {
    env.GHE_HOST = enterprise.host;
    env.GHE_PROTOCOL = enterprise.protocol.slice(0, -':'.length);
  }
  // Probot's channel for webhooks through a third party would be fetched at run time, and webhooks of a bot that merges have no
  // business with a relay.
  env.NO_SMEE_SETUP = 'true';
  // Without this variable, the manifest names the page's own address as the webhook's, without our path.
  env.WEBHOOK_PROXY_URL = `${publicUrl ?? `http://localhost:${port}`}${WEBHOOK_PATH}`;
  // In production Probot offers no setup; that there is no App to run is for our own configuration to say.
  env.NODE_ENV = 'development';
}
