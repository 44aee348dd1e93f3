import { z } from 'zod';
import { apiOfPages } from '../../config/addresses.ts';
import type { AppManifest } from '../../config/app-manifest.ts';
import { webUrl, withoutTrailingSlash } from '../../config/fields.ts';
import { WEBHOOK_PATH } from '../../config/webhook-path.ts';
import { bounded } from '../../core/bounded-fetch.ts';
import { CountersignError, messageOf } from '../../core/errors.ts';
import { LOGIN_PATTERN } from '../../core/github-names.ts';
import { isLoopback } from '../../core/loopback.ts';
import { notConverted } from '../../messages/cli/process.ts';
import {
  ADDRESS_IS_HERE,
  SETUP_ERRORS,
  type SetupErrors,
  type SetupFields,
} from '../../messages/setup/setup.ts';

/** What somebody chose on the page, checked. */
export interface Choice extends SetupFields {
  /** Of GitHub's REST API. */
  apiUrl: string;
}

/** A slow GitHub is worth waiting for: it gives the credentials once. They are a few kilobytes. */
const CONVERSION = { timeoutMs: 20_000, maxBytes: 256 * 1_024 };

/**
 * The choice, or what is wrong with it.
 * @param given the API that the settings name, and its pages
 */
export function readChoice(
  fields: SetupFields,
  given: { apiUrl: string; pages: string },
): { ok: true; choice: Choice } | { ok: false; errors: SetupErrors } {
  const errors: SetupErrors = {};
  const github = addressIn(fields.github);
  const address = addressIn(fields.address);
  const apiUrl = github === given.pages ? given.apiUrl : github && apiOfPages(github);
  if (apiUrl === undefined) errors.github = SETUP_ERRORS.github;
  if (address === undefined) errors.address = SETUP_ERRORS.address;
  else if (isHere(address) && !(github !== undefined && isHere(github))) errors.address = ADDRESS_IS_HERE;
  if (fields.organisation !== '' && !LOGIN_PATTERN.test(fields.organisation))
    errors.organisation = SETUP_ERRORS.organisation;
  if (!/^[A-Za-z0-9][A-Za-z0-9 ._-]{0,33}$/.test(fields.name)) errors.name = SETUP_ERRORS.name;
  if (github === undefined || address === undefined || apiUrl === undefined || Object.keys(errors).length > 0)
    return { ok: false, errors };
  return { ok: true, choice: { ...fields, github, address, apiUrl } };
}

function isHere(address: string): boolean {
  return isLoopback(new URL(address).hostname);
}

function addressIn(text: string): string | undefined {
  const url = webUrl(text.trim());
  return typeof url === 'string' ? undefined : withoutTrailingSlash(url);
}

/**
 * The form that registers an App: where it is sent, and the manifest in it.
 * https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 * @param redirectUrl where GitHub sends the person back to
 */
export function registrationForm(
  { github, organisation, name, address }: Choice,
  { app, redirectUrl, state }: { app: AppManifest; redirectUrl: string; state: string },
): { action: string; manifest: string } {
  const owner = organisation === '' ? '' : `/organizations/${organisation}`;
  return {
    action: `${github}${owner}/settings/apps/new?${new URLSearchParams({ state })}`,
    manifest: JSON.stringify({
      ...app,
      name,
      hook_attributes: { url: `${address}${WEBHOOK_PATH}` },
      redirect_url: redirectUrl,
      callback_urls: [`${address}/sign-in/callback`],
    }),
  };
}

/** https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest */
const conversionSchema = z.object({
  id: z.int(),
  name: z.string(),
  html_url: z.url({ protocol: /^https?$/ }),
  pem: z.string(),
  webhook_secret: z.string(),
  client_id: z.string(),
  client_secret: z.string(),
});

export interface Registered {
  app: { name: string; url: string };
  /** The credentials, as variables of the env file. */
  values: Record<string, string>;
}

/**
 * Gets the credentials of the App that GitHub has just registered. GitHub gives them once.
 * @throws CountersignError if GitHub does not
 */
export async function convert({ apiUrl }: Choice, code: string): Promise<Registered> {
  try {
    const answer = await bounded(fetch, CONVERSION)(
      `${apiUrl}/app-manifests/${encodeURIComponent(code)}/conversions`,
      {
        method: 'POST',
        headers: { accept: 'application/vnd.github+json', 'user-agent': 'countersign' },
      },
    );
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    const { id, name, html_url: url, ...secrets } = await credentialsIn(answer);
    return {
      app: { name, url },
      values: {
        APP_ID: String(id),
        PRIVATE_KEY: `"${secrets.pem}"`,
        WEBHOOK_SECRET: secrets.webhook_secret,
        GITHUB_CLIENT_ID: secrets.client_id,
        GITHUB_CLIENT_SECRET: secrets.client_secret,
      },
    };
  } catch (error) {
    // `fetch` says only that it failed, and its cause says why.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new CountersignError('setup.not_converted', notConverted(messageOf(cause)));
  }
}

/** @throws Error that quotes nothing of the answer, because a part of it may be a secret */
async function credentialsIn(answer: Response): Promise<z.infer<typeof conversionSchema>> {
  const body: unknown = await answer.json().catch(() => undefined);
  const read = conversionSchema.safeParse(body);
  if (!read.success) throw new Error('its answer has no credentials');
  return read.data;
}
