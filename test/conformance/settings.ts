import { readFileSync } from 'node:fs';

/** The real repository that the suite should run on, from environment variables. */
export interface Settings {
  owner: string;
  repo: string;
  apiUrl: string;
  token: string;
  app: { id: number; privateKey: string } | undefined;
  /** The repository's own name again, as a confirmation that the suite may write to it. */
  confirmed: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A file on the default branch which says that the suite may write to this repository. */
export const MARKER = '.countersign-conformance';

const REPOSITORY = 'COUNTERSIGN_CONFORMANCE_REPOSITORY';
const TOKEN = 'COUNTERSIGN_CONFORMANCE_TOKEN';
const CONFIRM = 'COUNTERSIGN_CONFORMANCE_CONFIRM';
const APP_ID = 'COUNTERSIGN_CONFORMANCE_APP_ID';
const PRIVATE_KEY = 'COUNTERSIGN_CONFORMANCE_PRIVATE_KEY';
const PRIVATE_KEY_PATH = 'COUNTERSIGN_CONFORMANCE_PRIVATE_KEY_PATH';

/**
 * What to run on besides the stand-in; `undefined` if no repository is named.
 * @throws Error with a sentence if something is missing or malformed.
 */
export function readSettings(environment: Environment): Settings | undefined {
  const name = environment[REPOSITORY];
  if (!name) return undefined;
  const [owner, repo, ...more] = name.split('/');
  if (!owner || !repo || more.length > 0)
    throw new Error(`${REPOSITORY} must be owner/name, but is "${name}".`);
  const token = environment[TOKEN];
  if (!token)
    throw new Error(`${TOKEN} is missing: a token that may write contents, pull requests and issues.`);
  return {
    owner,
    repo,
    token,
    apiUrl: (environment.GITHUB_API_URL ?? 'https://api.github.com').replace(/\/+$/, ''),
    app: appOf(environment),
    confirmed: environment[CONFIRM] === name,
  };
}

function appOf(environment: Environment): Settings['app'] {
  const id = environment[APP_ID];
  const path = environment[PRIVATE_KEY_PATH];
  const privateKey = path ? readFileSync(path, 'utf8') : environment[PRIVATE_KEY]?.replaceAll('\\n', '\n');
  if (!id && !privateKey) return undefined;
  if (!id || !/^\d+$/.test(id)) throw new Error(`${APP_ID} must be the number of the App.`);
  if (!privateKey) throw new Error(`${PRIVATE_KEY} or ${PRIVATE_KEY_PATH} is missing: the key of the App.`);
  return { id: Number(id), privateKey };
}

/** Why the suite does not write there; `undefined` if somebody confirmed it. */
export function refusal(
  { owner, repo, confirmed }: Pick<Settings, 'owner' | 'repo' | 'confirmed'>,
  hasMarker: boolean,
): string | undefined {
  if (confirmed || hasMarker) return undefined;
  return (
    `Nobody agreed that the suite may write to ${owner}/${repo}. ` +
    `Set ${CONFIRM}=${owner}/${repo}, or put a file ${MARKER} on its default branch.`
  );
}
